"""The npy format of NumPy: one array in a file. Object arrays are refused, and headers are never evaluated."""

from __future__ import annotations

import ast
import math
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from pixelmill.errors import ArgumentError, DataError

MAGIC = b"\x93NUMPY"
LARGEST_HEADER = 1 << 16
LARGEST_NDIM = 32

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class NpyHeader:
    """The header of an npy file.

    Attributes:
        dtype: The type of the elements, with their byte order.
        shape: The extents.
        fortran: Whether the first axis varies fastest.
        data_offset: The offset of the first element.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    data_offset: int

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(source: bytes | BinaryIO) -> NpyHeader:
    """Read the header of an npy file from its bytes, or from an open file at its start."""
    start = source[:12] if isinstance(source, bytes) else source.read(12)
    if start[:6] != MAGIC:
        raise DataError(f"npy: the file does not begin with {MAGIC!r} but with {start[:6]!r}")
    if len(start) < 10:
        raise DataError(f"npy: the file ends inside its header, after {len(start)} bytes")
    major, minor = start[6], start[7]
    if (major, minor) not in ((1, 0), (2, 0), (3, 0)):
        raise DataError(f"npy: version {major}.{minor} is not supported; 1.0, 2.0 and 3.0 are")
    if major > 1 and len(start) < 12:
        raise DataError(f"npy: the file ends inside its header, after {len(start)} bytes")
    begin = 10 if major == 1 else 12
    (length,) = struct.unpack_from("<H" if major == 1 else "<I", start, 8)
    if length > LARGEST_HEADER:
        raise DataError(f"npy: a header of {length} bytes; the limit is {LARGEST_HEADER}")
    end = begin + length
    text = source[begin:end] if isinstance(source, bytes) else start[begin:] + source.read(end - 12)
    text = text[:length]
    if len(text) < length:
        raise DataError(f"npy: the file ends inside its header, {length - len(text)} bytes are missing")
    return _parsed(text.decode("utf-8" if major == 3 else "latin1", "replace"), end)


def decode(data: bytes) -> Array:
    """Return the array of an npy file."""
    header = read_header(data)
    present = len(data) - header.data_offset
    if header.nbytes != present:
        raise DataError(
            f"npy: {header.shape} elements of {header.dtype} take {header.nbytes} bytes, but {present} exist"
        )
    flat = np.frombuffer(data, header.dtype, math.prod(header.shape), header.data_offset)
    array = flat.reshape(header.shape, order="F" if header.fortran else "C")
    return array.astype(array.dtype.newbyteorder("="), order="C")


def encode(array: Array) -> bytes:
    """Return the npy file of an array: version 1.0, C order, elements aligned to 64 bytes."""
    if array.dtype.hasobject or array.dtype.names is not None:
        raise ArgumentError(f"npy: arrays of numbers only, got {array.dtype}")
    array = np.asarray(array, order="C")
    fields = f"{{'descr': {array.dtype.str!r}, 'fortran_order': False, 'shape': {array.shape!r}, }}"
    padding = -(10 + len(fields) + 1) % 64
    text = f"{fields}{' ' * padding}\n".encode("latin1")
    return MAGIC + bytes((1, 0)) + struct.pack("<H", len(text)) + text + array.tobytes()


def _parsed(text: str, offset: int) -> NpyHeader:
    if "\0" in text or "\\" in text or text.count("(") + text.count("[") + text.count("{") > 8:
        raise DataError(f"npy: the header is not that of a plain array: {text[:80]!r}")
    try:
        fields = ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise DataError(f"npy: the header is not a dictionary: {text[:80]!r}") from None
    if not isinstance(fields, dict) or fields.keys() != {"descr", "fortran_order", "shape"}:
        raise DataError(f"npy: the header must hold descr, fortran_order and shape: {text[:80]!r}")
    shape, fortran = fields["shape"], fields["fortran_order"]
    if not isinstance(shape, tuple) or len(shape) > LARGEST_NDIM or not all(_is_extent(n) for n in shape):
        raise DataError(f"npy: the shape must be up to {LARGEST_NDIM} numbers of 0 or more, got {str(shape)[:80]}")
    if not isinstance(fortran, bool):
        raise DataError(f"npy: fortran_order must be True or False, got {str(fortran)[:80]}")
    return NpyHeader(_dtype(fields["descr"]), shape, fortran, offset)


def _is_extent(number: Any) -> bool:
    return type(number) is int and 0 <= number < 2**63


def _dtype(descr: Any) -> np.dtype[Any]:
    kinds = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}
    order, kind, size = (descr[:1], descr[1:2], descr[2:]) if isinstance(descr, str) else ("", "", "")
    known = order in ("<", ">", "|", "=") and size.isascii() and size.isdigit() and len(size) < 3
    if not known or int(size) not in kinds.get(kind, ()):
        raise DataError(f"npy: only arrays of numbers are read, not objects; the header says {str(descr)[:80]!r}")
    dtype: np.dtype[Any] = np.dtype(descr)
    return dtype
