"""The machine and the software versions of a measurement."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

PACKAGES = ("pixelmill", "nvidia-dali-cuda120", "tensorflow-cpu", "torch", "pillow", "numpy")


class Machine(TypedDict):
    """The environment of a measurement, as it stands in reports."""

    date: str
    processor: str
    cores: int
    memory_gigabytes: float
    system: str
    load_before: float
    versions: dict[str, str | None]


def describe(packages: Sequence[str] = PACKAGES) -> Machine:
    """Return the machine and the versions."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": cores(),
        "memory_gigabytes": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "load_before": load(),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in packages}},
    }


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> float:
    """Return the load average of the last minute: 0 on an idle machine."""
    return round(os.getloadavg()[0], 2)


def _processor() -> str:
    known = Path("/proc/cpuinfo")
    for line in known.read_text().splitlines() if known.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
