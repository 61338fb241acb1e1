"""The index of `readers.webdataset`: the byte ranges of the files of each sample."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import shared_index
from pixelmill.formats.index import Array, Index, Ragged
from pixelmill.formats.remote_folders import version_of
from pixelmill.formats.remote_records import sizes_of
from pixelmill.formats.webdataset.index_file import read_index
from pixelmill.formats.webdataset.scan import TarSample, cached_scan, split_name
from pixelmill.formats.webdataset.tar import Member

Missing = Literal["", "empty", "skip", "error"]


@dataclass(frozen=True)
class _Item:
    file: int
    sample: TarSample | None
    offset: int
    length: int
    lost: tuple[str, str] | None = None


@dataclass(frozen=True)
class _Archive:
    """An archive.

    Attributes:
        name: The archive as the user named it.
        path: The file that is read: the archive, or a copy of it.
        samples: Its samples by an index file; None to scan it.
        size: Its size, if there is an index file.
        index_path: That file.
        version: Its version, if it is at an address.
    """

    name: str
    path: str
    samples: tuple[TarSample, ...] | None = None
    size: int = 0
    index_path: str = ""
    version: str = ""


def open_archives(
    paths: Sequence[str],
    index_paths: Sequence[str] | None,
    *,
    extensions: Sequence[str],
    missing: Missing,
    case_sensitive: bool,
) -> Index:
    """Index the samples of archives; entry i of `extensions` becomes the part named `str(i)`.

    Args:
        paths: The archives.
        index_paths: An index file for each; None to scan the archives.
        extensions: For each part, its possible extensions, separated by semicolons.
        missing: What to do with a sample that has no file for a part.
        case_sensitive: Whether extensions are case-sensitive.
    """
    if not paths:
        raise ArgumentError("webdataset: no archive was named")
    if index_paths is not None and len(index_paths) != len(paths):
        raise ArgumentError(f"webdataset: {len(index_paths)} index files for {len(paths)} archives")
    paths = [storage.plain(path) for path in paths]
    beside = [storage.plain(path) for path in index_paths or ()]
    build = partial(_made, paths, index_paths, extensions, missing, case_sensitive=case_sensitive)
    if any(map(storage.is_remote, (*paths, *beside))):
        return build()
    settings = [tuple(extensions), missing, case_sensitive, len(beside)]
    accept = partial(operator.eq, paths)
    return shared_index.cached("webdataset", settings, files=[*paths, *beside], build=build, accept=accept)


def _made(
    paths: Sequence[str],
    index_paths: Sequence[str] | None,
    extensions: Sequence[str],
    missing: Missing,
    *,
    case_sensitive: bool,
) -> Index:
    archives = _archives(paths, index_paths)
    paths, names = [archive.path for archive in archives], [archive.name for archive in archives]
    items: list[_Item] = []
    for number, archive in enumerate(archives):
        items += _listed(number, archive) if archive.samples is not None else _scanned(number, archive.path)
    wanted = [_alternatives(text, case_sensitive) for text in extensions]
    rows: list[list[Member | None]] = []
    kept: list[_Item] = []
    for item in items:
        found = [_member(item.sample, names, case_sensitive) for names in wanted]
        if item.sample is not None and None in found and missing in ("skip", "error"):
            if missing == "skip":
                continue
            wanted_text = extensions[found.index(None)]
            where = f"sample {item.sample.key!r} of {paths[item.file]}"
            raise DataError(f"webdataset: {where} has no file {wanted_text!r}")
        kept.append(item)
        rows.append(found)
    if not kept:
        raise DataError(f"webdataset: no sample in {', '.join(names)}")
    index = _index(paths, kept, rows)
    versions = [archive.version for archive in archives]
    parts = {name: replace(part, versions=versions) for name, part in index.parts.items()}
    return replace(index, versions=versions, parts=parts, names=names if names != paths else ())


def _archives(names: Sequence[str], index_paths: Sequence[str] | None) -> list[_Archive]:
    """Find what each archive is read from: itself, by an index file, or a copy of it on this machine."""
    try:
        stats = sizes_of(names)
    except OSError as error:
        raise DataError(f"webdataset: {error.strerror}: {error.filename}") from None
    given = [storage.plain(path) for path in index_paths or [""] * len(names)]

    def one(number: int) -> _Archive:
        name, stat, index_path = names[number], stats[number], given[number]
        version = "" if stat is None else version_of(stat)
        if index_path:
            size = _size(name) if stat is None else stat.size
            return _Archive(name, name, read_index(index_path), size, index_path, version)
        if stat is None:
            return _Archive(name, name)
        beside = f"{split_name(name)[0]}.idx"
        try:
            return _Archive(name, name, read_index(beside), stat.size, beside, version)
        except DataError:  # there is none, or it is of another kind
            return _Archive(name, storage.local_path(name))

    return storage.together(one, range(len(names)), wait=any(stats))


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError as error:
        raise DataError(f"webdataset: {error.strerror}: {path}") from None


def _scanned(number: int, path: str) -> list[_Item]:
    found = cached_scan(path)
    items = [_Item(number, sample, *_span(sample)) for sample in found.samples]
    damaged = [fault for fault in found.faults if fault.length > 0]
    items += [_Item(number, None, f.offset, f.length, (f.kind, f.message)) for f in damaged]
    return sorted(items, key=lambda item: item.offset)


def _span(sample: TarSample) -> tuple[int, int]:
    first, last = sample.members[0], sample.members[-1]
    return first.header, last.offset + last.size - first.header


def _listed(number: int, archive: _Archive) -> list[_Item]:
    size, index_path = archive.size, archive.index_path
    items = []
    for sample in archive.samples or ():
        offset, length = _span(sample)
        beyond = any(member.offset + member.size > size for member in sample.members)
        text = f"{index_path} lists bytes past the end of the archive, which has {size}"
        items.append(_Item(number, sample, offset, length, ("truncated", text) if beyond else None))
    if items and all(item.lost for item in items):
        raise DataError(f"webdataset: {index_path} is the index of another archive than {archive.name}")
    return items


def _alternatives(text: str, case_sensitive: bool) -> tuple[str, ...]:
    names = tuple(name for name in (text if case_sensitive else text.lower()).split(";") if name)
    if not names:
        raise ArgumentError(f"webdataset: ext must name extensions, got {text!r}")
    return names


def _member(sample: TarSample | None, names: tuple[str, ...], case_sensitive: bool) -> Member | None:
    """Return the first file of a sample with one of the extensions."""
    for member in sample.members if sample is not None else ():
        extension = split_name(member.name)[1]
        if (extension if case_sensitive else extension.lower()) in names:
            return member
    return None


def _index(paths: Sequence[str], items: list[_Item], rows: list[list[Member | None]]) -> Index:
    files = np.array([item.file for item in items], np.int64)
    parts: dict[str, Index] = {}
    columns: dict[str, Array | Ragged] = {}
    for number in range(len(rows[0])):
        members = [row[number] for row in rows]
        offsets = np.array([0 if member is None else member.offset for member in members], np.int64)
        lengths = np.array([0 if member is None else member.size for member in members], np.int64)
        parts[str(number)] = Index(list(paths), files, offsets, lengths)
        infos = [_info(paths[item.file], member) for item, member in zip(items, members, strict=True)]
        columns[f"source_info of {number}"] = Ragged.of(infos, dtype=np.uint8)
    return Index(
        list(paths),
        files,
        np.array([item.offset for item in items], np.int64),
        np.array([item.length for item in items], np.int64),
        columns=columns,
        parts=parts,
        lost={number: item.lost for number, item in enumerate(items) if item.lost is not None},
    )


def _info(path: str, member: Member | None) -> Array:
    text = b"" if member is None else f"{path}:{member.offset}:{member.name}".encode("utf-8", "surrogateescape")
    return np.frombuffer(text, np.uint8)
