"""Files and ranges that a job will read one after another, fetched ahead as those of training are."""

from __future__ import annotations

import errno
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice, takewhile
from threading import Lock
from typing import TYPE_CHECKING

from pixelmill.storage.local import FileStat
from pixelmill.storage.options import active
from pixelmill.storage.ranges import WHOLE, Merging, Range

# What fetches is imported where it is used: it needs asyncio, and jobs on files of this machine start sooner without.
if TYPE_CHECKING:
    from concurrent.futures import Future

    from pixelmill.storage.fetch_work import Fetched
    from pixelmill.storage.fetcher import Fetcher

_AT_ONCE = 64  # ranges that are waited for together,
_BYTES_AT_ONCE = 4 << 20  # up to this size
# Bytes that are announced from the beginning: all of them will be needed, and a connection to a store carries 50 to
# 100 MB/s, so a few requests would make the first shards wait.
_AHEAD = 128 << 20
# Bytes between two ranges that are read rather than skipped: that takes less time than another request.
_GAP = 1 << 16


class AnnouncedReads:
    """Fetches what was announced. Threads that share it take turns, and withdraw what others have announced."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = Lock()
        self._fetcher: Fetcher | None = None
        self._coming: Iterator[Range] = iter(())
        self._announced: deque[Range] = deque()
        self._counts: Counter[tuple[str, int, int]] = Counter()
        # Groups that the fetcher hands over next.
        self._asked: deque[tuple[list[Range], Future[list[Fetched]]]] = deque()
        self._taken: deque[tuple[Range, Fetched]] = deque()  # those that came with the one that was taken last

    def __reduce__(self) -> tuple[type[AnnouncedReads], tuple[()]]:
        """Drop everything: another process announces what it reads itself."""
        return AnnouncedReads, ()

    def begin(self, items: Iterable[Range]) -> None:
        """Announce ranges in the order in which they will be taken, instead of those announced before.

        Those announced before stay, with what has arrived of them, if the new ones begin with them, or are their
        beginning.
        """
        if self._process != os.getpid():  # the thread that fetches is the parent's, and so is who holds the lock
            self._process, self._fetcher, self._lock = os.getpid(), None, Lock()
            self._forget()
        with self._lock:
            self._begin(items)

    def _begin(self, items: Iterable[Range]) -> None:
        coming = iter(items)
        known = [*(item for item, _ in self._taken), *chain(*(group for group, _ in self._asked)), *self._announced]
        first = list(islice(coming, len(known)))
        if not first or first != known[: len(first)]:
            if self._fetcher is not None:
                self._fetcher.cancel_taking()
                self._fetcher.forget()
            coming = chain(first, coming)
            self._forget()
        self._coming = coming
        self._announce()

    def _forget(self) -> None:
        self._announced.clear()
        self._asked.clear()
        self._taken.clear()
        self._counts.clear()

    def take(self, path: str, offset: int, length: int) -> memoryview | None:
        """Return a range, or None if it was not announced; those announced before it are withdrawn.

        Raises:
            OSError: It cannot be read.
        """
        if self._fetcher is None or self._process != os.getpid():
            return None
        with self._lock:
            found = self._found((path, offset, length))
        if found is None or isinstance(found, memoryview):
            return found
        raise OSError(errno.EIO, found[1], path)

    def _found(self, wanted: tuple[str, int, int]) -> Fetched:
        if not self._counts[wanted]:
            return None
        while self._taken or self._asked or self._announced:
            if not self._taken:
                self._take_more(wanted)
            item, found = self._taken.popleft()
            self._counts[_wanted(item)] -= 1
            if _wanted(item) == wanted:
                return found
        return None

    def _take_more(self, wanted: tuple[str, int, int]) -> None:
        """Wait for a range and some of those after it, and ask for the next ones.

        To wait for each alone costs more than to read it. The next ones are handed over while these are used, by a
        thread that needs the interpreter's lock for it.
        """
        if not self._asked:
            self._skip_to(wanted)
            self._ask()
        items, found = self._asked.popleft()
        self._ask()
        self._taken.extend(zip(items, found.result(), strict=True))
        self._announce()

    def _skip_to(self, wanted: tuple[str, int, int]) -> None:
        """Withdraw what was announced before a range."""
        assert self._fetcher is not None
        skipped = list(takewhile(lambda item: _wanted(item) != wanted, self._announced))
        for _ in skipped:
            self._announced.popleft()
        if skipped:
            self._counts.subtract(map(_wanted, skipped))
            self._fetcher.drop(skipped)

    def _ask(self) -> None:
        """Let the fetcher hand over some of what was announced."""
        assert self._fetcher is not None
        items: list[Range] = []
        size = 0
        while self._announced and len(items) < _AT_ONCE and size < _BYTES_AT_ONCE:
            items.append(self._announced.popleft())
            size += max(items[-1].length, items[-1].size)
        if items:
            self._asked.append((items, self._fetcher.take(items, expected=True)))

    @property
    def _most_ahead(self) -> int:
        return _AHEAD if self._fetcher is None else max(_AHEAD, self._fetcher.most_ahead)

    def _announce(self) -> None:
        """Announce more if less than half of what is worth reading ahead is announced.

        Many are announced at once, so that neighbors in a file can be read by one request.
        """
        if self._fetcher is not None and self._fetcher.ahead >= self._most_ahead // 2:
            return
        more: list[Range] = []
        for item in self._coming:
            more.append(item)
            if self._fetcher is None:
                self._fetcher = _fetcher()
            self._fetcher.plan([item])
            if self._fetcher.ahead >= self._most_ahead:
                break
        if more and self._fetcher is not None:
            self._fetcher.expect(more)
            self._announced += more
            self._counts.update(map(_wanted, more))


def _fetcher() -> Fetcher:
    from pixelmill.storage.fetch_work import FetchSettings
    from pixelmill.storage.fetcher import Fetcher

    return Fetcher(dict(active()), settings=FetchSettings(merging=Merging(free_gap=_GAP)))


def _wanted(item: Range) -> tuple[str, int, int]:
    """Return what `take` knows of a range."""
    return item.path, item.offset, item.length


def whole_file(path: str, found: FileStat | OSError | None = None) -> Range:
    """Return the range of a whole file.

    Args:
        path: The file.
        found: What a listing says of it, if it is known.
    """
    return Range(path, 0, WHOLE, size=found.size if isinstance(found, FileStat) else 0)
