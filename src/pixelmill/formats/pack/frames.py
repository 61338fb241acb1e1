"""The fixed structures of a pack file: header, codebooks, the head of a sample, footer.

docs/pack-format.md describes the file byte by byte. All numbers are little-endian, and every byte of a file is covered
by a CRC-32C or must be zero.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pixelmill import _core
from pixelmill.errors import DataError

Read = Callable[[int, int], bytes]  # offset and length; shorter where the file ends

VERSION = 1
MAGIC = b"\x89PMPACK\n"
SAMPLE = b"\x89PMSMPL\n"
FOOTER = b"\x89PMTAIL\n"
ALIGNMENT = 32  # of images and sections: one AVX2 register

PART_BYTES = 1 << 30  # longest image, mask or message that is written and read
MOST_CODEBOOKS = 255
CODEBOOK_BYTES = 1 << 20

_CRC = struct.Struct("<I")
_HEADER = struct.Struct("<8sIIQI32x")  # magic, version, codebooks, bytes of the header, CRC of the codebooks
_CODEBOOK = struct.Struct("<QQ16x")  # identity, bytes
_HEAD = struct.Struct("<8sQQQQQIIIIIII16x")  # magic, number, and the fields of `Head`
_FOOTER = struct.Struct("<8sIIQQQQ12x")  # magic, version, and the fields of `Footer`

HEADER_BYTES = _HEADER.size + _CRC.size
HEAD_BYTES = _HEAD.size + _CRC.size
FOOTER_BYTES = _FOOTER.size + _CRC.size


class Head(NamedTuple):
    """The lengths and checksums of the parts of a sample.

    Attributes:
        image_length: Bytes of the image as stored.
        original_length: Bytes of the image file that it stands for.
        codebook: The codebook that the image is packed with; 0 for an image that is stored as it is.
        mask_length: Bytes of the mask; 0 without one.
        row_length: Bytes of the annotations.
        features_length: Bytes of the other features; 0 without any.
        image_crc: CRC of the image as stored.
        original_crc: CRC of the image file that it stands for.
        mask_crc: CRC of the mask.
        row_crc: CRC of the annotations.
        features_crc: CRC of the other features.
    """

    image_length: int
    original_length: int
    codebook: int
    mask_length: int
    row_length: int
    features_length: int
    image_crc: int
    original_crc: int
    mask_crc: int
    row_crc: int
    features_crc: int

    @property
    def parts(self) -> tuple[tuple[str, int, int], ...]:
        """Name, length and CRC of each part, in file order."""
        return (
            ("image", self.image_length, self.image_crc),
            ("mask", self.mask_length, self.mask_crc),
            ("annotations", self.row_length, self.row_crc),
            ("features", self.features_length, self.features_crc),
        )

    @property
    def size(self) -> int:
        """Bytes of the whole sample, with head and padding."""
        return aligned(HEAD_BYTES + sum(length for _, length, _ in self.parts))

    def encode(self, number: int) -> bytes:
        """Return the head of a sample; `number` is its number in the file."""
        return _sealed(_HEAD.pack(SAMPLE, number, *self))

    @classmethod
    def decode(cls, data: bytes) -> tuple[int, Head] | None:
        """Return number and fields of a head, or None if the bytes are not an intact one of possible lengths."""
        if len(data) != HEAD_BYTES or not data.startswith(SAMPLE) or not _is_sealed(data):
            return None
        _, number, *fields = _HEAD.unpack_from(data)
        head = cls(*fields)
        return (number, head) if max(length for _, length, _ in head.parts) <= PART_BYTES else None


class Footer(NamedTuple):
    """Where the index lies.

    Attributes:
        index_crc: CRC of the index.
        index_offset: Its first byte.
        index_length: Its bytes.
        samples: Number of samples.
        file_size: Bytes of the whole file.
    """

    index_crc: int
    index_offset: int
    index_length: int
    samples: int
    file_size: int

    def encode(self) -> bytes:
        """Return the last bytes of a file."""
        return _sealed(_FOOTER.pack(FOOTER, VERSION, *self))

    @classmethod
    def decode(cls, data: bytes, *, size: int) -> Footer:
        """Return the footer of a file of `size` bytes; raises DataError if it is not intact."""
        if len(data) != FOOTER_BYTES or not data.startswith(FOOTER):
            raise DataError("the file does not end with a footer; it may be cut")
        if not _is_sealed(data):
            raise DataError("the checksum of the footer does not match")
        _, version, *fields = _FOOTER.unpack_from(data)
        check_version(version)
        footer = cls(*fields)
        if footer.file_size != size:
            raise DataError(f"the footer is that of a file of {footer.file_size} bytes, but there are {size}")
        if footer.index_offset % ALIGNMENT or footer.index_offset + footer.index_length + FOOTER_BYTES != size:
            raise DataError("the footer places the index where it cannot be")
        return footer


def check_parts(head: Head, data: bytes) -> dict[str, bytes]:
    """Return the parts of a sample by name; raises DataError if any is damaged.

    Args:
        head: Its lengths and checksums.
        data: The bytes after its head, with padding.
    """
    parts: dict[str, bytes] = {}
    at = 0
    for name, length, checksum in head.parts:
        piece = data[at : at + length]
        at += length
        if len(piece) != length:
            raise DataError(f"{name}: {length} bytes are declared, but only {len(piece)} exist")
        if crc(piece) != checksum:
            raise DataError(f"{name}: the checksum does not match")
        parts[name] = piece
    if data[at:].strip(b"\0"):
        raise DataError("the padding is not zero")
    return parts


def aligned(length: int) -> int:
    """Round up to a multiple of the alignment."""
    return -(-length // ALIGNMENT) * ALIGNMENT


def crc(data: bytes) -> int:
    """Return the CRC-32C of bytes."""
    return _core.crc32c(data)


def check_version(version: int) -> None:
    """Raise DataError for a version that is not known."""
    if version != VERSION:
        raise DataError(f"version {version} of the format is not known, only {VERSION}; update pixelmill")


def encode_header(codebooks: Mapping[int, bytes]) -> bytes:
    """Return the first bytes of a file: the fixed part, then codebooks by identity."""
    section = b"".join(
        _padded(_CODEBOOK.pack(identity, len(data)) + data) for identity, data in sorted(codebooks.items())
    )
    length = HEADER_BYTES + len(section)
    return _sealed(_HEADER.pack(MAGIC, VERSION, len(codebooks), length, crc(section))) + section


def header_length(start: bytes) -> int:
    """Return the bytes of a header by its fixed part; raises DataError if that is not intact."""
    if not start.startswith(MAGIC):
        raise DataError(f"the file does not begin with {MAGIC!r} but with {start[:8]!r}")
    if len(start) != HEADER_BYTES or not _is_sealed(start):
        raise DataError("the checksum of the header does not match")
    _, version, count, length, _ = _HEADER.unpack_from(start)
    check_version(version)
    if count > MOST_CODEBOOKS or not HEADER_BYTES <= length <= HEADER_BYTES + count * (CODEBOOK_BYTES + ALIGNMENT):
        raise DataError(f"a header of {length} bytes cannot hold {count} codebooks")
    return int(length)


def decode_header(data: bytes) -> dict[int, bytes]:
    """Return the codebooks of a header by identity; raises DataError if it is not intact."""
    if len(data) < HEADER_BYTES or len(data) != header_length(data[:HEADER_BYTES]):
        raise DataError("the file ends inside its header")
    _, _, count, _, checksum = _HEADER.unpack_from(data)
    section = data[HEADER_BYTES:]
    if crc(section) != checksum:
        raise DataError("the checksum of the codebooks does not match")
    found: dict[int, bytes] = {}
    at = 0
    for _ in range(count):
        if at + _CODEBOOK.size > len(section):
            raise DataError("the codebooks end before their section does")
        identity, length = _CODEBOOK.unpack_from(section, at)
        begin, at = at + _CODEBOOK.size, at + aligned(_CODEBOOK.size + length)
        if length > CODEBOOK_BYTES or at > len(section):
            raise DataError(f"a codebook of {length} bytes does not fit into its section")
        found[identity] = section[begin : begin + length]
    if at != len(section) or len(found) != count or encode_header(found) != data:
        raise DataError("the codebooks do not fill their section in order")
    return found


def _padded(data: bytes) -> bytes:
    return data + bytes(aligned(len(data)) - len(data))


def _sealed(data: bytes) -> bytes:
    return data + _CRC.pack(crc(data))


def _is_sealed(data: bytes) -> bool:
    return data[-_CRC.size :] == _CRC.pack(crc(data[: -_CRC.size]))
