"""Temporary folders that do not outlive a killed process for long: the next one removes them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pixelmill.storage import system
from pixelmill.storage.cache import IN_USE, remove_abandoned

PREFIX = "pixelmill-job-"


def held_folder() -> tuple[Path, int]:
    """Create a folder in the temporary folder of this machine, after removing those of killed processes.

    Returns:
        The folder, and a descriptor that must stay open until the folder is removed.
    """
    parent = Path(tempfile.gettempdir())
    remove_abandoned(parent, PREFIX)
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))  # 0700
    unlocked = path / f"{IN_USE}.new"  # it is locked before another process can take it for an abandoned one
    descriptor = os.open(unlocked, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.PRIVATE, 0o600)
    with suppress(OSError):  # a file system without locks, on which nothing is ever removed
        system.lock(descriptor, wait=False)
        if system.WINDOWS:  # an open file is not renamed: the folder without the file is left alone
            os.close(descriptor)
            descriptor = system.open_lock(path / IN_USE)
            system.lock(descriptor, wait=False)
        else:
            unlocked.rename(path / IN_USE)
    return path, descriptor


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield such a folder, and remove it afterwards."""
    path, descriptor = held_folder()
    try:
        yield path
    finally:
        system.remove_held(path, descriptor)
