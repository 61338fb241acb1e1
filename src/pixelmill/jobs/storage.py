"""Where a job writes: a folder of this machine, or a prefix of an object store (`remote_storage.py`)."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Protocol, TypeVar

from pixelmill.errors import ArgumentError, OutputError
from pixelmill.jobs.disk import explained, make_folders, move_across, sync_folder, write_file
from pixelmill.storage import system
from pixelmill.storage.files import MAX_FILE_BYTES
from pixelmill.storage.local import open_binary, open_regular, read_file

Item = TypeVar("Item")
Result = TypeVar("Result")
# A file that has been written: on this machine, or pieces in memory on their way to a store.
Finished = Path | list[memoryview]
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")


class Storage(Protocol):
    """A tree of files below one root. Names are relative, with `/` between folders."""

    root: str
    is_remote: bool  # whether each call waits for a store

    def read(self, name: str) -> bytes | None:
        """Return the content of a small file, or None if it does not exist."""

    def write(self, name: str, data: bytes) -> None:
        """Write a small file atomically."""

    def create(self, name: str, data: bytes) -> bool:
        """Write a small file atomically unless it exists; return whether it was written."""

    def size(self, name: str) -> int | None:
        """Return the size of a file, or None if it does not exist."""

    def sizes(self, names: Sequence[str]) -> dict[str, int | None]:
        """Return what `size` returns for many files; a store lists their folders instead of looking at each."""

    def sha256(self, name: str) -> str | None:
        """Return the hash of a file in hexadecimal, or None if it does not exist."""

    def stamp(self, name: str) -> str | None:
        """Return a value that changes with every `touch`, or None if the file does not exist."""

    def touch(self, name: str, data: bytes) -> None:
        """Signal that the owner of a file with this content is alive."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files and folders in a folder."""

    def remove(self, name: str) -> None:
        """Remove a file if it exists, and then the parent folders that become empty."""

    def remove_tree(self, folder: str) -> None:
        """Remove a folder and everything in it."""

    def removal(self, folder: str) -> Callable[[], None]:
        """Return what removes a folder and everything that is in it now, or even when it is called."""

    def adopt(self, files: Mapping[str, Finished]) -> None:
        """Move finished files to their final names, in this order or together."""

    def abort_uploads(self, names: Collection[str] | None) -> None:
        """Remove what killed processes have left of the files with these names; None for all."""

    def sync(self, names: Iterable[str]) -> None:
        """Make the names of these files, or that they are gone, survive a power loss."""

    def scratch(self, folder: str) -> Path:
        """Create a folder on this machine for files that are being written."""

    def each(self, call: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Call a function that uses this tree for each item; calls that wait for a store wait together."""

    def where(self, name: str) -> str:
        """Return the full name, for messages."""

    def hold(self, name: str) -> Callable[[], None] | None:
        """Hold a file until the returned function is called or this process ends; None if that is not possible."""

    def is_held(self, name: str) -> bool | None:
        """Whether a process of this machine holds a file; None if that cannot be found out."""

    def at_one_moment(self, folder: str) -> AbstractContextManager[None]:
        """Look at the tree as it is when the block begins, as far as names in its root and in a folder go.

        A store is listed once.
        """

    def alone(self, folder: str) -> AbstractContextManager[None]:
        """Lock a folder against other processes of this machine; it is created if missing."""


def open_storage(root: str | os.PathLike[str]) -> Storage:
    """Open the tree below a path or a URL such as ``s3://bucket/prefix``."""
    text = os.path.expanduser(os.fspath(root))  # noqa: PTH111 - addresses stay as they are
    if not _URL.match(text):
        return LocalStorage(text)
    from pixelmill.jobs.remote_storage import RemoteStorage

    return RemoteStorage(text)


def together(storage: Storage, call: Callable[[], Result], other: Callable[[], object]) -> Result:
    """Make two calls that use a tree, at the same time if it is in a store; return the result of the first one."""
    found: list[Result] = []
    storage.each(lambda one: one(), (lambda: found.append(call()), other))
    return found[0]


def check_name(name: str) -> str:
    """Return the name. Raises ArgumentError if it leads out of the tree."""
    parts = name.split("/")
    if not name or "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise ArgumentError(f"job: {name!r} is not a name below the output folder")
    return name


class LocalStorage:
    """A folder of this machine."""

    is_remote = False

    def __init__(self, root: str) -> None:
        self.root = str(Path(root).absolute())
        self._folder = Path(self.root)

    def read(self, name: str) -> bytes | None:
        try:
            return read_file(self.where(name), MAX_FILE_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, name: str, data: bytes) -> None:
        path = self._inside(name)
        temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
        with explained(str(path), more=len(data)):
            make_folders(path.parent)
            try:
                write_file(temporary, data)
                system.replace(temporary, path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            sync_folder(path.parent)

    def create(self, name: str, data: bytes) -> bool:
        path = self._inside(name)
        temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
        with explained(str(path), more=len(data)):
            make_folders(path.parent)
            try:
                write_file(temporary, data)
                # A link appears together with its content, and fails if the name exists. A new file would be empty at
                # first, and another process could read a lock without an owner.
                os.link(temporary, path)
            except FileExistsError:
                return False
            finally:
                temporary.unlink(missing_ok=True)
            sync_folder(path.parent)
        return True

    def size(self, name: str) -> int | None:
        try:
            return self._path(name).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    def sizes(self, names: Sequence[str]) -> dict[str, int | None]:
        return {name: self.size(name) for name in names}

    def sha256(self, name: str) -> str | None:
        try:
            with os.fdopen(open_regular(self.where(name)), "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def stamp(self, name: str) -> str | None:
        try:
            with open_binary(self._path(name)) as file:  # opening makes network file systems refresh their cache
                return str(os.fstat(file.fileno()).st_mtime_ns)
        except FileNotFoundError:
            return None

    def touch(self, name: str, data: bytes) -> None:
        with suppress(OSError):
            os.utime(self._path(name))

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(path.name for path in (self._path(folder) if folder else self._folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def remove(self, name: str) -> None:
        path = self._inside(name)
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self._folder:
                break
            try:
                folder.rmdir()
            except OSError:
                break

    def remove_tree(self, folder: str) -> None:
        for _ in range(3):  # a process that was just killed may still have created a file
            shutil.rmtree(self._path(folder), ignore_errors=True)
            if not self._path(folder).exists():
                return

    def removal(self, folder: str) -> Callable[[], None]:
        return lambda: self.remove_tree(folder)

    def adopt(self, files: Mapping[str, Finished]) -> None:
        for name, path in files.items():
            assert isinstance(path, Path)  # only what goes to a store is in memory
            self._adopt(path, name)

    def abort_uploads(self, names: Collection[str] | None) -> None:
        """Do nothing: what is unfinished lies in scratch folders."""

    def _adopt(self, path: Path, name: str) -> None:
        target = self._inside(name)
        with explained(str(target)):
            if not path.exists():  # before any folder is made: another run may have removed what this one wrote
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
            make_folders(target.parent)
            try:
                system.replace(path, target)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                move_across(path, target)

    def sync(self, names: Iterable[str]) -> None:
        for folder in sorted({self._existing(self._path(name).parent) for name in names}):
            with explained(str(folder)):
                sync_folder(folder)

    def _existing(self, folder: Path) -> Path:
        """Return a folder, or its nearest parent that exists: `remove` removes folders that become empty."""
        while not folder.is_dir() and folder != self._folder:
            folder = folder.parent
        return folder

    def scratch(self, folder: str) -> Path:
        path = self._inside(folder)
        with explained(str(path)):
            make_folders(path)
        return path

    def each(self, call: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        return [call(item) for item in items]

    def where(self, name: str) -> str:
        return str(self._path(name))

    def hold(self, name: str) -> Callable[[], None] | None:
        # The kernel releases the lock when the process ends, and knows about it in every PID namespace.
        descriptor = open_regular(self.where(name))
        try:
            system.lock(descriptor, wait=False)
        except OSError:  # some network file systems cannot lock
            os.close(descriptor)
            return None

        def release() -> None:
            system.unlock(descriptor)  # also for children that inherited the descriptor
            os.close(descriptor)

        return release

    def is_held(self, name: str) -> bool | None:
        try:
            descriptor = open_regular(self.where(name))
        except FileNotFoundError:
            return False
        try:
            system.lock(descriptor, wait=False)
        except BlockingIOError:
            return True
        except OSError:
            return None
        finally:
            os.close(descriptor)
        return False

    def at_one_moment(self, folder: str) -> AbstractContextManager[None]:
        del folder
        return nullcontext()

    @contextmanager
    def alone(self, folder: str) -> Iterator[None]:
        path = self._inside(folder)
        while True:
            with explained(str(path)):
                make_folders(path)
            try:
                descriptor = system.open_for_lock(path)
            except FileNotFoundError:
                continue  # another process has just removed it: create it again
            try:
                with suppress(OSError):  # some network file systems cannot lock folders
                    system.lock(descriptor)
                if system.WINDOWS or _same_folder(descriptor, path):
                    yield
                    return
            finally:
                os.close(descriptor)

    def _path(self, name: str) -> Path:
        return self._folder / check_name(name)

    def _inside(self, name: str) -> Path:
        """Return the path of a file to write or remove; raises OutputError if a link leads out of the folder.

        A folder that someone else prepared may hold such a link, and a manifest that names files behind it.
        """
        path = self._path(name)
        root, parent = os.path.realpath(self._folder), os.path.realpath(path.parent)
        if os.path.commonpath((root, parent)) != root:
            raise OutputError(f"cannot write {path}: a link leads out of {self.root}; remove it")
        return path


def _same_folder(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
