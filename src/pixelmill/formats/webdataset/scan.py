"""Scan an archive: group its members into samples by the part of their names before the first dot."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pixelmill.formats import scan_cache
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.webdataset.tar import BLOCK, Member, Members, is_header, scan_members


@dataclass(frozen=True, slots=True)
class TarSample:
    """The files of one sample.

    Attributes:
        key: The common part of their names.
        members: The files in archive order.
    """

    key: str
    members: tuple[Member, ...]

    def extensions(self) -> tuple[str, ...]:
        """Return the part of each file name after the first dot."""
        return tuple(split_name(member.name)[1] for member in self.members)

    def member(self, extension: str) -> Member | None:
        """Return the first file with an extension, or None."""
        return next((member for member in self.members if split_name(member.name)[1] == extension), None)


@dataclass(frozen=True)
class TarScan:
    """The content of an archive.

    Attributes:
        path: The archive.
        samples: The samples that are intact.
        lost: The samples that are not, each with the number of intact samples before it.
        faults: What is damaged; a sample that may be incomplete has a fault of its own.
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
    """Split the name of a member into the key of its sample and its extension, at the first dot of the last part."""
    dot = name.find(".", name.rfind("/") + 1)
    return (name, "") if dot < 0 else (name[:dot], name[dot + 1 :])


def scan(path: str | Path, *, stream: BinaryIO | None = None) -> TarScan:
    """List the samples of an archive.

    Truncated members, members with damaged headers and bytes after the last intact header are faults. A sample next
    to such a place may lack a file; it counts as intact only if it has the files that most other samples have.

    Args:
        path: The archive; with `stream`, its name in messages.
        stream: The open, seekable archive; None to open `path`.
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


def cached_scan(path: str) -> TarScan:
    """Return the scan of an archive, from the cache if possible."""

    def unpack(kept: scan_cache.Arrays, size: int) -> TarScan | None:
        samples = _unpacked(path, size, kept)
        return None if samples is None else TarScan(path, samples, (), ())

    return scan_cache.cached(path, "tar", scan=scan, pack=_packed, unpack=unpack)


def _packed(found: TarScan) -> scan_cache.Arrays | None:
    if found.faults or not found.samples:
        return None
    members = [member for sample in found.samples for member in sample.members]
    names = b"\0".join(member.name.encode("utf-8", "surrogateescape") for member in members)
    places = [(member.header, member.offset, member.size) for member in members]
    return {
        "places": np.array(places, np.int64).reshape(-1, 3),
        "counts": np.array([len(sample.members) for sample in found.samples], np.int64),
        "names": np.frombuffer(names, np.uint8),
    }


def _unpacked(path: str, size: int, kept: scan_cache.Arrays) -> tuple[TarSample, ...] | None:
    """Rebuild the samples; None if they cannot be those of the archive."""
    if kept.keys() != {"places", "counts", "names"} or kept["places"].ndim != 2 or kept["places"].shape[1] != 3:
        return None
    places, counts = kept["places"], kept["counts"]
    if places.dtype != np.int64 or counts.dtype != np.int64 or counts.ndim != 1:
        return None
    names = kept["names"].tobytes().decode("utf-8", "surrogateescape").split("\0")
    if not len(counts) or counts.min() < 1 or counts.max() > len(places) or counts.sum() != len(places):
        return None
    if len(names) != len(places):
        return None
    if places.min() < 0 or places.max() > size or (places[:, 1] > size - places[:, 2]).any():
        return None
    if (places[:, 0] >= places[:, 1]).any() or (places[1:, 0] < places[:-1, 1] + places[:-1, 2]).any():
        return None  # headers and contents in turn, as in an archive
    if not all(is_header(head) for head in scan_cache.sampled_heads(path, places[:, 0], BLOCK)):
        return None
    members = [Member(name, *place) for name, place in zip(names, places.tolist(), strict=True)]
    samples, at = [], 0
    for count in counts.tolist():
        samples.append(TarSample(split_name(members[at].name)[0], tuple(members[at : at + count])))
        at += count
    return tuple(samples)


def _grouped(found: Members) -> tuple[list[TarSample], set[int]]:
    """Group members into samples; also return the numbers of the samples next to a damaged place."""
    groups: list[TarSample] = []
    broken: set[int] = set()
    breaks = set(found.breaks)
    current: list[Member] = []
    key: str | None = None
    after_break = False

    def close() -> None:
        if current and key is not None:
            groups.append(TarSample(key, tuple(current)))
            current.clear()

    for number, member in enumerate(found.members):
        if number in breaks:
            after_break = True
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
        if after_break:
            broken.add(len(groups))
            after_break = False
        current.append(member)
    if current and len(found.members) in breaks:
        broken.add(len(groups))
    close()
    return groups, broken


def _usual(groups: Sequence[TarSample], broken: set[int]) -> set[str] | None:
    """Return the extensions that most samples have; None if every sample is doubtful."""
    kinds = Counter(frozenset(g.extensions()) for number, g in enumerate(groups) if number not in broken)
    return set(kinds.most_common(1)[0][0]) if kinds else None


def _incomplete(path: str, number: int, sample: TarSample) -> RecordFault:
    first, last = sample.members[0], sample.members[-1]
    message = f"sample {sample.key!r} is next to damage and may be incomplete; it is left out"
    length = last.offset + last.size - first.header
    return RecordFault(path, number, first.header, length, "truncated", message)


def _repeated(path: str, number: int, sample: TarSample) -> RecordFault:
    first = sample.members[0]
    message = f"sample {sample.key!r} has an extension twice; the first counts"
    return RecordFault(path, number, first.header, 0, "corrupt", message)
