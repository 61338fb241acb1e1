"""Where and with what a measurement was made."""

from __future__ import annotations

import compileall
import importlib.metadata
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("pixelmill", "nvidia-dali-cuda120", "tensorflow-cpu", "torch", "pillow", "numpy")


def facts() -> dict[str, Any]:
    """Describe machine, versions, commit, and the program that measures."""
    return {
        "program": Path(sys.argv[0]).name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gigabytes": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "load_before": load(),
        "versions": _versions(),
        "commit": _commit(),
    }


def load() -> float:
    """Give the number of runnable processes of the last minute: 0 on a machine that does nothing else."""
    return round(os.getloadavg()[0], 2)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return versions


def _commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True).stdout.strip()

    commit = git("rev-parse", "--short=12", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "native", "CMakeLists.txt")
    return f"{commit or 'unknown'}{' with changes' if changed else ''}"


def compile_modules() -> None:
    """Write the bytecode of pixelmill, as pip does when it installs; else every worker would compile all modules."""
    import pixelmill

    compileall.compile_dir(str(Path(pixelmill.__file__).parent), quiet=1)
