"""The frames of MXNet RecordIO.

A part is the magic word, a length word, the bytes, and zeros up to a multiple of four. The upper three bits of the
length word say whether the part is a whole record (0), or the first (1), a middle (2) or the last part (3) of one. A
payload that holds the magic word at a multiple of four is split there, and the word itself is omitted. So the word at a
multiple of four always begins a part, and a reader that lost its place finds the next record by it. There are no
checksums.
"""

from __future__ import annotations

import struct

from pixelmill import _core
from pixelmill.errors import ArgumentError, DataError

MAGIC = 0xCED7230A
MAGIC_BYTES = struct.pack("<I", MAGIC)
LENGTH_BITS = 29
LARGEST_PART = (1 << LENGTH_BITS) - 1
WHOLE, FIRST, MIDDLE, LAST = range(4)

FRAME_HEAD = struct.Struct("<II")


def frame(payload: bytes) -> bytes:
    """Return a payload as it is stored in the file."""
    check_length(len(payload))
    pieces: list[bytes] = []
    output = _core.RecordOutput(lambda piece: pieces.append(bytes(piece)))
    output.recordio(b"", payload)
    output.flush()
    return b"".join(pieces)


def check_length(length: int) -> None:
    """Raise ArgumentError if a payload is too long for a record."""
    if length > LARGEST_PART:
        raise ArgumentError(f"recordio: a record has at most {LARGEST_PART} bytes, got {length}")


def unframe(framed: bytes) -> bytes:
    """Return the payload of one record from its bytes in the file, all of which must belong to it."""
    parts: list[bytes] = []
    position = 0
    flag = FIRST
    while flag in (FIRST, MIDDLE):
        if position + FRAME_HEAD.size > len(framed):
            raise DataError(f"recordio: the record ends inside a head, after {len(framed)} bytes")
        magic, word = FRAME_HEAD.unpack_from(framed, position)
        flag, length = word >> LENGTH_BITS, word & LARGEST_PART
        begin = position + FRAME_HEAD.size
        if magic != MAGIC:
            raise DataError(f"recordio: byte {position} of the record is not the head of a part")
        if flag not in ((MIDDLE, LAST) if parts else (WHOLE, FIRST)):
            raise DataError(f"recordio: part {len(parts)} of the record has the flag {flag}")
        if length > len(framed) - begin:
            raise DataError(f"recordio: a part of {length} bytes, but only {len(framed) - begin} exist")
        parts.append(framed[begin : begin + length])
        if aligned_magic(parts[-1], most=1):
            raise DataError(
                "recordio: a part holds the magic word, so its length is wrong: writers split records there"
            )
        position = begin + length + -length % 4
    if position != len(framed):
        raise DataError(f"recordio: the record has {position} bytes, but {len(framed)} were expected")
    return MAGIC_BYTES.join(parts)


def aligned_magic(payload: bytes, *, most: int | None = None) -> list[int]:
    """Return where the magic word stands at multiples of four; at most `most` places."""
    found: list[int] = []
    position = payload.find(MAGIC_BYTES)
    while position >= 0 and len(found) != most:
        if position % 4 == 0:
            found.append(position)
        position = payload.find(MAGIC_BYTES, position + 1)
    return found
