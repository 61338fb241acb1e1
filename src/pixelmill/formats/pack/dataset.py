"""Pack files as a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.index import Array, Index, Ragged
from pixelmill.formats.object_rows import with_features
from pixelmill.formats.pack import codec
from pixelmill.formats.pack.frames import HEAD_BYTES, Head, Read, check_parts, crc
from pixelmill.formats.pack.scan import PackFile, features, scan
from pixelmill.formats.pack.table import Table
from pixelmill.formats.record_files import check_sources, numbers_within
from pixelmill.formats.remote_folders import version_of
from pixelmill.formats.remote_records import sizes_of
from pixelmill.formats.sample import Sample

_START = 1 << 16  # bytes at the start of a pack at an address that are read to find its header,
_END = 1 << 14  # and at its end, besides a fraction of it, to find its index


class PackDataset(Dataset):
    """The samples of one or several packs.

    `sample` returns the image files that were packed, restored and compared with their checksums. `byte_ranges` says
    where images lie as they are stored: packed ones are for the decoders of this process, which know the codebooks
    from here on.

    Args:
        source: The dataset as the user named it.
        files: The packs.
    """

    format = "pack"
    values_apart = True

    def __init__(self, source: str, *, files: Sequence[str]) -> None:
        self.source = source
        self._names = check_sources(files, format="pack")
        names = list(dict.fromkeys(self._names))  # a file may be named several times
        stats = dict(zip(names, sizes_of(names), strict=True))
        made = storage.together(lambda name: self._opened(name, stats[name]), names, wait=any(stats.values()))
        opened = dict(zip(names, made, strict=True))
        found = [opened[name] for name in self._names]
        self._tables = [file.table for file in found]
        self._codebooks = [file.codebooks for file in found]
        self.faults = tuple(fault for file in found for fault in file.faults)
        self.index = Index(
            self._names,
            np.repeat(np.arange(len(found), dtype=np.int64), [len(table) for table in self._tables]),
            self._joined([table.columns["offset"] for table in self._tables]),
            self._joined([table.sizes() for table in self._tables]),
            versions=[version_of(stat) for name in self._names if (stat := stats[name]) is not None],
        )
        self._within = numbers_within(self.index)

    def sample(self, number: int) -> Sample:
        file, place = self._place(number)
        head = self._tables[file].head(place)
        try:
            data = self._ranges.read(self._names[file], int(self.index.offsets[number]), head.size)
            found = Head.decode(data[:HEAD_BYTES])
            if found is None or found[1] != head:
                raise DataError("the head of the sample is damaged, or does not match the index")
            parts = check_parts(head, data[HEAD_BYTES:])
            image = self._restored(file, head, parts["image"])
            described = with_features(self._tables[file].outline(place), features(parts["features"]))
            return replace(described, image=image, mask=parts["mask"] or None)
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        except DataError as error:
            raise self.error(number, "checksum" if "checksum" in str(error) else "corrupt", str(error)) from None

    def outline(self, number: int) -> Sample:
        file, place = self._place(number)
        head = self._tables[file].head(place)
        found = self._tables[file].outline(place)
        if not head.features_length:
            return found
        begin = int(self.index.offsets[number]) + HEAD_BYTES + head.image_length + head.mask_length + head.row_length
        try:
            data = self._ranges.read(self._names[file], begin, head.features_length)
            if crc(data) != head.features_crc:
                raise DataError("features: the checksum does not match")
            return with_features(found, features(data))
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        except DataError as error:
            raise self.error(number, "checksum", str(error)) from None

    def description(self, number: int) -> Sample:
        file, place = self._place(number)
        return self._tables[file].outline(place)

    def has_mask(self, number: int) -> bool:
        file, place = self._place(number)
        return bool(self._tables[file].columns["mask_length"][place])

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        images, masks = self._lengths("image"), self._lengths("mask")
        begin = self.index.offsets + HEAD_BYTES
        offsets, lengths = (begin, images) if what == "image" else (begin + images, masks)
        base, versions = self.index.base, self.index.versions
        return Index(self._names, self.index.files, offsets, lengths, base=base, versions=versions)

    def values(self, name: str) -> Ragged | None:
        found = [table.values(name) for table in self._tables]
        known = [column for column in found if column is not None]
        if len(known) < len(found):
            return None
        before = np.cumsum([0, *(len(column.rows) for column in known)])
        starts = [column.starts[:-1] + first for column, first in zip(known, before, strict=False)]
        return Ragged(np.concatenate([column.rows for column in known]), np.concatenate([*starts, before[-1:]]))

    def size(self, number: int) -> int:
        return int(self.index.lengths[number])

    @property
    def layout(self) -> str:
        packed = sum(int((table.columns["codebook"] != 0).sum()) for table in self._tables)
        return f"{packed} of {len(self)} images packed"

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self._names)

    def _opened(self, name: str, stat: storage.FileStat | None) -> _Opened:
        """Scan a file and register its codebooks, whose bytes are not kept; `stat` is known of files at addresses."""
        size = storage.stat(name).size if stat is None else stat.size
        read = partial(self._ranges.read, name) if stat is None else _read_ends(name, size)
        file = scan(name, read, size=size)
        codebooks, wrong = _registered(file)
        return _Opened(file.table.without_codebooks(), codebooks, (*file.faults, *wrong))

    def _place(self, number: int) -> tuple[int, int]:
        return int(self.index.files[number]), int(self._within[number])

    def _restored(self, file: int, head: Head, image: bytes) -> bytes:
        if not head.codebook:
            return image
        if head.codebook not in self._codebooks[file]:
            raise DataError(f"the image is packed with codebook {head.codebook:016x}, which the file does not have")
        restored = codec.restore(image)
        if (len(restored), crc(restored)) != (head.original_length, head.original_crc):
            raise DataError("the restored image does not match the checksum of the original")
        return restored

    def _lengths(self, part: str) -> Array:
        return self._joined([table.columns[f"{part}_length"] for table in self._tables])

    @staticmethod
    def _joined(columns: Sequence[Array]) -> Array:
        return np.concatenate([np.empty(0, np.int64), *(column.view(np.int64) for column in columns)])


def _read_ends(name: str, size: int) -> Read:
    """Return a function that reads a pack at an address, whose header, index and footer are requested together.

    The index takes about a hundredth of a pack. If it is longer than what was requested, another request follows.
    """
    begin, end = min(_START, size), max(size - size // 64 - _END, 0)
    bounds = [(0, size)] if end <= begin else [(0, begin), (end, size)]
    parts = storage.together(lambda part: storage.read_range(name, part[0], part[1] - part[0], size=size), bounds)

    def read(offset: int, length: int) -> bytes:
        for (first, last), data in zip(bounds, parts, strict=True):
            if first <= offset and min(offset + length, size) <= last:
                return data[offset - first : offset - first + length]
        return storage.read_range(name, offset, length, size=size)

    return read


class _Opened(NamedTuple):
    table: Table
    codebooks: frozenset[int]
    faults: tuple[RecordFault, ...]


def _registered(file: PackFile) -> tuple[frozenset[int], list[RecordFault]]:
    """Register the codebooks of a file; return the identities of those that can be used, and what is wrong."""
    known: set[int] = set()
    wrong = []
    for identity, data in file.codebooks.items():
        try:
            own = codec.register(data).identity
            if own != identity:
                raise DataError(f"the codebook {own:016x} is named {identity:016x}")
            known.add(identity)
        except DataError as error:
            wrong.append(RecordFault(file.path, -1, 0, 0, "corrupt", str(error)))
    return frozenset(known), wrong
