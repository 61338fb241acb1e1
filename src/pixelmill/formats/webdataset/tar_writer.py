"""Writes tar archives whose bytes depend on names and contents alone."""

from __future__ import annotations

from pixelmill.formats.record_writer import Writable
from pixelmill.formats.webdataset.tar import BLOCK, Member


class TarWriter:
    """Writes an archive without times and owners.

    Args:
        stream: A file open for binary writing.
    """

    def __init__(self, stream: Writable) -> None:
        self._stream = stream
        self._position = 0

    def write(self, name: str, data: bytes) -> Member:
        """Add a file."""
        encoded = name.encode("utf-8", "surrogateescape")
        start = self._position
        prefix, base = _divided(encoded)
        if base is None:
            long = encoded + b"\0"
            self._put(_header(b"././@LongLink", b"", len(long), b"L") + long + bytes(-len(long) % BLOCK))
            prefix, base = b"", encoded[:100]
        self._put(_header(base, prefix, len(data), b"0"))
        offset = self._position
        self._put(data)
        self._put(bytes(-len(data) % BLOCK))
        return Member(name, start, offset, len(data))

    def close(self) -> None:
        """Write the end blocks. The stream stays open."""
        self._put(bytes(2 * BLOCK))

    def _put(self, data: bytes) -> None:
        self._stream.write(data)
        self._position += len(data)


def _divided(name: bytes) -> tuple[bytes, bytes | None]:
    """Split a long name at a slash so that both parts fit into a header; None if there is no such slash."""
    if len(name) <= 100:
        return b"", name
    slash = name.find(b"/", len(name) - 101)
    if 0 < slash <= 155 and slash < len(name) - 1:
        return name[:slash], name[slash + 1 :]
    return b"", None


def _header(name: bytes, prefix: bytes, size: int, kind: bytes) -> bytes:
    digits = b"%011o\0" % size if size < 8**11 else b"\x80" + size.to_bytes(11, "big")
    parts = (name.ljust(100, b"\0"), b"0000644\0", b"0000000\0", b"0000000\0", digits, b"00000000000\0")
    start = b"".join(parts)
    rest = kind + bytes(100) + b"ustar\00000" + bytes(64) + b"0000000\0" * 2 + prefix.ljust(155, b"\0") + bytes(12)
    checksum = sum(start) + sum(rest) + 8 * 32
    return start + b"%06o\0 " % checksum + rest
