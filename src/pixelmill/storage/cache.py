"""The cache: files that can be made again, shared by all processes of a user.

The folder is `PIXELMILL_CACHE`, else `$XDG_CACHE_HOME/pixelmill`, else `~/.cache/pixelmill`, on Windows
`%LOCALAPPDATA%\\pixelmill`. `PIXELMILL_CACHE=off`
turns the cache off; copies that cannot be done without then go to a temporary folder of the process. Either folder
belongs to the user alone: what another user could write there would be read as if it were the data.

One mechanism serves all files. A writer fills a temporary file with a name of its own in the same folder and renames
it, so readers find a whole file or none and need no lock. Files are removed only by a process that is alone: every
process that uses a folder holds a shared lock on `.in-use` in it until it ends, and one that can lock it exclusively on
its first use removes the temporary files of killed processes, and copies that a newer version has replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat as status
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pixelmill.errors import ArgumentError
from pixelmill.storage import system
from pixelmill.storage.local import open_regular

PARTIAL = ".partial"
_DIGEST_LETTERS = 32
IN_USE = ".in-use"
IN_USE_SOON = f"{IN_USE}.new"  # the same file until it is locked, in the temporary folders of jobs
_PRIVATE_PREFIX = "pixelmill-cache-"
_NAME_BYTES = 80  # of a copy's name; with digests and the name of a temporary file, it stays below the usual 255

_held: dict[Path, int] = {}
_private: dict[int, Path] = {}  # by process, since a forked one must not remove the folder of its parent


def cache_folder() -> Path | None:
    """Return the folder for caches, which may not exist yet, or None if the user turned them off or has no home."""
    chosen = os.environ.get("PIXELMILL_CACHE")
    if chosen is not None:
        return None if chosen in ("", "off", "0") else Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if system.WINDOWS else None)
    try:
        return (Path(base) if base else Path.home() / ".cache") / "pixelmill"
    except RuntimeError:  # no home
        return None


def used_folder(*, create: bool = True) -> Path | None:
    """Return the cache folder, held for this process; None if there is none.

    Args:
        create: Whether to create the folder if it is missing.

    Raises:
        ArgumentError: The folder belongs to another user, or others can write to it.
        OSError: `PIXELMILL_CACHE` names a folder that cannot be created.
    """
    folder = cache_folder()
    if folder is None or not (create or folder.exists()):
        return None
    try:
        return _use(folder)
    except OSError:
        if "PIXELMILL_CACHE" in os.environ:
            raise
        return None


def used_below(*names: str) -> Path | None:
    """Return a folder below the cache folder, held for this process like that; None if there is no cache folder."""
    base = used_folder()
    if base is None:
        return None
    for name in names:
        base = _use(base / name)
    return base


def remove_unused(folder: Path) -> bool:
    """Remove a folder of the cache with its content, unless a process holds it; return whether it is removed."""
    try:
        descriptor = system.open_lock(folder / IN_USE)
    except OSError:
        return False
    try:
        system.lock(descriptor, wait=False)
    except OSError:
        os.close(descriptor)
        return False
    system.remove_held(folder, descriptor)
    return True


def entry(kind: str, source: str, version: str, *, name: str = "") -> Path:
    """Return where a copy is kept, whether or not it exists.

    Args:
        kind: The kind of copy, a folder in the cache.
        source: What it is a copy of.
        version: Changes with the content of the source; older versions are removed in time.
        name: The end of its file name, for messages and for code that looks at endings.
    """
    base = used_folder()
    folder = _use((_private_folder() if base is None else base) / kind)
    end = os.fsdecode(os.fsencode(name.rsplit("/", 1)[-1])[-_NAME_BYTES:])
    return folder / "-".join((_digest(source, _DIGEST_LETTERS // 2), _digest(version, 8), *([end] if end else [])))


def holds(target: Path, *, size: int | None = None) -> bool:
    """Whether the cache holds a file: a regular one, not a link, and of the size if one is given."""
    try:
        found = target.lstat()
    except OSError:
        return False
    return status.S_ISREG(found.st_mode) and size in (None, found.st_size)


def read(target: Path, limit: int) -> bytes | None:
    """Read a file of the cache, or return None if there is none that can be trusted; links are not followed."""
    try:
        with open(open_regular(str(target), follow=False), "rb") as stream:  # noqa: PTH123 - a descriptor, not a path
            found = os.fstat(stream.fileno())
            return stream.read(found.st_size) if system.is_own(found) and found.st_size <= limit else None
    except OSError:
        return None


@dataclass
class NewFile:
    """A file on its way into the cache.

    Attributes:
        path: The temporary file; at the end, the file in the cache.
        is_private: Whether to keep the file for this process alone and remove it when the process ends.
    """

    path: Path
    is_private: bool = False


@contextlib.contextmanager
def publishing(target: Path, *, sync: bool = True) -> Iterator[NewFile]:
    """Yield an empty temporary file beside `target`; it becomes `target` at the end, or is removed after an error.

    Args:
        target: A file in a folder that `used_folder` returned, or what `entry` returned.
        sync: Whether the content must be on disk first; False for files that carry a checksum of their own.
    """
    new = NewFile(target.with_name(f"{target.name}.{os.urandom(8).hex()}{PARTIAL}"))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NO_LINKS | system.PRIVATE
    os.close(os.open(new.path, flags, 0o600))
    try:
        yield new
        if new.is_private:
            _at_exit(new.path.unlink, missing_ok=True)
            return
        if sync:
            system.sync_file(new.path)
        new.path = system.replace(new.path, target)
    except BaseException:
        new.path.unlink(missing_ok=True)
        raise


def _at_exit(call: Callable[..., object], *arguments: Path, **options: bool) -> None:
    """Call at the end of this process, not at that of a forked one; multiprocessing's workers do not run atexit."""
    from multiprocessing import util  # late: rarely needed, and large

    util.Finalize(None, call, args=arguments, kwargs=options, exitpriority=0)


