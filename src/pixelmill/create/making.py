"""Pictures from the native maker, several at a time, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pixelmill import _core
from pixelmill.errors import ArgumentError
from pixelmill.formats.sample import Boxes

Array = np.ndarray[Any, Any]
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Picture:
    """A made picture.

    Attributes:
        index: Its number in the set.
        image: The encoded file.
        mask: The encoded mask, a PNG of one channel: 0 for the ground, the class + 1 for objects.
        objects: One row for each object: class, top, left, bottom, right (one past the last pixel), visible pixels.
        label: The class of the picture.
        height: Rows.
        width: Columns.
    """

    index: int
    image: bytes
    mask: bytes | None
    objects: Array
    label: int
    height: int
    width: int

    def boxes(self) -> Boxes:
        """Give the rectangles of the objects as shares of width and height."""
        scale = np.array([self.width, self.height, self.width, self.height], np.float64)
        return Boxes(self.objects[:, [2, 1, 4, 3]] / scale, self.objects[:, 0])


def make_picture(maker: _core.Maker, index: int) -> Picture:
    """Draw and encode one picture; the GIL is free meanwhile."""
    try:
        return Picture(index, *maker.make(index))
    except RuntimeError as error:
        raise ArgumentError(f"create: picture {index}: {error}") from None


def save_picture(maker: _core.Maker, index: int, path: Path) -> tuple[Picture, int]:
    """Do the same straight into a new file; give the picture without its bytes, and their number."""
    try:
        size, mask, objects, label, height, width = maker.save(index, os.fsencode(path))
    except RuntimeError as error:
        raise ArgumentError(f"create: picture {index}: {error}") from None
    return Picture(index, b"", mask, objects, label, height, width), size


@contextmanager
def in_order(work: Callable[[int], Result], numbers: Iterable[int], *, threads: int) -> Iterator[Iterator[Result]]:
    """Do work for each number in threads; yield an iterator over the results, in order. Few are waiting at any time.

    The threads end with the block and not with the iterator, which may end by the garbage collector: it must not wait.
    """
    if threads <= 1:
        yield map(work, numbers)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="create") as pool:
        try:
            yield _results(pool, work, numbers, ahead=2 * threads)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _results(
    pool: ThreadPoolExecutor, work: Callable[[int], Result], numbers: Iterable[int], *, ahead: int
) -> Iterator[Result]:
    waiting: deque[Future[Result]] = deque()
    for number in numbers:
        waiting.append(pool.submit(work, number))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
