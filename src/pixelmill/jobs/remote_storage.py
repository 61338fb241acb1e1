"""A prefix of an object store as the output of a job."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from pixelmill.jobs.disk import explained
from pixelmill.jobs.storage import Finished, Item, Result, check_name
from pixelmill.storage import files, object_store, remote, remote_writes
from pixelmill.storage.options import active
from pixelmill.storage.temporary_folders import held_folder

_PIECE = 8 << 20
_UPLOADS = 256  # files that a process uploads at a time

# What `at_one_moment` has listed, for the calls in its block. Other threads look at locks, and see what is there now.
_listed: ContextVar[Mapping[str, list[str]]] = ContextVar("listed", default=MappingProxyType({}))


class RemoteStorage:
    """A prefix of an object store. An object appears complete when its upload ends, so nothing is ever renamed."""

    is_remote = True

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/")
        self._beat = 0
        self._held: dict[Path, int] = {}
        if object_store.locate(self.root, active()) is None:
            remote.open_store(self.root)  # fails here, in one sentence, if the address is of no known kind

    @cached_property
    def _uploads(self) -> ThreadPoolExecutor:
        """Threads for the files of all shards: to start some for each shard would cost a fifth of sending the files."""
        return ThreadPoolExecutor(_UPLOADS, "pixelmill-upload")

    @contextmanager
    def at_one_moment(self, folder: str) -> Iterator[None]:
        folders = (self.root, self.where(folder))
        moment = _listed.set(dict(zip(folders, self.each(remote_writes.entries, folders), strict=True)))
        try:
            yield
        finally:
            _listed.reset(moment)

    def _is_absent(self, name: str) -> bool:
        """Whether the listings of `at_one_moment` show that there is no such file."""
        folder, parts = self.root, name.split("/")
        for part in parts:
            if part not in _listed.get().get(folder, (part,)):
                return True
            folder += f"/{part}"
        return False

    def read(self, name: str) -> bytes | None:
        if self._is_absent(name):
            return None
        try:
            return remote.read_whole(self.where(name), files.MAX_FILE_BYTES)
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        with explained(self.where(name), more=len(data)):
            remote_writes.write(self.where(name), data)

    def create(self, name: str, data: bytes) -> bool:
        with explained(self.where(name), more=len(data)):
            return remote_writes.create(self.where(name), data)

    def size(self, name: str) -> int | None:
        if self._is_absent(name):
            return None
        try:
            return remote.stat(self.where(name)).size
        except FileNotFoundError:
            return None

    def sizes(self, names: Sequence[str]) -> dict[str, int | None]:
        found: dict[str, int | None] = {}
        for name, stat in zip(names, files.stats([self.where(name) for name in names]), strict=True):
            if isinstance(stat, OSError) and not isinstance(stat, FileNotFoundError):
                raise stat
            found[name] = None if isinstance(stat, OSError) else stat.size
        return found

    def sha256(self, name: str) -> str | None:
        size = self.size(name)
        if size is None:
            return None
        digest = hashlib.sha256()
        for offset in range(0, size, _PIECE):
            digest.update(remote.read(self.where(name), offset, _PIECE, size=size))
        return digest.hexdigest()

    def stamp(self, name: str) -> str | None:
        data = self.read(name)
        return None if data is None else data.hex()

    def touch(self, name: str, data: bytes) -> None:
        self._beat += 1
        with suppress(OSError):
            remote_writes.write(self.where(name), data.rstrip() + b" " * (self._beat % 2))

    def names(self, folder: str) -> list[str]:
        path = self.where(folder) if folder else self.root
        known = _listed.get().get(path)
        return remote_writes.entries(path) if known is None else known

    def remove(self, name: str) -> None:
        remote_writes.remove(self.where(name))

    def remove_tree(self, folder: str) -> None:
        self.removal(folder)()

    def removal(self, folder: str) -> Callable[[], None]:
        return remote_writes.removal_below(self.where(folder))

    def adopt(self, files_by_name: Mapping[str, Finished]) -> None:
        def one(name: str) -> None:
            content = files_by_name[name]
            size = content.stat().st_size if isinstance(content, Path) else sum(map(len, content))
            with explained(self.where(name), more=size):
                remote_writes.upload(content, self.where(name), size=size)
            if isinstance(content, Path):
                content.unlink()

        running = [self._uploads.submit(copy_context().run, one, name) for name in files_by_name]
        try:
            for upload in running:
                upload.result()
        finally:  # whatever is left of a shard is removed next
            for upload in running:
                upload.cancel()
            wait(running)

    def abort_uploads(self, names: Collection[str] | None) -> None:
        remote_writes.abort_uploads(self.root, names)

    def sync(self, names: Iterable[str]) -> None:
        """Do nothing: an acknowledged upload is durable."""

    def scratch(self, folder: str) -> Path:
        """Create a folder in the temporary folder of this machine, held until this process ends.

        Those of processes that were killed are removed. The caller removes this one.
        """
        del folder
        for old in [path for path in self._held if not path.exists()]:
            os.close(self._held.pop(old))
        path, descriptor = held_folder()
        self._held[path] = descriptor
        return path

    def each(self, call: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        return files.together(call, items)

    def where(self, name: str) -> str:
        return f"{self.root}/{check_name(name)}"

    def hold(self, name: str) -> Callable[[], None] | None:
        return None

    def is_held(self, name: str) -> bool | None:
        return None

    def alone(self, folder: str) -> AbstractContextManager[None]:
        del folder
        return nullcontext()