def _digest(text: str, length: int) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=length).hexdigest()


def _use(folder: Path) -> Path:
    """Create a folder for this user alone, check it, and hold it until the process ends."""
    held = _held.get(folder)
    while held is None or os.fstat(held).st_nlink == 0:  # removed, by the user or as an abandoned one
        if held is not None and _held.pop(folder, None) is not None:
            os.close(held)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        _check_private(folder)
        held = _hold(folder)
        if _held.setdefault(folder, held) != held:  # another thread was first
            os.close(held)
            held = _held[folder]
    return folder


def _check_private(folder: Path) -> None:
    found = folder.stat()
    hint = "set PIXELMILL_CACHE to a folder of your own, or to off"
    if not status.S_ISDIR(found.st_mode):
        raise ArgumentError(f"the cache folder {folder} is not a folder; {hint}")
    if not system.is_own(found):
        raise ArgumentError(
            f"the cache folder {folder} belongs to user {found.st_uid}, and this process runs as user {os.geteuid()}: "
            f"what others put there is not to be trusted; {hint}"
        )
    if system.others_may_write(found):
        raise ArgumentError(
            f"the cache folder {folder} can be written to by other users: what they put there is not to be trusted; "
            f"empty it and run chmod 700 {folder}, or {hint}"
        )


def _hold(folder: Path) -> int:
    """Lock a folder against being cleaned, after cleaning it if no other process uses it."""
    descriptor = system.open_lock(folder / IN_USE)
    try:
        system.lock(descriptor, wait=False)
        _clean(folder)
    except OSError:  # in use; or a file system without locks, on which nothing is ever removed
        pass
    with contextlib.suppress(OSError):
        system.lock(descriptor, shared=True)  # waits at most until another process has cleaned up
    return descriptor


def _clean(folder: Path) -> None:
    """Remove the temporary files of processes that were killed, and all but the newest version of each copy."""
    versions: dict[str, list[tuple[int, Path]]] = {}
    for path in folder.iterdir():
        found = path.lstat()
        if not status.S_ISREG(found.st_mode) or path.name == IN_USE:
            continue
        source, dash, _ = path.name.partition("-")
        if path.name.endswith(PARTIAL):
            path.unlink(missing_ok=True)
        elif dash and len(source) == _DIGEST_LETTERS:  # made by `entry`
            versions.setdefault(source, []).append((found.st_mtime_ns, path))
    for copies in versions.values():
        for _, path in sorted(copies)[:-1]:
            path.unlink(missing_ok=True)


def _private_folder() -> Path:
    """Return a temporary folder of this process, removed when it ends."""
    owner = os.getpid()
    if owner not in _private:
        import shutil  # late, both: training and workers of jobs start without them
        import tempfile

        remove_abandoned(Path(tempfile.gettempdir()), _PRIVATE_PREFIX)
        while owner not in _private:
            folder = Path(tempfile.mkdtemp(prefix=_PRIVATE_PREFIX))  # 0700
            with contextlib.suppress(FileNotFoundError):  # taken for an abandoned one before it was held
                _private[owner] = _use(folder)
        _at_exit(shutil.rmtree, _private[owner], ignore_errors=True)
    return _private[owner]


def remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove the temporary folders of this user's processes that were killed: those that no process holds.

    Args:
        folder: The folder that they are in.
        prefix: The start of their names.
    """
    for path in folder.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            if not status.S_ISDIR(found.st_mode) or not system.is_own(found):
                continue
            descriptor = _open_abandoned(path)
            try:
                system.lock(descriptor, wait=False)
            except OSError:
                os.close(descriptor)
                continue
            system.remove_held(path, descriptor)


def _open_abandoned(folder: Path) -> int:
    """Open the file that is locked while a folder is used; remove an empty folder, whose process was killed at once."""
    for name in (IN_USE, IN_USE_SOON):
        with contextlib.suppress(FileNotFoundError):
            return system.open_lock(folder / name, create=False)
    if status.S_IMODE(folder.lstat().st_mode) == 0o700:  # made by mkdtemp, like ours
        folder.rmdir()
    raise FileNotFoundError(folder)
