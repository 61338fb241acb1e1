"""What differs between operating systems: locks, flags of open files, replacing and syncing files, owners, processes.

The other modules use these names and none of the system's own, so that they run on Windows too. Windows has no
folder to open or sync, no links that everybody may create, and no removing or replacing of a file that is open.
"""

from __future__ import annotations

import os
import stat as status
import sys
import threading
import time
from pathlib import Path
from typing import Any

WINDOWS = sys.platform == "win32"
# Flags for `os.open`, 0 where there is no such flag.
PRIVATE = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0) | getattr(os, "O_BINARY", 0)
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
# For `subprocess.Popen`: Ctrl-C reaches this process alone.
OWN_GROUP: dict[str, Any] = {"creationflags": 0x200} if WINDOWS else {"process_group": 0}
_REPLACE_SECONDS = 5.0  # a virus scanner or an indexer has a new file open for less

if sys.platform == "win32":
    from pixelmill.storage.windows_files import boot, lock, lock_byte, native_file, unlock, unlock_byte
else:
    import fcntl

    def lock(descriptor: int, *, shared: bool = False, wait: bool = True) -> None:
        """Lock an open file until it is closed, in place of a lock that this descriptor has.

        Args:
            descriptor: The file.
            shared: Whether others may hold shared locks at the same time.
            wait: Whether to wait for others.

        Raises:
            BlockingIOError: Another process holds it.
            OSError: The file system has no locks.
        """
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)

    def unlock(descriptor: int) -> None:
        """Unlock an open file, also for children that inherited the descriptor."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def lock_byte(descriptor: int, at: int) -> None:
        """Lock one byte of a file, which need not exist; raises OSError if another process holds it."""
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)

    def unlock_byte(descriptor: int, at: int) -> None:
        """Unlock one byte of a file."""
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, at)

    def native_file(descriptor: int) -> int:
        """Return what the core knows an open file by."""
        return descriptor

    def boot() -> str:
        """Return what identifies this machine, or this run of its kernel; empty if that is unknown."""
        try:
            return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        except OSError:
            return ""


def open_lock(path: str | Path, *, create: bool = True) -> int:
    """Open a file that is there to be locked; links are not followed."""
    refuse_link(path)
    return os.open(path, os.O_RDWR | (os.O_CREAT if create else 0) | PRIVATE | NO_LINKS, 0o600)


def refuse_link(path: str | Path) -> None:
    """Raise OSError for a link, where opening without following links is not possible."""
    if not NO_LINKS and os.path.islink(path):  # noqa: PTH114 - paths are text here
        raise OSError(f"{path} is a link")


if hasattr(os, "pread"):
    read_at = os.pread
else:
    _seeking = threading.Lock()

    def read_at(descriptor: int, length: int, offset: int, /) -> bytes:
        """Read a range of an open file; threads may share the file if all of them read like this."""
        with _seeking:
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.read(descriptor, length)


def replace(source: Path, target: Path) -> Path:
    """Rename a file, in place of one that may exist. On Windows, wait while another process has either open."""
    if not WINDOWS:
        return source.replace(target)
    deadline = time.monotonic() + _REPLACE_SECONDS
    pause = 0.001
    while True:
        try:
            return source.replace(target)
        except PermissionError:
            if time.monotonic() > deadline:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 0.1)


def sync_file(path: str | Path) -> None:
    """Wait until the content of a file is on the disk; links are not followed."""
    refuse_link(path)
    mode = os.O_RDWR if WINDOWS else os.O_RDONLY  # Windows syncs only files that are open for writing
    descriptor = os.open(path, mode | PRIVATE | NO_LINKS | NO_WAIT)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_folder(folder: Path) -> int:
    """Open a folder; not on Windows."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | PRIVATE)


def open_for_lock(folder: Path) -> int:
    """Open a folder in order to lock it. On Windows this is a file of that folder's own in the temporary folder."""
    if not WINDOWS:
        return open_folder(folder)
    import hashlib
    import tempfile

    name = hashlib.blake2b(os.path.realpath(folder).casefold().encode("utf-8", "surrogatepass"), digest_size=16)
    return open_lock(Path(tempfile.gettempdir()) / f"pixelmill-lock-{name.hexdigest()}")


def is_own(found: os.stat_result) -> bool:
    """Whether a file belongs to this user. Windows does not say; its folders for users keep other users out."""
    return WINDOWS or found.st_uid == os.geteuid()


def others_may_write(found: os.stat_result) -> bool:
    """Whether other users may write to a folder; always False on Windows, where modes do not tell."""
    return not WINDOWS and bool(status.S_IMODE(found.st_mode) & 0o022)


def remove_held(folder: Path, descriptor: int) -> None:
    """Remove a folder with its content and close a file in it that is locked."""
    import shutil  # late, like the other large modules here: reading files needs none of them

    shutil.rmtree(folder, ignore_errors=True)
    os.close(descriptor)
    if WINDOWS:  # the open file has stayed
        shutil.rmtree(folder, ignore_errors=True)


def with_slashes(path: str) -> str:
    """Return a path of this machine with `/` between its parts, which Windows takes too."""
    return path.replace("\\", "/") if WINDOWS else path


def host() -> str:
    """Return the name of this machine."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    return os.environ.get("COMPUTERNAME", "")  # `platform` would start a shell to find out


def machine() -> str:
    """Return the kind of processor, such as `x86_64` or `aarch64`."""
    if hasattr(os, "uname"):
        return os.uname().machine
    found = os.environ.get("PROCESSOR_ARCHITECTURE", "")
    return {"AMD64": "x86_64", "ARM64": "aarch64"}.get(found, found)
