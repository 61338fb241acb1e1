"""The environment of a measurement: machine, versions, and the commit of this repository."""

from __future__ import annotations

import compileall
import subprocess
import sys
from pathlib import Path
from typing import Any

from pixelmill.benchmark import environment
from pixelmill.benchmark.environment import load as load

ROOT = Path(__file__).resolve().parents[1]


def describe() -> dict[str, Any]:
    """Return machine, versions, commit and the name of the program."""
    return {"program": Path(sys.argv[0]).name, **environment.describe(), "commit": _commit()}


def _commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True).stdout.strip()

    commit = git("rev-parse", "--short=12", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "native", "CMakeLists.txt")
    return f"{commit or 'unknown'}{' with changes' if changed else ''}"


def compile_modules() -> None:
    """Write the bytecode of pixelmill, as pip does at installation, so that workers need not compile it."""
    import pixelmill

    compileall.compile_dir(str(Path(pixelmill.__file__).parent), quiet=1)
