"""Jobs that are killed, or meet a full disk, at every place. `make kills` runs the same with larger numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from locations import SUPPORT

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: hundreds of synced files are slow on a disk."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name) / "faults"


def faults(folder: Path, mode: str, *arguments: str) -> dict[str, Any]:
    script = SUPPORT / "job_faults.py"
    result = subprocess.run(
        [sys.executable, str(script), mode, str(folder), *arguments], capture_output=True, text=True, timeout=280
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_killed_before_and_after_every_call(folder: Path) -> None:
    result = faults(folder, "points")
    assert result["cases"] == 2 * sum(result["calls"].values()) > 200


def test_killed_at_random_moments(folder: Path) -> None:
    result = faults(folder, "moments", "20", "1")
    assert result["ended_before_the_kill"] < 20


def test_killed_at_random_moments_with_workers(folder: Path) -> None:
    faults(folder, "moments", "3", "2")


def test_every_call_may_meet_a_full_disk(folder: Path) -> None:
    assert faults(folder, "errors", "full")["cases"] > 40


def test_disk_full(folder: Path) -> None:
    # Without the right to mount, a limit on the size of files stands in for the small disk.
    mode = "full" if os.geteuid() == 0 and can_mount(folder.parent) else "limit"
    faults(folder, mode, "6")


def test_file_too_large(folder: Path) -> None:
    faults(folder, "limit", "6")


def can_mount(folder: Path) -> bool:
    place = folder / "mount"
    place.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return False
    subprocess.run(["umount", place], check=True)
    return True
