"""Encoded images as npy files: one-dimensional arrays of their bytes."""

from __future__ import annotations

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats.npy.array_file import MAGIC, NpyHeader, encode, read_header
from pixelmill.formats.sample import image_type


def wrapped(data: bytes) -> bytes:
    """Return an encoded image as an npy file; an npy file of pixels is returned unchanged."""
    if image_type(data) == "npy" and unwrapped(data) is data:
        return data
    return encode(np.frombuffer(data, np.uint8))


def is_wrapped(header: NpyHeader) -> bool:
    """Whether an array is one of the bytes of an encoded image."""
    return header.dtype == np.uint8 and len(header.shape) == 1


def unwrapped(data: bytes) -> bytes:
    """Return the encoded image that an npy file wraps, or the file itself if it holds pixels."""
    if not data.startswith(MAGIC):
        return data
    header = read_header(data)
    if not is_wrapped(header):
        return data
    if header.nbytes != len(data) - header.data_offset:
        raise DataError(f"npy: {header.shape} bytes are declared, but {len(data) - header.data_offset} exist")
    return data[header.data_offset :]
