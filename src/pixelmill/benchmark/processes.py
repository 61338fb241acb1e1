"""What processes cost, read from /proc: the sums over a process group, so that worker processes count.

Where there is no /proc, this process alone is counted.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_HAS_PROC = hasattr(os, "sysconf") and (_PROC / "self" / "stat").exists()
_TICKS = os.sysconf("SC_CLK_TCK") if _HAS_PROC else 1


def _stats(group: int) -> Iterator[tuple[Path, list[str]]]:
    """Yield folder and fields (from the state on) of each process of a group."""
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended meanwhile
                continue
            if int(fields[2]) == group:
                yield folder, fields


def cpu_seconds(group: int) -> float:
    """Return the processor time that the processes of a group have used."""
    if not _HAS_PROC:
        return time.process_time()
    return sum(int(fields[11]) + int(fields[12]) for _, fields in _stats(group)) / _TICKS


def peak_memory(group: int) -> int:
    """Return the sum of the peaks of resident memory, in bytes. Shared pages count for each process."""
    if not _HAS_PROC:
        return _own_peak()
    total = 0
    for folder, _ in _stats(group):
        try:
            lines = (folder / "status").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    return total


def _own_peak() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
