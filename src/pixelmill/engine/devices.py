"""What can work here, and why not: NVIDIA GPUs, their driver, and DALI. Nothing heavy is imported to find out.

`usable_gpus()` gives the GPUs that DALI can use in this process, as they are numbered here; it is empty where there is
none. `usable_dali()` tells whether DALI's CPU operators can be used. `why_no_gpu()` and `why_no_dali()` give the reason
and what to do about it; `require_gpus()` and `require_dali()` raise them. `engines()` describes all engines.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pixelmill.errors import EngineError, MissingDependency

OLDEST, NEWEST = (1, 50), (2, 4)  # versions of DALI that are tested
INSTALL = "pip install 'pixelmill[gpu]'"
_FAMILIES = ("nvidia-dali", "nvidia-dali-weekly", "nvidia-dali-nightly")
_PROBE = Path(__file__).with_name("cuda_probe.py")
_PROBE_SECONDS = 60  # waking up many GPUs without a persistence daemon takes some


@dataclass(frozen=True)
class Build:
    """What a build of DALI asks of the machine.

    Attributes:
        cuda: The version of CUDA that the driver must serve at least.
        driver: The first driver that does.
        capability: The least compute capability of a GPU.
        capability_arm: The same on ARM servers.
    """

    cuda: tuple[int, int]
    driver: str
    capability: tuple[int, int]
    capability_arm: tuple[int, int]


# From DALI's pages on installation and supported hardware, and what CUDA 13 has dropped.
BUILDS = {
    "cuda120": Build((12, 0), "525.60", (5, 0), (7, 0)),
    "cuda130": Build((13, 0), "580", (7, 5), (7, 5)),
}


@dataclass(frozen=True)
class Gpu:
    """A GPU that this process sees.

    Attributes:
        number: What CUDA calls it in this process, where CUDA_VISIBLE_DEVICES counts already.
        name: What NVIDIA calls it.
        memory: Its bytes.
        capability: Its compute capability.
    """

    number: int
    name: str
    memory: int
    capability: tuple[int, int]


@dataclass(frozen=True)
class Driver:
    """The CUDA driver of this machine.

    Attributes:
        gpus: All GPUs that it shows to this process.
        cuda: The newest version of CUDA that it serves; None where there is no driver.
        fault: What it said when it was asked; None where all is well.
    """

    gpus: tuple[Gpu, ...] = ()
    cuda: tuple[int, int] | None = None
    fault: str | None = None


@dataclass(frozen=True)
class Dali:
    """The DALI that is installed.

    Attributes:
        distribution: The package; None where there is none, or where its name is not known.
        version: Its version; None where it is not installed.
    """

    distribution: str | None = None
    version: str | None = None

    @property
    def build(self) -> Build:
        """What it asks of the machine."""
        return BUILDS.get((self.distribution or "").rpartition("-")[2], BUILDS["cuda120"])


@dataclass(frozen=True)
class Trouble:
    """Why something cannot be used, and what to do next."""

    reason: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.next_step}"


@dataclass(frozen=True)
class Engine:
    """An engine and whether it can be used here.

    Attributes:
        name: `native`, or `dali` with the place it works in.
        usable: Whether it can be used.
        reason: Why not; a remark where it can.
        next_step: What to do so that it can be used.
        gpus: The GPUs it uses.
    """

    name: str
    usable: bool
    reason: str = ""
    next_step: str = ""
    gpus: tuple[Gpu, ...] = ()


def engines() -> tuple[Engine, ...]:
    """Describe all engines of this process: the native one, DALI on the CPU, and DALI on GPUs."""
    found = find_dali()
    no_dali, no_gpu = why_no_dali(), why_no_gpu()
    native = Engine("native", True, f"{_machine()}, {os.cpu_count()} processors")
    return native, _described("dali cpu", no_dali, found), _described("dali gpu", no_gpu, found, usable_gpus())


def _described(name: str, trouble: Trouble | None, dali: Dali, gpus: tuple[Gpu, ...] = ()) -> Engine:
    if trouble is not None:
        return Engine(name, False, trouble.reason, trouble.next_step)
    return Engine(name, True, _remark(dali), gpus=gpus)


def _remark(dali: Dali) -> str:
    text = f"{dali.distribution or 'nvidia.dali'} {dali.version}"
    newer = _numbers(dali.version or "") > NEWEST
    return f"{text}, newer than {_dotted(NEWEST)}, the newest that was tested" if newer else text


def usable_gpus() -> tuple[Gpu, ...]:
    """Give the GPUs that DALI can use in this process; none where DALI or the driver cannot be used."""
    if why_no_dali() is not None or _driver_trouble(find_driver(), find_dali()) is not None:
        return ()
    least = _least_capability(find_dali().build)
    return tuple(gpu for gpu in find_driver().gpus if gpu.capability >= least)


def usable_dali() -> bool:
    """Tell whether DALI is installed in a version that can be used; it works on the CPU then, with or without a GPU."""
    return why_no_dali() is None


def shown_alone(gpu: Gpu) -> str:
    """Give the value of CUDA_VISIBLE_DEVICES that shows a process this GPU of ours and no other."""
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    return str(gpu.number) if shown is None else shown.split(",")[gpu.number].strip()


def require_gpus(what: str, *, instead: str) -> tuple[Gpu, ...]:
    """Give the usable GPUs, or raise an EngineError that names what is missing and what can be done instead.

    Args:
        what: Who asks, for the message.
        instead: What works without a GPU, such as ``--mode cpu gives the same pictures``.
    """
    trouble = why_no_gpu()
    if trouble is not None:
        raise EngineError(f"{what}: no NVIDIA GPU can be used: {trouble}. {instead}")
    return usable_gpus()


def require_dali(what: str) -> None:
    """Raise MissingDependency where DALI is not installed, and EngineError where its version cannot be used."""
    trouble = why_no_dali()
    if trouble is None:
        return
    if find_dali().version is None:
        raise MissingDependency("nvidia.dali", "gpu")
    raise EngineError(f"{what}: {trouble}")


def why_no_dali() -> Trouble | None:
    """Say why DALI cannot be used, even on the CPU; None where it can."""
    found = find_dali()
    if found.version is None:
        return Trouble("DALI is not installed", INSTALL)
    if _numbers(found.version) < OLDEST:
        reason = f"DALI {found.version} is too old, {_dotted(OLDEST)} is the oldest that is supported"
        return Trouble(reason, f"{INSTALL} --upgrade")
    return None


def why_no_gpu() -> Trouble | None:
    """Say why DALI cannot use a GPU here, the driver first; None where it can."""
    dali = find_dali()
    return _driver_trouble(find_driver(), dali) or why_no_dali()


def _driver_trouble(driver: Driver, dali: Dali) -> Trouble | None:
    if driver.fault is not None:
        return Trouble(f"the NVIDIA driver cannot be asked ({driver.fault})", "see what nvidia-smi says")
    if driver.cuda is None:
        then = f", then {INSTALL}" if dali.version is None else ""
        return Trouble("there is no NVIDIA driver (libcuda.so.1)", f"install an NVIDIA driver{then}")
    if not driver.gpus:
        return _hidden() or Trouble("the NVIDIA driver shows no GPU", "see what nvidia-smi says")
    build = dali.build
    if driver.cuda < build.cuda:
        reason = f"the NVIDIA driver serves CUDA {_dotted(driver.cuda)}, and DALI needs {_dotted(build.cuda)}"
        return Trouble(reason, f"install driver {build.driver} or newer")
    least = _least_capability(build)
    if all(gpu.capability < least for gpu in driver.gpus):
        best = max(driver.gpus, key=lambda gpu: gpu.capability)
        reason = f"{best.name} has compute capability {_dotted(best.capability)}, and DALI needs {_dotted(least)}"
        older = build is BUILDS["cuda130"] and best.capability >= BUILDS["cuda120"].capability
        return Trouble(reason, "use nvidia-dali-cuda120" if older else "use a newer GPU")
    return None


def _hidden() -> Trouble | None:
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    if shown is None:
        return None
    return Trouble(f"CUDA_VISIBLE_DEVICES={shown!r} hides all GPUs", "unset it or name a GPU")


def _machine() -> str:
    return os.uname().machine


def _least_capability(build: Build) -> tuple[int, int]:
    return build.capability_arm if _machine() == "aarch64" else build.capability


@lru_cache(1)
def find_dali() -> Dali:
    """Find DALI by what pip has written down about it, without importing it."""
    from importlib import metadata  # brings much along

    for family in _FAMILIES:
        for build in reversed(BUILDS):
            name = f"{family}-{build}"
            try:
                return Dali(name, metadata.version(name))
            except metadata.PackageNotFoundError:
                continue
    return Dali(None, _version_in_its_file())


def _version_in_its_file() -> str | None:
    """Find a DALI that was not installed by pip, and the version in its own file."""
    import importlib.util

    try:
        spec = importlib.util.find_spec("nvidia.dali")
    except ModuleNotFoundError:  # there is no package `nvidia` at all
        return None
    if spec is None or spec.origin is None:
        return None
    match = re.search(r"^__version__ = ['\"]([\d.]+)", Path(spec.origin).read_text("utf-8", "replace"), re.MULTILINE)
    return match[1] if match else None


def find_driver(library: str = "libcuda.so.1") -> Driver:
    """Ask the CUDA driver for its GPUs, in a process of its own; once for each value of CUDA_VISIBLE_DEVICES."""
    return _asked(library, os.environ.get("CUDA_VISIBLE_DEVICES"))


@lru_cache(16)
def _asked(library: str, visible: str | None) -> Driver:
    import subprocess

    del visible  # the process inherits it; here it only keeps answers apart
    command = [sys.executable, "-I", "-S", str(_PROBE), library]
    try:
        run = subprocess.run(
            command, capture_output=True, timeout=_PROBE_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
        answer = json.loads(run.stdout) if run.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return Driver(fault=str(error))
    if answer is None:
        return Driver(fault=f"the process that asked it ended with status {run.returncode}")
    if answer["fault"] == "no driver":
        return Driver()
    gpus = tuple(Gpu(**{**gpu, "capability": tuple(gpu["capability"])}) for gpu in answer["gpus"])
    return Driver(gpus, None if answer["cuda"] is None else tuple(answer["cuda"]), answer["fault"])


def _numbers(version: str) -> tuple[int, int]:
    major, minor, *_ = *(int(number) for number in re.findall(r"\d+", version)), 0, 0
    return major, minor


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
