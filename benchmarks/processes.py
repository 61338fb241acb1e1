"""What processes cost, read from /proc: the sums over a process group, so that worker processes count."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def _stats(group: int) -> Iterator[tuple[Path, list[str]]]:
    """Give folder and fields (from the state on) of each process of a group."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended meanwhile
                continue
            if int(fields[2]) == group:
                yield folder, fields


def cpu_seconds(group: int) -> float:
    """Give the processor time that the processes of a group have used."""
    return sum(int(fields[11]) + int(fields[12]) for _, fields in _stats(group)) / _TICKS


def peak_memory(group: int) -> int:
    """Give the sum of the peaks of resident memory, in bytes. Pages that processes share count for each."""
    total = 0
    for folder, _ in _stats(group):
        try:
            lines = (folder / "status").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    return total
