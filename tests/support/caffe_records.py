"""Records of Caffe and Caffe2, written field by field, and the LMDB databases that hold them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from peers import peer

lmdb = peer("lmdb")


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    written = b""
    while number > 127:
        written += bytes([number & 127 | 128])
        number >>= 7
    return written + bytes([number])


def number_field(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def bytes_field(field: int, value: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(value)) + value


def datum(
    data: bytes, label: int | None = None, *, encoded: bool | None = True, shape: tuple[int, int, int] | None = None
) -> bytes:
    """Write Caffe's Datum."""
    written = b""
    if shape is not None:
        written += number_field(1, shape[2]) + number_field(2, shape[0]) + number_field(3, shape[1])
    written += bytes_field(4, data)
    written += b"" if label is None else number_field(5, label)
    return written + (b"" if encoded is None else number_field(7, int(encoded)))


def tensor(
    dims: Sequence[int] = (),
    kind: int = 1,
    *,
    floats: Sequence[float] = (),
    ints: Sequence[int] = (),
    packed: bool = True,
    string: bytes | None = None,
    data: bytes | None = None,
) -> bytes:
    """Write Caffe2's TensorProto."""
    written = b"".join(number_field(1, extent) for extent in dims) + number_field(2, kind)
    if floats and packed:
        written += bytes_field(3, struct.pack(f"<{len(floats)}f", *floats))
    elif floats:
        written += b"".join(varint(3 << 3 | 5) + struct.pack("<f", value) for value in floats)
    if ints and packed:
        written += bytes_field(4, b"".join(map(varint, ints)))
    elif ints:
        written += b"".join(number_field(4, value) for value in ints)
    written += b"" if data is None else bytes_field(5, data)
    return written + (b"" if string is None else bytes_field(6, string))


def tensors(*parts: bytes) -> bytes:
    """Write Caffe2's TensorProtos."""
    return b"".join(bytes_field(1, part) for part in parts)


def write_database(path: Path, records: Sequence[bytes]) -> str:
    with lmdb.open(str(path), map_size=1 << 28) as environment, environment.begin(write=True) as transaction:
        for number, record in enumerate(records):
            transaction.put(b"%08d" % number, record)
    return str(path)
