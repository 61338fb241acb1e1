"""Compare a dataset with what its manifest counts, and find jobs that have not finished."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pixelmill import storage
from pixelmill.errors import DataError, Event
from pixelmill.jobs.manifest import Entry, listed_files, manifest_names, read_manifest
from pixelmill.jobs.sharing import STATE
from pixelmill.jobs.status import unfinished_jobs
from pixelmill.jobs.storage import Storage, open_storage
from pixelmill.options.running import Source, source_paths
from pixelmill.storage.range_reader import RangeReader
from pixelmill.storage.ranges import Range

_CHUNK = 1 << 20
_PART = 8 << 20  # bytes of a file at an address that are read at once


@dataclass
class ManifestCheck:
    """What the manifests of a dataset say, and what does not agree with it.

    Attributes:
        manifest: The first manifest; None if there is none.
        hashed: Files that were compared.
        samples: Samples that the manifests count in what was named; None without a manifest.
        problems: Everything that differs.
    """

    manifest: str | None = None
    hashed: int = 0
    samples: int | None = None
    problems: list[Event] = field(default_factory=list)

    def add(self, kind: str, message: str, path: str) -> None:
        """Add a problem."""
        self.problems.append(Event(kind, message, sample=-1, epoch=0, path=path, operator="manifest"))


def check_manifest(source: Source) -> ManifestCheck:
    """Compare files with the manifest beside them: all that it lists if a folder was named, else the named ones."""
    found = ManifestCheck()
    paths = source_paths(source)
    if isinstance(paths, str) and storage.is_folder(paths):
        _check_folder(paths, None, found)
        return found
    several = not isinstance(paths, str) or len(storage.matching(paths)) > 1
    for folder, names in _by_folder(storage.matching(paths) if isinstance(paths, str) else paths).items():
        if storage.is_folder(folder):
            _check_folder(folder, names, found, whole=several)
    return found


def unfinished_text(done: int, shards: int) -> str:
    """Describe a job that has not finished."""
    return f"unfinished: {done} of {shards} shards; run the same command with exists=resume to complete it"


def _by_folder(paths: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = os.fspath(path).rpartition("/")
        found.setdefault(folder or ("/" if path.startswith("/") else "."), set()).add(name)
    return found


def _check_folder(folder: str, names: set[str] | None, found: ManifestCheck, *, whole: bool = True) -> None:
    """Check one folder.

    Args:
        folder: The folder.
        names: The files that were named; None for all.
        found: Where the result is added.
        whole: Whether an unfinished job matters: a file that was named alone may be finished.
    """
    root = open_storage(folder)
    if whole:
        _check_finished(root, folder, found)
    for name in manifest_names(root):
        _check_listed(root, folder, name, names, found)


def _check_listed(root: Storage, folder: str, name: str, names: set[str] | None, found: ManifestCheck) -> None:
    """Compare the files of a folder with one of its manifests."""
    where = storage.join(folder, name)
    try:
        manifest = read_manifest(root, name=name, strict=True)
        if manifest is None:
            return
        files = listed_files(manifest)
    except DataError as error:
        found.manifest = found.manifest or where
        found.add("corrupt", str(error), where)
        return
    found.manifest = found.manifest or where
    _check_totals(manifest, where, found)
    entries = [e for e in manifest["entries"] if names is None or names & {file["name"] for file in e["files"]}]
    found.samples = (found.samples or 0) + sum(int(entry["samples"]) for entry in entries)
    files = [file for file in files if names is None or file.name in names]
    paths = [storage.join(folder, file.name) for file in files]
    stats = list(storage.stats(paths))
    ranges = RangeReader()
    if storage.is_remote(folder):
        ranges.expect(part for path, stat in zip(paths, stats, strict=True) for part in _parts(path, stat))
    for path, file, stat in zip(paths, files, stats, strict=True):
        found.hashed += 1
        problem = _differs(stat, file.bytes) or _compare(path, stat, file.sha256, ranges)
        if problem is not None:
            found.add(*problem, path)


def _check_finished(root: Storage, folder: str, found: ManifestCheck) -> None:
    jobs = unfinished_jobs(root)
    for status in jobs:
        found.add("unfinished", unfinished_text(status.done, status.shards), folder)
    states = [name for name in root.names("") if name.startswith(STATE)]
    if states and not jobs and not manifest_names(root):
        found.add("unfinished", f"unfinished: {states[0]} is the state of a job without a plan", folder)


def _check_totals(manifest: Entry, where: str, found: ManifestCheck) -> None:
    """Compare the totals of a manifest with its entries: an entry may have been lost."""
    entries = manifest["entries"]
    numbers = {int(entry["number"]) for entry in entries}
    shards = manifest.get("shards")
    if isinstance(shards, int) and numbers != set(range(shards)):
        found.add("missing", f"the manifest has entries of {len(numbers)} shards, and counts {shards}", where)
    sums = {
        "samples": sum(int(entry["samples"]) for entry in entries),
        "bytes": sum(int(file["bytes"]) for entry in entries for file in entry["files"]),
        "errors": sum(len(entry["errors"]) for entry in entries),
    }
    for name, total in sums.items():
        said = manifest.get(name)
        if isinstance(said, int) and said != total:
            found.add("corrupt", f"the manifest counts {said} {name}, its entries have {total}", where)


def _differs(stat: storage.FileStat | OSError, size: int) -> tuple[str, str] | None:
    if isinstance(stat, OSError):
        return "io", f"{stat.strerror or stat}"
    if stat.size == size:
        return None
    return "truncated" if stat.size < size else "corrupt", f"the file has {stat.size} bytes, the manifest says {size}"


def _parts(path: str, stat: storage.FileStat | OSError) -> Iterator[Range]:
    """Yield the ranges in which a file at an address is read."""
    size = 0 if isinstance(stat, OSError) else stat.size
    for offset in range(0, size, _PART):
        yield Range(path, offset, min(_PART, size - offset))


def _compare(path: str, stat: storage.FileStat | OSError, sha256: str, ranges: RangeReader) -> tuple[str, str] | None:
    digest = hashlib.sha256()
    try:
        if storage.is_remote(path):
            for part in _parts(path, stat):
                digest.update(ranges.view(path, part.offset, part.length))
        else:
            for piece in storage.read_pieces(path, _CHUNK):
                digest.update(piece)
    except OSError as error:
        return "io", f"{error.strerror or error}"
    if digest.hexdigest() != sha256:
        return "checksum", f"the SHA-256 of the file is {digest.hexdigest()}, the manifest says {sha256}"
    return None
