"""The records of Caffe and Caffe2 in LMDB databases: where the bytes of images are, and their labels."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats.index import Array, Index, Ragged
from pixelmill.formats.lmdb import tree
from pixelmill.formats.lmdb.datum import Datum, checked_shape
from pixelmill.formats.lmdb.fields import BYTES, VARINT, MessageError, fields, int32, varint

_FLOAT, _INT32 = 1, 2  # data types of Caffe2's TensorProto


@dataclass
class Record:
    """What a record says.

    Attributes:
        start: The first byte of its image.
        length: The number of bytes of its image.
        shape: The shape of an image that is not encoded.
        arrays: Its other values: the label, and further tensors of Caffe2; None for one that is missing.
    """

    start: int = 0
    length: int = 0
    shape: tuple[int, ...] | None = None
    arrays: list[Array | None] = field(default_factory=list)


Parse = Callable[[memoryview, int, int], Record]


def open_records(paths: Sequence[str], parse: Parse, *, columns: Sequence[str]) -> Index:
    """Index the records of databases.

    The index has the images as its part `image`, their shapes as the column `shape` if they are not encoded, and the
    other values as `columns`. A damaged record is lost, not the others.

    Args:
        paths: The folders of the databases.
        parse: Reads a message between two places of the file.
        columns: The names of the values after the image.
    """
    files: list[int] = []
    places: list[tree.Value] = []
    records: list[Record] = []
    lost: dict[int, tuple[str, str]] = {}
    for number, path in enumerate(paths):
        with tree.opened(path) as memory:
            for value in tree.values(memory, path):
                try:
                    records.append(parse(memory, value.offset, value.offset + value.length))
                except (MessageError, IndexError, struct.error) as error:
                    lost[len(places)] = ("corrupt", f"the record {value.key.decode('utf-8', 'replace')!r}: {error}")
                    records.append(Record(arrays=[None] * len(columns)))
                files.append(number)
                places.append(value)
    if not places:
        raise DataError(f"lmdb: there is no record in {', '.join(paths)}")
    numbers = np.array(files, np.int64)
    names = [tree.data_file(path) for path in paths]
    starts = np.array([record.start for record in records], np.int64)
    image = Index(names, numbers, starts, np.array([record.length for record in records], np.int64), lost=lost)
    table: dict[str, Array | Ragged] = {
        name: _column(name, [record.arrays[place] for record in records]) for place, name in enumerate(columns)
    }
    shapes = [record.shape for number, record in enumerate(records) if number not in lost]
    if any(shape is not None for shape in shapes):
        table["shape"] = _shapes(shapes, paths, len(records))
    offsets = np.array([value.offset for value in places], np.int64)
    lengths = np.array([value.length for value in places], np.int64)
    return Index(names, numbers, offsets, lengths, columns=table, parts={"image": image}, lost=lost)


def _shapes(shapes: list[tuple[int, ...] | None], paths: Sequence[str], count: int) -> Array:
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or len({len(shape) for shape in known}) > 1:
        raise DataError(f"lmdb: {', '.join(paths)}: some images are encoded and others are not; split the database")
    if len(known) < count:  # lost records have no shape; their items are never read
        known += [known[0]] * (count - len(known))
    return np.array(known, np.int64)


def _column(name: str, rows: list[Array | None]) -> Array | Ragged:
    known = [row for row in rows if row is not None]
    kinds = {row.dtype for row in known} or {np.dtype(np.int32)}
    if len(kinds) > 1:
        raise DataError(f"lmdb: {name} is of type float in some records and of type int32 in others")
    dtype = kinds.pop()
    if len(known) == len(rows) and len({row.shape for row in known}) == 1:
        return np.stack(known)
    return Ragged.of([np.empty(0, dtype) if row is None else row for row in rows], dtype=dtype)


def parse_datum(memory: memoryview, start: int, end: int) -> Record:
    """Parse Caffe's Datum: an image and a label."""
    datum = Datum.parse(memory, start, end)
    record = Record(datum.start, datum.length, arrays=[None])
    if datum.label is not None:
        record.arrays = [np.array([datum.label], np.int32)]
    if datum.encoded is False:
        channels, height, width = datum.extents
        record.shape = checked_shape((height, width, channels), datum.length)  # the order that DALI returns
    return record


@dataclass(frozen=True)
class TensorsParser:
    """Parses Caffe2's TensorProtos.

    Attributes:
        image: Whether the first tensor is the image.
        label_type: 0 for one integer, 1 for indices of labels, 2 for a vector, 3 for indices and weights, 4 for none.
        num_labels: The length of the vector that indices become.
        further: The number of tensors after image and label.
    """

    image: bool
    label_type: int
    num_labels: int
    further: int

    def __call__(self, memory: memoryview, start: int, end: int) -> Record:
        tensors = [
            _Tensor.parse(memory, first, last)
            for number, kind, first, last in fields(memory, start, end)
            if number == 1 and kind == BYTES
        ]
        record = Record()
        if self.image:
            image = tensors.pop(0)
            record.start, record.length = image.start, image.length
            record.shape = None if image.encoded else checked_shape(tuple(image.dims), image.length)
        if self.label_type == 0:
            record.arrays.append(tensors.pop(0).array()[:1])
        elif self.label_type == 2:
            record.arrays.append(tensors.pop(0).array())
        elif self.label_type in (1, 3):
            record.arrays.append(self._vector(tensors))
        record.arrays += [tensors.pop(0).array() for _ in range(self.further)]
        return record

    def _vector(self, tensors: list[_Tensor]) -> Array:
        indices = tensors.pop(0).array()
        if indices.size and not 0 <= indices.min() <= indices.max() < self.num_labels:
            raise MessageError(f"the labels {indices.tolist()} are not all below num_labels={self.num_labels}")
        if self.label_type == 1:
            vector: Array = np.zeros(self.num_labels, np.int32)
            vector[indices] = 1
            return vector
        weights = tensors.pop(0).array()
        if weights.shape != indices.shape:
            raise MessageError(f"{indices.size} labels have {weights.size} weights")
        vector = np.zeros(self.num_labels, np.float32)
        vector[indices] = weights
        return vector


@dataclass
class _Tensor:
    """Caffe2's TensorProto: bytes, or numbers of one type."""

    dims: list[int] = field(default_factory=list)
    kind: int = _FLOAT
    floats: list[float] = field(default_factory=list)
    ints: list[int] = field(default_factory=list)
    start: int = 0
    length: int = 0
    encoded: bool = False

    @classmethod
    def parse(cls, memory: memoryview, start: int, end: int) -> _Tensor:
        tensor = cls()
        for number, kind, first, last in fields(memory, start, end):
            if number in (1, 4):
                target = tensor.dims if number == 1 else tensor.ints
                if kind == VARINT:
                    target.append(int32(first))
                while kind == BYTES and first < last:
                    value, first = varint(memory, first, last)
                    target.append(int32(value))
            elif number == 2 and kind == VARINT:
                tensor.kind = first
            elif number == 3:
                tensor.floats += struct.unpack(f"<{(last - first) // 4}f", memory[first:last])
            elif number in (5, 6) and kind == BYTES:
                tensor.start, tensor.length, tensor.encoded = first, last - first, number == 6
        return tensor

    def array(self) -> Array:
        """Return its numbers."""
        if self.kind == _INT32:
            return np.array(self.ints, np.int32)
        if self.kind == _FLOAT:
            return np.array(self.floats, np.float32)
        raise MessageError(f"a tensor of the type {self.kind}, neither float (1) nor int32 (2)")
