"""The fields of protobuf messages in place: where their bytes are, without a copy of any of them."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5  # wire types


class MessageError(ValueError):
    """The bytes are not such a message."""


def fields(memory: memoryview, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield field number, wire type, and either a number twice or the first byte and the end of its bytes."""
    while start < end:
        tag, start = varint(memory, start, end)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, start = varint(memory, start, end)
            yield number, kind, value, value
            continue
        if kind == BYTES:
            length, start = varint(memory, start, end)
        elif kind in (FOUR, EIGHT):
            length = 4 if kind == FOUR else 8
        else:
            raise MessageError(f"a field of the unknown type {kind}")
        if number == 0 or length > end - start:
            raise MessageError("a field reaches past the end of the record")
        yield number, kind, start, start + length
        start += length


def varint(memory: memoryview, start: int, end: int) -> tuple[int, int]:
    """Return the number that begins at a place, and where it ends."""
    value = shift = 0
    while start < end and shift < 70:
        byte = memory[start]
        start += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, start
        shift += 7
    raise MessageError("a number without an end")


def int32(value: int) -> int:
    """Return a number as protobuf's int32."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def encoded_varint(value: int) -> bytes:
    """Encode a number; a negative one takes ten bytes."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def number_field(number: int, value: int) -> bytes:
    """Encode a field that is a number."""
    return encoded_varint(number << 3 | VARINT) + encoded_varint(value)


def bytes_head(number: int, length: int) -> bytes:
    """Encode what stands before the bytes of a field."""
    return encoded_varint(number << 3 | BYTES) + encoded_varint(length)
