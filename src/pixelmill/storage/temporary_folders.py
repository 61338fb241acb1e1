"""Temporary folders that do not outlive a killed process for long: the next one removes them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pixelmill.storage import system
from pixelmill.storage.cache import IN_USE, IN_USE_SOON, remove_abandoned

PREFIX = "pixelmill-job-"


def held_folder() -> tuple[Path, int]:
    """Create a folder in the temporary folder of this machine, after removing those of killed processes.

    Returns:
        The folder, and a descriptor that must stay open until the folder is removed.
    """
    parent = Path(tempfile.gettempdir())
    remove_abandoned(parent, PREFIX)
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))  # 0700
        with suppress(FileNotFoundError, BlockingIOError):  # taken for an abandoned one before it was held
            return path, _hold(path)


def _hold(path: Path) -> int:
    descriptor = os.open(path / IN_USE_SOON, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.PRIVATE, 0o600)
    try:
        system.lock(descriptor, wait=False)
        if not system.WINDOWS:
            (path / IN_USE_SOON).rename(path / IN_USE)
            return descriptor
    except (FileNotFoundError, BlockingIOError):
        os.close(descriptor)
        raise
    except OSError:  # a file system without locks, on which nothing is ever removed
        return descriptor
    os.close(descriptor)  # an open file is not renamed: the folder without the file is left alone
    descriptor = system.open_lock(path / IN_USE)
    with suppress(OSError):
        system.lock(descriptor, wait=False)
    return descriptor


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield such a folder, and remove it afterwards."""
    path, descriptor = held_folder()
    try:
        yield path
    finally:
        system.remove_held(path, descriptor)
