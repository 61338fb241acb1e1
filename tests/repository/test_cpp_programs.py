"""Programs in C++ that no other test builds follow the core: fuzzers and programs of benchmarks."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
PROGRAMS = sorted(path for folder in ("fuzz", "benchmarks") for path in (ROOT / folder).glob("*.cpp"))


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_programs_compile(path: Path) -> None:
    assert COMPILER is not None
    command = [COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_there_are_programs() -> None:
    assert {"pack_target.cpp", "object_server.cpp"} <= {path.name for path in PROGRAMS}
