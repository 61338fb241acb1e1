"""DALI's index files of WebDataset archives: extension, offset, size and name of the files of each sample."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.index import INDEX_BYTES, is_count
from pixelmill.formats.webdataset.scan import TarSample, TarScan, split_name
from pixelmill.formats.webdataset.tar import BLOCK, Member

_VERSIONS = ("v1.1", "v1.2")


def index_text(samples: Iterable[TarSample]) -> bytes:
    """Return the content of an index file as DALI's readers.webdataset reads it."""
    lines = []
    for sample in samples:
        fields = []
        for member in sample.members:
            extension = split_name(member.name)[1]
            if len(f"{extension} {member.name}".split()) != 2:
                raise ArgumentError(f"webdataset: an index file cannot hold the name {member.name!r}")
            fields.append(f"{extension} {member.offset} {member.size} {member.name}")
        lines.append(" ".join(fields) + "\n")
    return (f"v1.2 {len(lines)}\n" + "".join(lines)).encode("utf-8", "surrogateescape")


def write_index(path: str | Path, samples: Iterable[TarSample]) -> None:
    """Write an index file."""
    Path(path).write_bytes(index_text(samples))


def read_index(path: str | Path, *, versions: Sequence[str] = _VERSIONS) -> tuple[TarSample, ...]:
    """Read an index file; version 1.1 has no names, which are then numbers."""
    try:
        lines = storage.read_file(os.fspath(path), limit=INDEX_BYTES).decode("utf-8", "surrogateescape").split("\n")
    except OSError as error:
        raise DataError(f"webdataset: index file: {error.strerror}: {path}") from None
    version, _, count = lines[0].strip().partition(" ")
    if version not in versions or not is_count(count):
        raise DataError(f"webdataset: {path} must begin with 'v1.2' and a number, got {lines[0][:80]!r}")
    rows = [line for line in lines[1:] if line.strip()]
    if len(rows) != int(count):
        raise DataError(f"webdataset: {path} declares {int(count)} samples and lists {len(rows)}")
    width = 4 if version == "v1.2" else 3
    return tuple(_row(os.fspath(path), number, line.split(), width) for number, line in enumerate(rows))


def listed(name: str, size: int) -> TarScan | None:
    """Return the samples of an archive at an address by the index file beside it.

    None if there is no such file with names, or if there is anything else in the archive: an index file does not say
    what it leaves out. Headers are compared with it when samples are read.

    Args:
        name: The address of the archive.
        size: Its size.
    """
    try:
        samples = read_index(f"{split_name(name)[0]}.idx", versions=_VERSIONS[1:])
    except DataError:
        return None
    position = 0
    for sample in samples:
        extensions = set()
        for member in sample.members:
            key, extension = split_name(member.name)
            if member.header != position or key != sample.key or not key or not extension or extension in extensions:
                return None
            extensions.add(extension)
            position = member.offset + -(-member.size // BLOCK) * BLOCK
    return TarScan(name, samples, (), ()) if samples and _ends(name, position, size) else None


def _ends(name: str, position: int, size: int) -> bool:
    """Whether the blocks that end an archive begin at a position."""
    if size - position < 2 * BLOCK:
        return False
    try:
        return storage.read_range(name, position, 2 * BLOCK, size=size) == bytes(2 * BLOCK)
    except OSError:
        return False


def _row(path: str, number: int, fields: list[str], width: int) -> TarSample:
    where = f"line {number + 2} of {path}"
    if not fields or len(fields) % width:
        raise DataError(f"webdataset: {where} is not a list of extension, offset, size{', name' * (width == 4)}")
    members = []
    for place in range(0, len(fields), width):
        extension, offset, size = fields[place : place + 3]
        if not all(is_count(text) for text in (offset, size)) or int(offset) % BLOCK:
            raise DataError(f"webdataset: {where} holds {offset[:20]!r} {size[:20]!r} instead of an offset and a size")
        name = fields[place + 3] if width == 4 else f"{number}.{extension}"
        if split_name(name)[1] != extension:
            raise DataError(f"webdataset: {where} holds the extension {extension[:20]!r} for {name[:200]!r}")
        members.append(Member(name, int(offset) - BLOCK, int(offset), int(size)))
    return TarSample(split_name(members[0].name)[0], tuple(members))
