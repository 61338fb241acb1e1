"""Writing files so that they are complete, and survive a power loss; errors name the file and the bytes."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pixelmill.amounts import size_text
from pixelmill.errors import OutputError
from pixelmill.storage import system
from pixelmill.storage.local import open_binary

FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)


@contextmanager
def explained(path: str, *, written: int = 0, more: int = 0) -> Iterator[None]:
    """Turn errors of the operating system into OutputError with the file and the bytes."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        failure = OutputError(_explanation(error, path, written, more))
        failure.errno = error.errno
        raise failure from error


@contextmanager
def space_explained(where: Callable[[], str]) -> Iterator[None]:
    """Do the same for errors about disk space only, for code that also reads files."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        if error.errno not in FULL:
            raise
        with explained(where()):
            raise


def _explanation(error: OSError, path: str, written: int, more: int) -> str:
    what = error.strerror or str(error)
    sizes = f" after {size_text(written)}, {size_text(more)} more to write" if more else ""
    full = error.errno in FULL
    hint = "; finished shards are kept: free some space, then continue with exists=resume" if full else ""
    return f"cannot write {path}: {what}{sizes}{hint}"


def move_across(path: Path, target: Path) -> None:
    """Copy a file to another file system, and rename it when it is complete."""
    temporary = target.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
    try:
        with open_binary(path) as source, temporary.open("xb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
            copy.flush()
            os.fsync(copy.fileno())
        system.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    path.unlink()


def make_folders(folder: Path) -> None:
    """Create a folder and its parents, each durably entered in its own parent."""
    if folder.is_dir():
        return
    make_folders(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def write_file(path: Path, data: bytes) -> None:
    """Write a new file and wait until it is on the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.PRIVATE, 0o666)
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes | bytearray | memoryview) -> None:
    """Write all bytes, even if the system accepts only part of them at a time."""
    view = memoryview(data)
    while len(view):
        view = view[os.write(descriptor, view) :]


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if system.WINDOWS:  # it has no such call; renaming is logged by its file system
        return
    descriptor = system.open_folder(folder)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot sync folders, and do not need to.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)
