"""Images from the native generator: encoded, or as arrays; several at a time, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pixelmill import _core
from pixelmill.create.image_options import PictureOptions
from pixelmill.errors import ArgumentError
from pixelmill.formats.sample import Boxes
from pixelmill.types import Array

Pixels = npt.NDArray[np.uint8]
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class CreatedImage:
    """A created image.

    Attributes:
        index: Its number in the set.
        image: The encoded file.
        mask: The encoded mask, a PNG with one channel: 0 for the background, the class + 1 for objects.
        objects: One row for each object: class, top, left, bottom, right (one past the last pixel), visible pixels.
        label: The class of the image.
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
        """Return the boxes of the objects, relative to width and height."""
        scale = np.array([self.width, self.height, self.width, self.height], np.float64)
        return Boxes(self.objects[:, [2, 1, 4, 3]] / scale, self.objects[:, 0])


def create_image(maker: _core.Maker, index: int) -> CreatedImage:
    """Draw and encode one image, with the GIL released."""
    try:
        return CreatedImage(index, *maker.make(index))
    except RuntimeError as error:
        raise ArgumentError(f"create: image {index}: {error}") from None


def save_image(maker: _core.Maker, index: int, path: Path) -> tuple[CreatedImage, int]:
    """Draw one image into a new file; return the image without its bytes, and their number."""
    try:
        size, mask, objects, label, height, width = maker.save(index, os.fsencode(path))
    except RuntimeError as error:
        raise ArgumentError(f"create: image {index}: {error}") from None
    return CreatedImage(index, b"", mask, objects, label, height, width), size


@contextmanager
def in_order(work: Callable[[int], Result], numbers: Iterable[int], *, threads: int) -> Iterator[Iterator[Result]]:
    """Call `work` for each number in threads; yield an iterator over the results, in order. Few wait at any time.

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


def photo(seed: int, index: int, *, height: int, width: int) -> Pixels:
    """Return one photo-like image.

    It has what a JPEG decoder and a resampler notice in a photograph: a spectrum that falls with frequency, colors
    that vary less than brightness, overlapping surfaces with more or less sharp edges, and sensor noise.

    Args:
        seed: Seed of the set of images.
        index: Number of the image within the set.
        height: Rows.
        width: Columns.

    Returns:
        Pixels of shape (height, width, 3). They depend on the arguments alone, not on earlier calls.
    """
    options = PictureOptions(height, width, content="photo", image_format="png", seed=seed)
    return draw(options, index)[0]


def draw(options: PictureOptions, index: int) -> tuple[Pixels, Pixels, Array, int]:
    """Draw one image without encoding it.

    Returns:
        Pixels of shape (height, width, 3), or with `alpha` (height, width, 4); for `shapes` a mask of shape (height,
        width) with the class + 1 of each object, else zeros; one row (class, top, left, bottom, right, pixels) for each
        object; the class of the image.
    """
    if not 0 <= index < 1 << 48:
        raise ArgumentError(f"create: index must be from 0 to 2**48 - 1, got {index}")
    return options.maker().draw(index)
