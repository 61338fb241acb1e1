"""Build pixelmill with other compilers, Pythons and dependencies, for another processor too, and test every build.

    make platforms                                  # all cases
    make platforms ARGS="clang-14 oldest"           # some
    make platforms ARGS=--list

A case builds the package into an environment of its own in build/platforms, with no peer installed, runs the tests of
scripts/core_tests.txt and compares the hashes of tests/golden/results.txt on every SIMD level. `bare` runs all tests,
and `oldest` does beside some peers. What ran is printed and written to build/platforms/results.json; a case whose
compiler or Python is not here is named and does not run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import platforms_arm
from platforms_python import NotHereError, interpreter_of

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "build" / "platforms"
RESULTS = HOME / "results.json"
TEST_TOOLS = ("pytest>=9.0", "hypothesis")
TOOLS = (*TEST_TOOLS, "pytest-xdist>=3.7", "scikit-build-core>=0.10", "nanobind>=3.1", "ninja")
COMPILERS = (14, 16, 18, 19)
LEVELS = ("best", "base")
PYTHONS = ("3.12", "3.13", "3.14", "3.13t")
# Peers that live beside the oldest dependencies; pyarrow from 22 on, which datasets 5.1 asks for, and newer releases of
# OpenCV may ask for NumPy 2. Without a lower bound of datasets pip takes one that does not know pyarrow 21.
OLDEST_PEERS = (
    *("opencv-python-headless<4.12", "pyarrow<22", "pandas", "fsspec", "obstore", "s3fs", "aiohttp", "webdataset"),
    *("lmdb", "numba", "jsonschema", "pycocotools", "albumentations==2.0.8", "datasets>=3,<5.1"),
)
# Core tests that need no second process, which qemu cannot start, and take minutes there.
ARM_TESTS = (
    *("arithmetic", "npy", "png", "batch", "boxes", "color", "codecs_writing", "decode", "encoders", "jpeg_decoder"),
    *("jpeg_encoder", "random", "reductions", "resize_dali", "filters", "simd_levels"),
)


@dataclass(frozen=True)
class Outcome:
    """What one case has shown."""

    tests: str
    hashes: list[str]


def main() -> None:
    """Run the cases that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="names of cases; all if none is given")
    parser.add_argument("--list", action="store_true", help="print the names of all cases")
    options = parser.parse_args()
    known = cases()
    unknown = sorted(set(options.cases) - known.keys())
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are {', '.join(known)}")
    if options.list:
        print("\n".join(known))
        return
    HOME.mkdir(parents=True, exist_ok=True)
    failed = [name for name in options.cases or known if not _report(name, known[name])]
    if failed:
        sys.exit(f"platforms.py: {', '.join(failed)} failed")


def cases() -> dict[str, Callable[[], Outcome]]:
    """Return every case by name."""
    found: dict[str, Callable[[], Outcome]] = {"here": _here, "bare": lambda: _whole_suite("bare")}
    for version in COMPILERS:
        found[f"clang-{version}"] = lambda v=version: _clang(v)  # type: ignore[misc]
    for name in PYTHONS:
        found[f"python-{name}"] = lambda n=name: _python(n)  # type: ignore[misc]
    return found | {"oldest": _oldest, "aarch64": _aarch64}


def _report(name: str, case: Callable[[], Outcome]) -> bool:
    print(f"{name}: ", end="", flush=True)
    try:
        outcome = case()
    except NotHereError as missing:
        print(f"did not run: {missing}")
        return True
    except subprocess.CalledProcessError as error:
        output = (error.stdout or b"")[-4000:].decode(errors="replace")
        print(f"FAILED: {' '.join(map(str, error.cmd))}\n{output}")
        return False
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(known | {name: asdict(outcome)}, indent=1) + "\n")
    print(f"{outcome.tests}; hashes: {', '.join(outcome.hashes)}")
    return True


def _here() -> Outcome:
    return _checked("here", _environment("here", sys.executable, requirements()))


