"""WebDataset: tar archives. The files of a sample stand side by side and share the name before the first dot."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.tar import Member, Members, TarWriter, scan_members

__all__ = [
    "Member",
    "TarSample",
    "TarScan",
    "TarWriter",
    "index_text",
    "read_index",
    "scan",
    "split_name",
    "write_index",
]


@dataclass(frozen=True, slots=True)
class TarSample:
    """The files that belong together.

    Attributes:
        key: What their names begin with.
        members: The files in their order.
    """

    key: str
    members: tuple[Member, ...]

    def extensions(self) -> tuple[str, ...]:
        """Give what stands behind the first dot of each file's name."""
        return tuple(split_name(member.name)[1] for member in self.members)

    def member(self, extension: str) -> Member | None:
        """Give the first file with an extension."""
        return next((member for member in self.members if split_name(member.name)[1] == extension), None)


@dataclass(frozen=True)
class TarScan:
    """What an archive holds.

    Attributes:
        path: The archive.
        samples: The samples that are whole.
        lost: The samples that are not, each with the number of whole samples before it.
        faults: What is damaged; a sample of which a piece is lost has a fault of its own.
    """

    path: str
    samples: tuple[TarSample, ...]
    lost: tuple[tuple[int, RecordFault], ...]
    faults: tuple[RecordFault, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        """All files of the samples."""
        return tuple(member for sample in self.samples for member in sample.members)


def split_name(name: str) -> tuple[str, str]:
    """Divide the name of a member into the key of its sample and its extension, at the first dot of the last part."""
    dot = name.find(".", name.rfind("/") + 1)
    return (name, "") if dot < 0 else (name[:dot], name[dot + 1 :])


def scan(path: str | Path, *, stream: BinaryIO | None = None) -> TarScan:
    """List the samples of an archive.

    Members behind the last whole header, members with damaged headers and cut members are faults. A sample next to
    such a place counts as whole only if it has the files that most other samples have.

    Args:
        path: The archive, or its name in messages where a stream is given.
        stream: The open archive, where it is not to be opened by its name; it must be able to seek.
    """
    found = scan_members(path, stream=stream)
    groups, broken = _grouped(found)
    usual = _usual(groups, broken)
    samples: list[TarSample] = []
    lost: list[tuple[int, RecordFault]] = []
    faults = list(found.faults)
    for number, sample in enumerate(groups):
        extensions = sample.extensions()
        if number in broken and set(extensions) != usual:
            fault = _incomplete(os.fspath(path), len(samples) + len(lost), sample)
            lost.append((len(samples), fault))
            faults.append(fault)
            continue
        if len(set(extensions)) < len(extensions):
            faults.append(_repeated(os.fspath(path), number, sample))
        samples.append(sample)
    return TarScan(os.fspath(path), tuple(samples), tuple(lost), tuple(sorted(faults, key=lambda f: f.offset)))


def _grouped(found: Members) -> tuple[list[TarSample], set[int]]:
    """Put members into samples; give also the numbers of the samples that touch a damaged place."""
    groups: list[TarSample] = []
    broken: set[int] = set()
    breaks = set(found.breaks)
    current: list[Member] = []
    key: str | None = None
    behind_break = False

    def close() -> None:
        if current and key is not None:
            groups.append(TarSample(key, tuple(current)))
            current.clear()

    for number, member in enumerate(found.members):
        if number in breaks:
            behind_break = True
            if current:
                broken.add(len(groups))
                close()
                key = None
        own, extension = split_name(member.name)
        if not own or own.endswith("/") or not extension:  # hidden files and those without a dot belong to no sample
            continue
        if own != key:
            close()
            key = own
        if behind_break:
            broken.add(len(groups))
            behind_break = False
        current.append(member)
    if current and len(found.members) in breaks:
        broken.add(len(groups))
    close()
    return groups, broken


def _usual(groups: Sequence[TarSample], broken: set[int]) -> set[str] | None:
    """Find the extensions that most samples have; None where no sample is beyond doubt."""
    kinds = Counter(frozenset(g.extensions()) for number, g in enumerate(groups) if number not in broken)
    return set(kinds.most_common(1)[0][0]) if kinds else None


def _incomplete(path: str, number: int, sample: TarSample) -> RecordFault:
    first, last = sample.members[0], sample.members[-1]
    message = f"sample {sample.key!r} has a damaged place beside it and may be incomplete; it is left out"
    length = last.offset + last.size - first.header
    return RecordFault(path, number, first.header, length, "truncated", message)


def _repeated(path: str, number: int, sample: TarSample) -> RecordFault:
    first = sample.members[0]
    message = f"sample {sample.key!r} holds an extension twice; the first counts"
    return RecordFault(path, number, first.header, 0, "corrupt", message)


def index_text(samples: Iterable[TarSample]) -> bytes:
    """Give the content of an index file as DALI's readers.webdataset takes it: extension, offset, size and name."""
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


def read_index(path: str | Path) -> tuple[TarSample, ...]:
    """Read an index file of version 1.1 or 1.2; names are made up from extensions where it has none."""
    try:
        lines = Path(path).read_bytes().decode("utf-8", "surrogateescape").split("\n")
    except OSError as error:
        raise DataError(f"webdataset: index file: {error.strerror}: {path}") from None
    version, _, count = lines[0].strip().partition(" ")
    if version not in ("v1.1", "v1.2") or not (count.isascii() and count.isdigit()):
        raise DataError(f"webdataset: {path} must begin with 'v1.2' and a number, got {lines[0][:80]!r}")
    rows = [line for line in lines[1:] if line.strip()]
    if len(rows) != int(count):
        raise DataError(f"webdataset: {path} tells of {int(count)} samples and lists {len(rows)}")
    width = 4 if version == "v1.2" else 3
    return tuple(_row(os.fspath(path), number, line.split(), width) for number, line in enumerate(rows))


def _row(path: str, number: int, fields: list[str], width: int) -> TarSample:
    where = f"line {number + 2} of {path}"
    if not fields or len(fields) % width:
        raise DataError(f"webdataset: {where} is not a list of extension, offset, size{', name' * (width == 4)}")
    members = []
    for place in range(0, len(fields), width):
        extension, offset, size = fields[place : place + 3]
        if not all(n.isascii() and n.isdigit() for n in (offset, size)) or int(offset) % 512:
            raise DataError(f"webdataset: {where} holds {offset[:20]!r} {size[:20]!r} instead of an offset and a size")
        name = fields[place + 3] if width == 4 else f"{number}.{extension}"
        members.append(Member(name, int(offset) - 512, int(offset), int(size)))
    return TarSample(split_name(members[0].name)[0], tuple(members))
