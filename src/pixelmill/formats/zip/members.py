"""The members of a zip archive, and reading their content."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

from pixelmill.errors import DataError, Event
from pixelmill.formats.faults import FaultKind
from pixelmill.formats.zip.frames import DEFLATED

LARGEST_MEMBER = 1 << 30
# As for gzip files: DEFLATE reaches 1,030, photos have 1, raw masks some tens.
RATIO = 200
ALLOWANCE = 64 << 20  # unpacked bytes that are never taken for a bomb


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive.

    Attributes:
        name: Its path.
        header: The offset of its local header.
        offset: The offset of its content.
        packed: The bytes of the content in the archive.
        size: The bytes of the content.
        crc: The CRC-32 of the content.
        method: How the content is packed: `STORED` or `DEFLATED`.
    """

    name: str
    header: int
    offset: int
    packed: int
    size: int
    crc: int
    method: int

    @property
    def end(self) -> int:
        """The offset of the end of its content."""
        return self.offset + self.packed


def unpacked(member: Member, read: Callable[[int, int], bytes]) -> bytes:
    """Read the content of a member and verify its size and checksum.

    Args:
        member: The member.
        read: Reads bytes of the archive: offset and length.

    Raises:
        DataError: The content is damaged; the event says how.
    """
    data = read(member.offset, member.packed)
    if len(data) != member.packed:
        raise damaged(member, "truncated", f"{member.packed} bytes are declared, but only {len(data)} exist")
    if member.method == DEFLATED:
        data = _inflated(member, data)
    if zlib.crc32(data) != member.crc:
        raise damaged(member, "checksum", "the CRC-32 of the content does not match")
    return data


def _inflated(member: Member, data: bytes) -> bytes:
    stream = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    try:
        # One byte more than declared shows that there is more, without unpacking all of a bomb.
        content = stream.decompress(data, member.size + 1)
    except zlib.error as error:
        raise damaged(member, "corrupt", str(error)) from None
    if len(content) != member.size or not stream.eof or stream.unused_data:
        raise damaged(member, "corrupt", f"the content does not unpack to the declared {member.size} bytes")
    return content


def damaged(member: Member, kind: FaultKind, message: str) -> DataError:
    """Return the error for a member that cannot be used."""
    text = f"{member.name}: {message}"
    return DataError(f"zip: {text}", (Event(kind, text, sample=0, epoch=0, offset=member.header),))
