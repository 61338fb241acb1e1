"""Ranges of files, and how those that lie close together become one request."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import NamedTuple

WHOLE = -1  # instead of a length: everything up to the end of the file


class Range(NamedTuple):
    """A range of a file.

    Attributes:
        path: The address of the file.
        offset: Its first byte.
        length: The number of bytes, or `WHOLE`.
        version: The version of the file as a listing named it; empty if unknown.
        size: The size of the file as a listing named it, for whole files; 0 if unknown.
    """

    path: str
    offset: int
    length: int
    version: str = ""
    size: int = 0


@dataclass(frozen=True)
class Merging:
    """Which ranges of a file become one request.

    Attributes:
        free_gap: Bytes between two ranges that are always read rather than skipped, such as the head of a tar member.
        max_gap: The longest gap that may be read at all.
        waste: How much of a request gaps may take, as a fraction of the bytes that are needed.
        max_bytes: The longest request.
        reach: How far neighbors may be apart in the order of need. An urgent range must not wait for the bytes of one
            that is needed much later.
    """

    free_gap: int = 2048
    max_gap: int = 1 << 18
    waste: float = 0.04
    max_bytes: int = 8 << 20
    reach: int = 128

    def allows(self, gap: int, *, needed: int, skipped: int) -> bool:
        """Whether to read `gap` bytes more, after gaps of `skipped` bytes and ranges of `needed` bytes."""
        return gap <= self.free_gap or (gap <= self.max_gap and skipped + gap <= self.waste * needed)


class Waiting:
    """The ranges that wait for a request, by file and offset."""

    def __init__(self, merging: Merging) -> None:
        self._merging = merging
        self._files: dict[tuple[str, str], list[Range]] = {}
        self._numbers: dict[Range, int] = {}

    def add(self, item: Range, number: int) -> None:
        """Add a range with its number in the order of need."""
        if item.length != WHOLE:
            insort(self._files.setdefault((item.path, item.version), []), item)
            self._numbers[item] = number

    def discard(self, item: Range) -> None:
        """Remove a range if it is there."""
        known = self._files.get((item.path, item.version), [])
        place = bisect_left(known, item)
        if place < len(known) and known[place] == item:
            del known[place], self._numbers[item]
            if not known:
                del self._files[item.path, item.version]

    def take(self, item: Range) -> list[Range]:
        """Remove a range together with its neighbors that are to be read by the same request, in file order."""
        known = self._files.get((item.path, item.version), [])
        first = bisect_left(known, item)
        if item.length == WHOLE or first == len(known) or known[first] != item:
            return [item]
        last, begin, end = first, item.offset, item.offset + item.length
        needed, skipped = item.length, 0
        while last + 1 < len(known) and self._are_close(known[last], known[last + 1]):
            following = known[last + 1]
            gap, reach = max(following.offset - end, 0), max(end, following.offset + following.length)
            if reach - begin > self._merging.max_bytes or not self._merging.allows(gap, needed=needed, skipped=skipped):
                break
            needed, skipped, end, last = needed + following.length, skipped + gap, reach, last + 1
        while first > 0 and self._are_close(known[first], known[first - 1]):
            before = known[first - 1]
            gap, size = max(begin - before.offset - before.length, 0), end - before.offset
            if size > self._merging.max_bytes or not self._merging.allows(gap, needed=needed, skipped=skipped):
                break
            needed, skipped, begin, first = needed + before.length, skipped + gap, before.offset, first - 1
        taken = known[first : last + 1]
        del known[first : last + 1]
        for one in taken:
            del self._numbers[one]
        if not known:
            del self._files[item.path, item.version]
        return taken

    def _are_close(self, one: Range, other: Range) -> bool:
        return abs(self._numbers[one] - self._numbers[other]) <= self._merging.reach
