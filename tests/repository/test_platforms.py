"""The scripts that build and measure for other platforms."""

import importlib.util
import runpy
import sys
from pathlib import Path
from types import ModuleType

import pytest
from peers import is_absent

ROOT = Path(__file__).parents[2]


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    path = next(
        ROOT / folder / f"{name}.py" for folder in ("scripts", "benchmarks") if (ROOT / folder / f"{name}.py").exists()
    )
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def test_a_python_of_another_release_makes_environments_with_its_own_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "usr/lib/python3.14/_sysconfigdata__linux.py"
    settings.parent.mkdir(parents=True)
    settings.write_text("build_time_vars = {'VERSION': '3.14',\n 'WHEEL_PKG_DIR': '/usr/share/python-wheels/'}\n")
    load("platforms_python", monkeypatch)._use_own_wheels(tmp_path)
    assert runpy.run_path(str(settings))["build_time_vars"] == {
        "VERSION": "3.14",
        "WHEEL_PKG_DIR": f"{tmp_path}/usr/share/python-wheels/",
    }


def test_the_program_of_another_release_is_changed_in_steps_and_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = tmp_path / "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    loader.parent.mkdir(parents=True)
    loader.touch()
    module = load("platforms_python", monkeypatch)
    runs: list[list[str]] = []
    monkeypatch.setattr(module.subprocess, "run", lambda command, **_: runs.append(command))
    module._use_own_library(tmp_path / "python", tmp_path, "patchelf")
    assert [sum(part.startswith("--set") for part in run) for run in runs] == [1, 1, 0]
    assert runs[1] == ["patchelf", "--set-interpreter", str(loader), str(tmp_path / "python")]
    assert runs[2] == [str(tmp_path / "python"), "--version"]


def test_instructions_are_summed_by_function(monkeypatch: pytest.MonkeyPatch) -> None:
    symbols = "0100 t pixelmill::first(int)\n0104 t $x\n0200 T second\n0300 D data\n"
    lines = ["1100 5", "1180 7", "1200 1", "12ff 2", "1010 4", "ffff00 8"]
    counts = load("arm_instructions", monkeypatch).by_function(lines, 0x1000, symbols)
    assert counts == {"pixelmill::first(int)": 12, "second": 3, "other libraries": 12}


def test_every_core_test_has_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    core = (ROOT / "scripts" / "core_tests.txt").read_text().split()
    names = {*core, *load("platforms", monkeypatch).ARM_TESTS}
    assert {name: len(list((ROOT / "tests").rglob(f"test_{name}.py"))) for name in names} == dict.fromkeys(names, 1)
    assert names == {*core}


def test_a_folder_of_tests_does_not_pass_for_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIXELMILL_PEERS", raising=False)
    monkeypatch.syspath_prepend(str(ROOT / "tests"))
    assert is_absent("repository.module") and is_absent("no_such_package")
    assert not is_absent("numpy.linalg")
