"""The records of images in RecordIO files: a header with labels, followed by the encoded image."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.record_writer import GatheringWriter
from pixelmill.formats.recordio.frames import FRAME_HEAD, LARGEST_PART, LENGTH_BITS, MAGIC, WHOLE, check_length

_IMAGE_HEAD = struct.Struct("<IfQQ")


@dataclass(frozen=True)
class Header:
    """The header of a record.

    Attributes:
        labels: One label, or several.
        identifier: The number that the writer assigned to the image.
        second_identifier: A second number, nearly always zero.
    """

    labels: tuple[float, ...]
    identifier: int
    second_identifier: int = 0


def pack(labels: Sequence[float], identifier: int, image: bytes, *, second_identifier: int = 0) -> bytes:
    """Return the payload of a record: header, labels, image."""
    if len(labels) == 1:
        return _IMAGE_HEAD.pack(0, labels[0], identifier, second_identifier) + image
    if not labels:
        raise ArgumentError("recordio: a record needs at least one label")
    values = np.asarray(labels, "<f4").tobytes()
    return _IMAGE_HEAD.pack(len(labels), 0.0, identifier, second_identifier) + values + image


def unpack(record: bytes) -> tuple[Header, bytes]:
    """Split the payload of a record into its header and its image."""
    if len(record) < _IMAGE_HEAD.size:
        raise DataError(f"recordio: a record of {len(record)} bytes is shorter than its header of {_IMAGE_HEAD.size}")
    count, label, identifier, second = _IMAGE_HEAD.unpack_from(record)
    if count == 0:
        return Header((label,), identifier, second), record[_IMAGE_HEAD.size :]
    end = _IMAGE_HEAD.size + 4 * count
    if end > len(record):
        raise DataError(f"recordio: the header declares {count} labels, but the record has only {len(record)} bytes")
    labels = np.frombuffer(record, "<f4", count, _IMAGE_HEAD.size)
    return Header(tuple(labels.tolist()), identifier, second), record[end:]


def labels_of(start: bytes) -> Header | None:
    """Return the header of a record from the first bytes of its frame; None if they do not hold all of it."""
    if len(start) < FRAME_HEAD.size + _IMAGE_HEAD.size:
        return None
    magic, word = FRAME_HEAD.unpack_from(start)
    if magic != MAGIC or word >> LENGTH_BITS != WHOLE:
        return None
    length = min(word & LARGEST_PART, len(start) - FRAME_HEAD.size)
    try:
        return unpack(start[FRAME_HEAD.size : FRAME_HEAD.size + length])[0]
    except DataError:
        return None


class RecordWriter(GatheringWriter):
    """Writes records to a stream."""

    def write(self, payload: bytes) -> tuple[int, int]:
        """Write a record and return its offset and its length."""
        return self._put(b"", payload)

    def write_image(self, labels: Sequence[float], identifier: int, image: bytes) -> tuple[int, int]:
        """Write the record of an image as `pack` does, without joining its parts first."""
        return self._put(pack(labels, identifier, b""), image)

    def _put(self, head: bytes, body: bytes) -> tuple[int, int]:
        check_length(len(head) + len(body))
        return self._output.recordio(head, body)
