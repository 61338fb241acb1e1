"""Caffe's Datum, the record of most LMDB databases of images, and the fields that we add to it.

| field | what |
|---|---|
| 1, 2, 3 | channels, height and width of an image that is not encoded |
| 4 | the encoded image, or its pixels |
| 5 | the label, an int32 |
| 6 | pixels that are floats |
| 7 | whether the image is encoded |
| 1000 | ours: the mask, encoded |
| 1001 | ours: a row of annotations, JSON |
| 1002 | ours: CRC-32C of the key and of all bytes before this field, which is the last |

Programs that read Datums ignore fields that they do not know.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from pixelmill import _core
from pixelmill.formats.lmdb.fields import BYTES, FOUR, VARINT, MessageError, bytes_head, fields, int32, number_field

_EXTENTS = (1, 2, 3)
_DATA, _LABEL, _FLOATS, _ENCODED = 4, 5, 6, 7
_MASK, _ROW, _CHECKSUM = 1000, 1001, 1002
_KINDS = {
    **dict.fromkeys((*_EXTENTS, _LABEL, _ENCODED), (VARINT,)),
    **dict.fromkeys((_DATA, _MASK, _ROW), (BYTES,)),
    _FLOATS: (BYTES, FOUR),
    _CHECKSUM: (FOUR,),
}
_CHECKSUM_HEAD = b"\xd5\x3e"  # field 1002, four bytes
INT32 = 1 << 31


@dataclass
class Datum:
    """What a record says, and where.

    Attributes:
        start: The first byte of the image.
        length: The number of its bytes.
        label: The label; None if there is none.
        encoded: Whether the image is encoded; None if the record does not say.
        extents: Channels, height and width of an image that is not encoded.
        floats: Whether pixels are floats, outside of `start` and `length`.
        mask: First byte and end of the mask; None if there is none.
        row: The same for the row of annotations.
        checksum: The first byte of the checksum; None if there is none.
        known: Whether there is an image, and no field but those of the table above.
    """

    start: int = 0
    length: int = 0
    label: int | None = None
    encoded: bool | None = None
    extents: tuple[int, int, int] = (0, 0, 0)
    floats: bool = False
    mask: tuple[int, int] | None = None
    row: tuple[int, int] | None = None
    checksum: int | None = None
    known: bool = False

    @classmethod
    def parse(cls, memory: memoryview, start: int, end: int, *, head: bool = False) -> Datum:
        """Parse the message between two places. The checksum is not verified.

        Args:
            memory: The bytes; with `head`, they may end before `end`.
            start: The first byte of the message.
            end: Its end.
            head: Whether to stop at the image.

        Raises:
            MessageError: The message is damaged.
        """
        datum, extents = cls(known=True), [0, 0, 0]
        for number, kind, first, last in fields(memory, start, end):
            if kind not in _KINDS.get(number, ()):
                datum.known = False
            elif number in _EXTENTS:
                extents[number - 1] = int32(first)
            elif number == _LABEL:
                datum.label = int32(first)
            elif number == _ENCODED:
                datum.encoded = bool(first)
            elif number == _DATA:
                datum.start, datum.length = first, last - first
                if head:
                    break
            else:
                datum._add(number, first, last, is_last=last == end)
        datum.extents = (extents[0], extents[1], extents[2])
        datum.known &= bool(datum.start) or datum.floats
        return datum

    def _add(self, number: int, first: int, last: int, *, is_last: bool) -> None:
        if number == _MASK:
            self.mask = first, last
        elif number == _ROW:
            self.row = first, last
        elif number == _FLOATS:
            self.floats = True
        elif is_last:
            self.checksum = first

    @property
    def is_encoded(self) -> bool:
        """Whether the image is encoded. One that does not say so is, unless it has exactly the bytes of its pixels."""
        return math.prod(self.extents) != self.length if self.encoded is None else self.encoded

    def is_intact(self, key: bytes, memory: memoryview) -> bool:
        """Whether the checksum, if there is one, is that of the key and of the message that begins with `memory`."""
        if self.checksum is None:
            return True
        place = self.checksum
        (expected,) = struct.unpack_from("<I", memory, place)
        return _core.crc32c(memory[: place - len(_CHECKSUM_HEAD)], _core.crc32c(key)) == int(expected)


def encode(key: bytes, image: bytes, *, label: int | None, mask: bytes | None, row: bytes) -> bytes:
    """Encode the record of a key. What describes the image comes before it, so that it can be read alone."""
    pieces = [] if label is None else [number_field(_LABEL, label)]
    pieces.append(number_field(_ENCODED, 1))
    for number, content in ((_ROW, row), (_DATA, image), (_MASK, mask or b"")):
        if content or number == _DATA:
            pieces += [bytes_head(number, len(content)), content]
    record = b"".join(pieces)
    return b"".join((record, _CHECKSUM_HEAD, struct.pack("<I", _core.crc32c(record, _core.crc32c(key)))))


def checked_shape(shape: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Return the shape of pixels; MessageError if it does not have so many bytes."""
    if any(extent < 0 for extent in shape) or math.prod(shape) != length:
        raise MessageError(f"{length} bytes of pixels do not have the shape {shape}")
    return shape
