"""The frames of TFRecord files: a length, its checksum, the payload and the checksum of the payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from pixelmill import _core
from pixelmill.formats import example
from pixelmill.formats.example import Feature
from pixelmill.formats.record_writer import GatheringWriter

HEAD = 12  # bytes before the payload: its length and the checksum of that
TAIL = 4  # bytes after the payload: its checksum
FRAME = HEAD + TAIL

RECORD_BYTES = 1 << 30  # longest payload that is read


def frame(payload: bytes) -> bytes:
    """Return a payload as a record: with its length and both checksums."""
    head, tail = _core.tfrecord_frame(len(payload), _core.crc32c(payload))
    return b"".join((head, payload, tail))


class RecordWriter(GatheringWriter):
    """Writes records to a stream."""

    def write(self, payload: bytes | Sequence[bytes]) -> tuple[int, int]:
        """Write a record; a payload in pieces is not joined first.

        Returns:
            The offset of the record, and its length including the frame.
        """
        is_whole = isinstance(payload, (bytes, bytearray, memoryview))
        return self._output.tfrecord((cast(bytes, payload),) if is_whole else cast(Sequence[bytes], payload))

    def write_example(self, features: Mapping[str, Feature]) -> tuple[int, int]:
        """Encode and write an Example; see `example.encode`."""
        try:
            return self._output.example(*example.parts(features))
        except TypeError as error:
            raise example.not_written(error) from None
