"""Files and ranges that a job will read one after another, fetched ahead as those of training are."""

from __future__ import annotations

import errno
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from pixelmill.storage.options import active
from pixelmill.storage.ranges import WHOLE, Range

# What fetches is imported where it is used: it needs asyncio, and jobs on files of this machine start sooner without.
if TYPE_CHECKING:
    from pixelmill.storage.fetcher import Fetcher


class AnnouncedReads:
    """Fetches what was announced. All methods belong to one thread."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._fetcher: Fetcher | None = None
        self._coming: Iterator[Range] = iter(())
        self._announced: deque[Range] = deque()
        self._counts: Counter[Range] = Counter()

    def begin(self, items: Iterable[Range]) -> None:
        """Announce ranges in the order in which they will be taken, instead of those announced before.

        Those announced before stay, with what has arrived of them, if the new ones begin with them.
        """
        if self._process != os.getpid():  # the thread that fetches is the parent's
            self._process, self._fetcher = os.getpid(), None
            self._announced.clear()
        coming = iter(items)
        first = list(islice(coming, len(self._announced)))
        if first != list(self._announced):
            if self._fetcher is not None:
                self._fetcher.forget()
            coming = chain(first, coming)
            self._announced.clear()
            self._counts.clear()
        self._coming = coming
        self._announce()

    def take(self, path: str, offset: int, length: int) -> bytes | None:
        """Return a range, or None if it was not announced; those announced before it are withdrawn.

        Raises:
            OSError: It cannot be read.
        """
        wanted = Range(path, offset, length)
        if self._fetcher is None or not self._counts[wanted] or self._process != os.getpid():
            return None
        skipped = []
        while (item := self._announced.popleft()) != wanted:
            skipped.append(item)
        self._counts.subtract([*skipped, wanted])
        if skipped:
            self._fetcher.drop(skipped)
        (found,) = self._fetcher.take([wanted], expected=True).result()
        self._announce()
        if isinstance(found, memoryview):
            return bytes(found)
        raise OSError(errno.EIO, found[1] if found is not None else os.strerror(errno.EIO), path)

    def _announce(self) -> None:
        """Announce more if less than half of what is worth reading ahead is announced.

        Many are announced at once, so that neighbors in a file can be read by one request.
        """
        if self._fetcher is not None and self._fetcher.ahead >= self._fetcher.most_ahead // 2:
            return
        more: list[Range] = []
        for item in self._coming:
            more.append(item)
            if self._fetcher is None:
                self._fetcher = _fetcher()
            self._fetcher.plan([item])
            if self._fetcher.ahead >= self._fetcher.most_ahead:
                break
        if more and self._fetcher is not None:
            self._fetcher.expect(more)
            self._announced += more
            self._counts.update(more)


def _fetcher() -> Fetcher:
    from pixelmill.storage.fetch_work import FetchSettings
    from pixelmill.storage.fetcher import Fetcher

    return Fetcher(dict(active()), settings=FetchSettings())


def whole_file(path: str) -> Range:
    """Return the range of a whole file."""
    return Range(path, 0, WHOLE)
