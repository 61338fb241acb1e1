"""What is found out about GPUs and DALI, with a driver made here in place of NVIDIA's."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from command_runner import CliRunner
from locations import ROOT

from pixelmill.cli import main
from pixelmill.engine import devices
from pixelmill.engine.devices import Dali, Driver, Gpu
from pixelmill.errors import EngineError, MissingDependency

# Behaves as libcuda does: shows what CUDA_VISIBLE_DEVICES leaves, and no device at all is an error of cuInit.
DRIVER = r"""
#include <stdlib.h>
#include <string.h>
static const char *names[] = {"NVIDIA H100", "Tesla V100", "GeForce GTX 680"};
static const int majors[] = {9, 7, 3};
static int shown[3], count, ready;
int cuDriverGetVersion(int *version) { *version = atoi(getenv("FAKE_CUDA")); return 0; }
int cuInit(unsigned flags) {
    const char *fail = getenv("FAKE_FAIL"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (fail) { if (!strcmp(fail, "crash")) abort(); return atoi(fail); }
    if (!visible) visible = "0,1,2";
    for (; *visible; ++visible)
        if (*visible >= '0' && *visible <= '2') shown[count++] = *visible - '0';
        else if (*visible == '-') break;
    ready = 1;
    return count ? 0 : 100;
}
int cuDeviceGetCount(int *out) { *out = count; return ready ? 0 : 3; }
int cuDeviceGet(int *device, int number) { *device = 10 + number; return number < count ? 0 : 101; }
int cuDeviceGetName(char *name, int length, int device) {
    strncpy(name, names[shown[device - 10]], length); return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 80ull << 30; return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) {
    *value = which == 75 ? majors[shown[device - 10]] : which == 76 ? 0 : -1; return 0;
}
"""

H100, V100, GTX680 = (
    Gpu(number, name, 80 << 30, (major, 0))
    for number, (name, major) in enumerate([("NVIDIA H100", 9), ("Tesla V100", 7), ("GeForce GTX 680", 3)])
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Compile the driver."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "driver.c").write_text(DRIVER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libcuda.so", folder / "driver.c"], check=True, timeout=60)
    return str(folder / "libcuda.so")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Forget what was asked before, and what the machine has set."""
    devices._query_driver.cache_clear()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("FAKE_CUDA", "12040")
    yield
    devices._query_driver.cache_clear()


def here(monkeypatch, driver, dali):
    """Pretend that this is what the machine has."""
    monkeypatch.setattr(devices, "find_driver", lambda: driver)
    monkeypatch.setattr(devices, "find_dali", lambda: dali)
    monkeypatch.setattr(devices, "_machine", lambda: "x86_64")


def test_the_driver_is_asked_for_its_gpus(library):
    assert devices.find_driver(library) == Driver((H100, V100, GTX680), (12, 4), None)


@pytest.mark.parametrize(("visible", "names"), [("1", ["Tesla V100"]), ("2,0", ["GeForce GTX 680", "NVIDIA H100"])])
def test_visible_devices_are_numbered_as_cuda_does(library, monkeypatch, visible, names):
    devices.find_driver(library)  # an answer for another value must not be given
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    gpus = devices.find_driver(library).gpus
    assert [(gpu.number, gpu.name) for gpu in gpus] == list(enumerate(names))


@pytest.mark.parametrize("visible", ["", "-1"])
def test_hidden_gpus_are_explained(library, monkeypatch, visible):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    driver = devices.find_driver(library)
    assert driver == Driver((), (12, 4), None)
    here(monkeypatch, driver, Dali("nvidia-dali-cuda120", "2.4.0"))
    assert "CUDA_VISIBLE_DEVICES" in str(devices.why_no_gpu())


@pytest.mark.parametrize(("fail", "said"), [("999", "cuInit failed with CUDA error 999"), ("crash", "status -6")])
def test_a_driver_that_fails_or_crashes_ends_nothing_else(library, monkeypatch, fail, said):
    monkeypatch.setenv("FAKE_FAIL", fail)
    assert said in (devices.find_driver(library).fault or "")


def test_what_is_no_driver_is_told_apart(tmp_path):
    assert devices.find_driver(str(tmp_path / "libcuda.so.1")) == Driver()
    fault = devices.find_driver("libm.so.6").fault
    assert fault is not None and "not a CUDA driver" in fault


def test_the_driver_is_asked_outside_of_this_process(library):
    """A process in which CUDA was begun can fork no more."""
    devices.find_driver(library)
    assert library not in Path("/proc/self/maps").read_text()


TROUBLES = {
    "there is no NVIDIA driver": (Driver(), "2.4.0", "install an NVIDIA driver"),
    "the NVIDIA driver reports no GPU": (Driver((), (12, 4)), "2.4.0", "nvidia-smi"),
    "supports CUDA 11.8, but DALI needs 12.0": (Driver((H100,), (11, 8)), "2.4.0", "525.60"),
    "GTX 680 has compute capability 3.0, but DALI needs 5.0": (Driver((GTX680,), (12, 4)), "2.4.0", "newer GPU"),
    "DALI is not installed": (Driver((H100,), (12, 4)), None, "pip install 'pixelmill[gpu]'"),
    "DALI 1.49.0 is too old, the oldest supported version is 1.50": (Driver((H100,), (12, 4)), "1.49.0", "--upgrade"),
    "could not be queried (it hangs)": (Driver(fault="it hangs"), "2.4.0", "nvidia-smi"),
}


@pytest.mark.parametrize("reason", TROUBLES)
def test_the_reason_and_the_next_step_are_named(monkeypatch, reason):
    driver, version, step = TROUBLES[reason]
    here(monkeypatch, driver, Dali("nvidia-dali-cuda120" if version else None, version))
    trouble = devices.why_no_gpu()
    assert trouble is not None and reason in trouble.reason and step in trouble.next_step
    assert devices.usable_gpus() == ()
    with pytest.raises(EngineError, match=r"try: no NVIDIA GPU can be used.*--mode cpu"):
        devices.require_gpus("try", instead="--mode cpu works")


def test_usable_gpus_are_those_that_dali_knows(monkeypatch):
    driver = Driver((H100, V100, GTX680), (13, 0))
    here(monkeypatch, driver, Dali("nvidia-dali-cuda120", "1.50.0"))
    assert devices.why_no_gpu() is None
    assert devices.require_gpus("try", instead="") == (H100, V100)
    here(monkeypatch, driver, Dali("nvidia-dali-cuda130", "2.4.0"))
    assert devices.usable_gpus() == (H100,)
    here(monkeypatch, Driver((V100,), (13, 0)), Dali("nvidia-dali-cuda130", "2.4.0"))
    assert "nvidia-dali-cuda120" in str(devices.why_no_gpu())
    here(monkeypatch, Driver((H100,), (12, 9)), Dali("nvidia-dali-cuda130", "2.4.0"))
    assert "580" in str(devices.why_no_gpu())


def test_an_arm_server_needs_a_newer_gpu(monkeypatch):
    pascal = Gpu(0, "Tesla P100", 16 << 30, (6, 0))
    here(monkeypatch, Driver((pascal,), (12, 4)), Dali("nvidia-dali-cuda120", "2.4.0"))
    assert devices.usable_gpus() == (pascal,)
    monkeypatch.setattr(devices, "_machine", lambda: "aarch64")
    assert devices.usable_gpus() == () and "7.0" in str(devices.why_no_gpu())


def test_a_missing_and_an_old_dali_are_refused(monkeypatch):
    here(monkeypatch, Driver(), Dali())
    assert not devices.usable_dali()
    with pytest.raises(MissingDependency, match=r"pixelmill\[gpu\]"):
        devices.require_dali("Pipeline")
    here(monkeypatch, Driver(), Dali("nvidia-dali-cuda120", "1.9.1"))
    with pytest.raises(EngineError, match=r"Pipeline: DALI 1.9.1 is too old"):
        devices.require_dali("Pipeline")
    for version in ("1.50.0", "2.4.0", "2.5.0"):
        here(monkeypatch, Driver(), Dali("nvidia-dali-cuda120", version))
        devices.require_dali("Pipeline")
    assert "newer than 2.4" in devices.engines()[1].reason


def test_dali_is_found_without_importing_it():
    code = (
        "import sys; from pixelmill.engine import devices; found = devices.find_dali()\n"
        "loaded = {'nvidia.dali', 'torch'} & set(sys.modules)\n"
        "print(found.distribution, found.version, devices._version_in_source(), sorted(loaded))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    import nvidia.dali

    version = nvidia.dali.__version__
    assert run.stdout.split(maxsplit=3) == [devices.find_dali().distribution, version, version, "[]\n"]


def test_the_extra_installs_what_the_hint_promises():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert devices.INSTALL == "pip install 'pixelmill[gpu]'"
    assert extras["gpu"] == [f"nvidia-dali-cuda120>={'.'.join(map(str, devices.OLDEST))}"]


def test_the_command_shows_engines_reasons_and_gpus(monkeypatch):
    here(monkeypatch, Driver((H100, V100), (12, 4)), Dali("nvidia-dali-cuda120", "2.4.0"))
    shown = CliRunner().invoke(main, ["engines"])
    assert shown.exit_code == 0
    assert "GPU 1: Tesla V100, 80.0 GiB, compute capability 7.0" in shown.output and "no " not in shown.output
    here(monkeypatch, Driver(), Dali())
    shown = CliRunner().invoke(main, ["engines", "--json"])
    found = {engine["name"]: engine for engine in json.loads(shown.output)}
    assert [engine["usable"] for engine in found.values()] == [True, False, False]
    assert found["dali cpu"]["next_step"] == "pip install 'pixelmill[gpu]'"
    assert "driver" in found["dali gpu"]["reason"] and found["dali gpu"]["gpus"] == []
    table = CliRunner().invoke(main, ["engines"]).output
    assert table.count("no ") >= 2 and "pixelmill[gpu]" in table.replace("\n", "")


def test_the_page_about_gpus_repeats_what_is_checked():
    page = (ROOT / "docs" / "gpu.md").read_text()
    assert f"DALI {devices._dotted(devices.OLDEST)} to {devices._dotted(devices.NEWEST)}" in page
    for name, build in devices.BUILDS.items():
        cells = (
            f"{devices._dotted(build.cuda)} or newer | {build.driver} or newer | {devices._dotted(build.capability)}"
        )
        assert f"| nvidia-dali-{name} | {cells} or newer" in page


def test_make_has_a_target_for_machines_with_a_gpu():
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True).stdout
    assert "make gpu-test" in shown
    planned = ["make", "--dry-run", "gpu-test", "ARGS=decode"]
    steps = subprocess.run(planned, cwd=ROOT, capture_output=True, text=True, timeout=30, check=True).stdout
    assert "tests/gpu/gpu_test.py decode" in steps
