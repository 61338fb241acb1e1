"""LMDB databases as a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.example import Example, bytes_feature
from pixelmill.formats.faults import numbers
from pixelmill.formats.index import Index
from pixelmill.formats.lmdb import tree
from pixelmill.formats.lmdb.datum import Datum
from pixelmill.formats.lmdb.fields import MessageError
from pixelmill.formats.lmdb.keys import KeyTable
from pixelmill.formats.lmdb.records import described, sample_of
from pixelmill.formats.lmdb.scan import scan
from pixelmill.formats.record_files import check_sources
from pixelmill.formats.sample import Sample

_START = 1024  # bytes that hold what stands before the image in most Datums
_LAYOUTS = {"image": "encoded images by key", "datum": "Caffe Datums", "example": "tf.train.Examples"}
_FEATURE = "lmdb/"  # prefix of the features that hold values of other keys


class LMDBDataset(Dataset):
    """The values of one or several databases, in the order of their keys.

    Args:
        source: The dataset as the user named it.
        files: The databases: their files, or the folders that hold `data.mdb`.
    """

    format = "lmdb"

    def __init__(self, source: str, *, files: Sequence[str]) -> None:
        self.source = source
        self._names = [tree.data_file(name) for name in check_sources(files, format="lmdb")]
        paths = storage.local_paths(self._names)
        contents = [scan(path, shown=name) for path, name in zip(paths, self._names, strict=True)]
        values = [value for content in contents for value in content.values]
        self._keys = KeyTable(value.key for value in values)
        self._beside = [content.beside for content in contents]
        self._kinds = sorted({kind for content in contents for kind in content.kinds})
        self._has_pixels = any(content.has_pixels for content in contents)
        self.remarks = _remarks([key for content in contents for key in content.others], self._has_pixels)
        self.index = Index(
            paths,
            np.repeat(np.arange(len(paths), dtype=np.int64), [len(content.values) for content in contents]),
            numbers([value.offset for value in values]),
            numbers([value.length for value in values]),
            names=self._names,
        )

    def sample(self, number: int) -> Sample:
        key = self._keys[number]
        path, offset = self.place(number)
        beside = self._beside[int(self.index.files[number])].get(key, ())
        try:
            value = self._ranges.read(path, offset or 0, int(self.index.lengths[number]))
            found = [(name, self._ranges.read(path, *place)) for name, place in beside]
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        try:
            sample = sample_of(key, value)
        except DataError as error:
            message = error.events[0].message if error.events else str(error)
            raise self.error(number, "corrupt", f"the value of {key[:60]!r}: {message}") from None
        if not found:
            return sample
        return replace(sample, extra=Example({_FEATURE + name: bytes_feature(content) for name, content in found}))

    def description(self, number: int) -> Sample:
        """Read what stands before and after the image of a Datum."""
        path, offset = self.place(number)
        first, length = offset or 0, int(self.index.lengths[number])
        if self._kinds != ["datum"]:
            return self.sample(number)
        try:
            start = self._ranges.read(path, first, min(length, _START))
            datum = Datum.parse(memoryview(start), 0, length, head=True)
            end = datum.start + datum.length
            rest = self._ranges.read(path, first + end, length - end)
            after = Datum.parse(memoryview(rest), 0, len(rest))
        except (OSError, MessageError, IndexError):
            return self.sample(number)
        if not datum.start or after.row or after.start or (datum.row and datum.row[1] > len(start)):
            return self.sample(number)
        datum.label = datum.label if after.label is None else after.label
        return described(self._keys[number], datum, memoryview(start), image=b"")

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        if self._kinds == ["image"]:
            lengths = self.index.lengths if what == "image" else np.zeros_like(self.index.lengths)
            return replace(self.index, lengths=lengths)
        return self._in_datums(what) if self._kinds == ["datum"] and not self._has_pixels else None

    def _in_datums(self, what: BytesColumn) -> Index | None:
        """Find the images or masks of Datums; None if some are pixels."""
        starts, lengths = self.index.offsets.copy(), np.zeros_like(self.index.lengths)
        lost: dict[int, tuple[str, str]] = {}
        for file, path in enumerate(self.index.paths):
            with tree.opened(storage.anchored(path, self.index.base)) as memory:
                for number in np.flatnonzero(self.index.files == file).tolist():
                    begin = int(self.index.offsets[number])
                    try:
                        found = _part(memory, begin, begin + int(self.index.lengths[number]), what)
                    except (MessageError, IndexError) as error:
                        lost[number] = ("corrupt", f"the value of {self._keys[number][:60]!r}: {error}")
                        continue
                    if found is None:
                        return None
                    starts[number], lengths[number] = found[0], found[1] - found[0]
        return replace(self.index, offsets=starts, lengths=lengths, lost=lost)

    def size(self, number: int) -> int:
        return int(self.index.lengths[number])

    @property
    def layout(self) -> str:
        if any(self._beside):
            return "images and texts by number"
        return " and ".join(_LAYOUTS[kind] for kind in self._kinds) or "no samples"

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self._names)


def _part(memory: memoryview, begin: int, end: int, what: BytesColumn) -> tuple[int, int] | None:
    """Return first byte and end of the image or mask of a Datum; None if its image is pixels."""
    datum = Datum.parse(memory, begin, end, head=what == "image")
    if datum.encoded is None:
        datum = Datum.parse(memory, begin, end)  # Caffe says it after the image
    if not datum.known:
        raise MessageError("it is not a Caffe Datum")
    if what == "mask":
        return datum.mask or (begin, begin)
    return (datum.start, datum.start + datum.length) if datum.is_encoded else None


def _remarks(others: Sequence[bytes], has_pixels: bool) -> tuple[str, ...]:
    remarks = []
    if others:
        listed = ", ".join(key.decode("utf-8", "replace") for key in others[:8])
        remarks.append(f"keys that are not samples: {listed}{', …' if len(others) > 8 else ''}")
    if has_pixels:
        remarks.append("pixels keep the order of channels in which they were written; Caffe's own tools write BGR")
    return tuple(remarks)
