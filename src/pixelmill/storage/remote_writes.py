"""Writing and removing files at addresses, through obstore or fsspec. An object appears when its upload is complete.

Large files go to S3 in parts, several at a time. A process that is killed leaves such an upload open, and the store
charges for it until it is aborted: `abort_uploads` does that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from pixelmill.errors import OutputError
from pixelmill.log import log
from pixelmill.storage import object_store, remote
from pixelmill.storage.failures import explained
from pixelmill.storage.files import MAX_FILE_BYTES
from pixelmill.storage.options import active

PARTS_FROM = 16 << 20  # bytes of a file that is uploaded in parts
_PART = 8 << 20
_PARTS_AT_ONCE = 12


def write(path: str, data: bytes) -> None:
    """Write a small file."""
    place = object_store.locate(path, active())
    if place is not None:
        _tried(lambda obstore: obstore.put(place.store, place.key, data, use_multipart=False), path)
    else:
        system, inner = remote.open_store(path)
        remote.patiently(lambda: system.pipe_file(inner, data), path)


def create(path: str, data: bytes) -> bool:
    """Write a small file unless it exists; return whether it was written.

    Stores that know no such request are asked, written to and asked again, which two processes can do at a time.
    """
    try:
        return _created(path, data) or _content(path) == data  # a repeated request may find what the first one wrote
    except (NotImplementedError, TypeError):
        if _content(path) is not None:
            return False
        write(path, data)
        return _content(path) == data


def _created(path: str, data: bytes) -> bool:
    """Write a file with `If-None-Match: *`, or what fsspec has for it; raises NotImplementedError and the like."""
    place = object_store.locate(path, active())
    if place is not None:

        def put(obstore: Any) -> bool:
            try:
                obstore.put(place.store, place.key, data, mode="create", use_multipart=False)
            except obstore.exceptions.AlreadyExistsError:
                return False
            except obstore.exceptions.NotSupportedError:
                raise NotImplementedError from None
            return True

        return _tried(put, path)
    system, inner = remote.open_store(path)
    try:
        remote.patiently(lambda: system.pipe_file(inner, data, mode="create"), path)
    except FileExistsError:
        return False
    return True


def _content(path: str) -> bytes | None:
    try:
        return remote.read_whole(path, MAX_FILE_BYTES)
    except FileNotFoundError:
        return None


def upload(source: Path | list[memoryview], path: str, *, size: int) -> None:
    """Write a file with the content of a local one, or with pieces; raises OutputError if fewer bytes arrive."""
    place = object_store.locate(path, active())
    if place is None:
        system, inner = remote.open_store(path)
        if isinstance(source, Path):
            remote.patiently(lambda: system.put_file(str(source), inner), path)
        else:
            remote.patiently(lambda: system.pipe_file(inner, b"".join(source)), path)
        arrived = remote.stat(path).size
        if arrived != size:
            raise OutputError(f"cannot write {path}: {size} bytes were sent, {arrived} arrived; try again")
        return
    in_parts = size > PARTS_FROM and path.startswith(("s3://", "s3a://"))

    def put(obstore: Any) -> None:
        if in_parts:
            options = {"use_multipart": True, "chunk_size": _PART, "max_concurrency": _PARTS_AT_ONCE}
            obstore.put(place.store, place.key, source, **options)
        else:  # the store compares the length of the body with the one announced
            obstore.put(place.store, place.key, source, use_multipart=False)

    _tried(put, path)


def entries(path: str) -> list[str]:
    """Return the names of the files and folders in a folder, hidden ones too; none if it does not exist."""
    place = object_store.locate(path, active())
    try:
        if place is not None:
            return sorted(remote.patiently(lambda: object_store.listing(place, path), path))
        system, inner = remote.open_store(path)
        found = remote.patiently(lambda: system.ls(inner, detail=False), path)
    except FileNotFoundError:
        return []
    return sorted(str(name).rstrip("/").rsplit("/", 1)[-1] for name in found if str(name).rstrip("/") != inner)


def remove(path: str) -> None:
    """Remove a file if it exists."""
    place = object_store.locate(path, active())
    with contextlib.suppress(FileNotFoundError):
        if place is not None:
            _tried(lambda obstore: obstore.delete(place.store, place.key), path)
        else:
            system, inner = remote.open_store(path)
            remote.patiently(lambda: system.rm_file(inner), path)


def removal_below(path: str) -> Callable[[], None]:
    """List all files below a folder, and return what removes them; fsspec lists them when it is called."""
    place = object_store.locate(path, active())
    if place is None:
        return lambda: _remove_folder(path)
    prefix = f"{place.key.rstrip('/')}/"
    found: list[Any] = []
    with contextlib.suppress(FileNotFoundError):
        found = list(_tried(lambda obstore: obstore.list(place.store, prefix).collect(), path))
    keys = [str(meta["path"]) for meta in found if str(meta["path"]).startswith(prefix)]

    def remove_keys() -> None:
        with contextlib.suppress(FileNotFoundError):
            if keys:
                _tried(lambda obstore: obstore.delete(place.store, keys), path)

    return remove_keys


def _remove_folder(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        system, inner = remote.open_store(path)
        remote.patiently(lambda: system.rm(inner, recursive=True), path)


def abort_uploads(folder: str, names: Collection[str] | None) -> int:
    """Abort uploads of large files that a killed process has left open; return their number.

    Args:
        folder: The folder of the files. Uploads are known for S3 alone.
        names: The names of the files below it; None for all.
    """
    if not folder.startswith(("s3://", "s3a://")):
        return 0
    bucket, _, prefix = folder.partition("://")[2].partition("/")
    prefix = f"{prefix.rstrip('/')}/" if prefix else ""
    try:
        system, _ = remote.open_store(folder)
        found = system.call_s3("list_multipart_uploads", Bucket=bucket, Prefix=prefix)
        aborted = [one for one in found.get("Uploads", ()) if names is None or one["Key"][len(prefix) :] in names]
        for one in aborted:
            system.call_s3("abort_multipart_upload", Bucket=bucket, Key=one["Key"], UploadId=one["UploadId"])
    except (OSError, AttributeError) as error:  # a store that does not list them, or no permission to
        log.info("pixelmill: open uploads below %s are not looked for: %s", folder, error)
        return 0
    return len(aborted)


def _tried(call: Callable[[Any], remote.Result], path: str) -> remote.Result:
    """Call a function with the module of obstore; errors of its own types become OSError, and some are tried again."""
    import obstore

    def once() -> remote.Result:
        try:
            return call(obstore)
        except (NotImplementedError, OSError):
            raise
        except Exception as error:
            raise explained(error, path) from None

    return remote.patiently(once, path)