def _clang(version: int) -> Outcome:
    compiler = shutil.which(f"clang++-{version}")
    if compiler is None:
        raise NotHereError(f"apt install clang-{version}")
    python = _environment(f"clang-{version}", sys.executable, requirements())
    return _checked(f"clang-{version}", python, environment={"CXX": compiler})


def _python(name: str) -> Outcome:
    interpreter, environment = interpreter_of(name, HOME)
    python = _environment(f"python-{name}", interpreter, requirements())
    return _checked(f"python-{name}", python, environment=environment)


def _oldest() -> Outcome:
    python = _environment("oldest", sys.executable, [*requirements(oldest=True), *OLDEST_PEERS])
    return _checked("oldest", python, tests=["tests"])


def _whole_suite(name: str) -> Outcome:
    python = _environment(name, sys.executable, requirements())
    return _checked(name, python, tests=["tests"])


def _aarch64() -> Outcome:
    run = platforms_arm.prepare(ROOT, HOME / "aarch64", [*requirements(), *TEST_TOOLS])
    hashes = [_hashes(run, level) for level in LEVELS]
    return Outcome(_tests(run, _files_of(ARM_TESTS)), hashes)


def requirements(*, oldest: bool = False) -> list[str]:
    """Return what pyproject.toml asks for at run time; `oldest` pins the lower bounds."""
    lines: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    return [_oldest_of(line) for line in lines] if oldest else lines


def _oldest_of(requirement: str) -> str:
    """Return `numpy==1.26.0` for `numpy>=1.26`."""
    name, _, bound = requirement.partition(">=")
    return f"{name}=={'.'.join([*bound.split('.'), '0', '0'][:3])}"


def _environment(name: str, interpreter: str, packages: list[str]) -> Path:
    """Make a new environment with the packages and the test tools; return its Python."""
    home = HOME / name
    shutil.rmtree(home, ignore_errors=True)
    _run(interpreter, "-m", "venv", str(home))
    python = home / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if name.endswith("t"):  # PyYAML has no wheel for 3.13t; its sources work without Cython, which does not know 3.13t
        _run(*install, "setuptools")
        _run(*install, "--no-deps", "--no-build-isolation", "pyyaml")
    _run(*install, "--only-binary", ":all:", *packages, *TOOLS)
    return python


def _checked(
    name: str, python: Path, *, tests: list[str] | None = None, environment: dict[str, str] | None = None
) -> Outcome:
    """Build into the environment, run the tests, compare the hashes."""
    build = ROOT / "build" / f"platforms-{name}"
    shutil.rmtree(build, ignore_errors=True)
    install = (
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        str(ROOT),
        f"-Cbuild-dir={build}",
    )
    _run(str(python), *install, environment=environment)
    _run(str(python), "-W", "error", "-c", "import pixelmill", cwd=HOME)
    workers = ("-n", str(min(4, os.cpu_count() or 1)), "--dist", "loadfile")
    outcome = _tests([str(python)], [*workers, *(tests or _core_tests())])
    return Outcome(outcome, [_hashes([str(python)], level) for level in LEVELS])


def _core_tests() -> list[str]:
    return _files_of((ROOT / "scripts" / "core_tests.txt").read_text().split())


def _files_of(names: Iterable[str]) -> list[str]:
    return [str(path) for name in names for path in (ROOT / "tests").rglob(f"test_{name}.py")]


def _tests(run: list[str], tests: list[str]) -> str:
    output = _run(*run, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", *tests)
    return re.sub(r" in .*", "", output.strip().rpartition("\n")[2].strip("= "))


def _hashes(run: list[str], level: str) -> str:
    check = (str(ROOT / "scripts" / "golden_runs.py"), "--check", str(ROOT / "tests" / "golden" / "results.txt"))
    return _run(*run, *check, environment={"PIXELMILL_SIMD": level}).strip().rpartition("\n")[2]


def _run(*command: str, cwd: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        check=True,
        cwd=cwd,
        env=os.environ | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout.decode(errors="replace")


if __name__ == "__main__":
    main()
