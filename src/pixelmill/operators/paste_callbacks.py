"""The callbacks of `multi_paste` that see the whole batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pixelmill.errors import ArgumentError

Array = npt.NDArray[np.generic]


@lru_cache
def paste_batch(names: tuple[str, ...]) -> Callable[..., list[Array]]:
    """Return a function that builds the canvases of a batch from images, their indices and the arguments `names`."""

    def paste(images: list[Array], ids: list[Array], *places: list[Array]) -> list[Array]:
        canvases = []
        for place, chosen in enumerate(ids):
            given = {name: np.asarray(values[place]) for name, values in zip(names, places, strict=True)}
            canvases.append(_canvas([_picked(images, number) for number in np.ravel(chosen).tolist()], images, given))
        return canvases

    return paste


@lru_cache
def pick_batch(count: int) -> Callable[..., list[list[Array]] | list[Array]]:
    """Return a function that selects `count` images of the batch for each sample."""

    def pick(images: list[Array], ids: list[Array]) -> list[list[Array]] | list[Array]:
        rows = [np.ravel(chosen).tolist() for chosen in ids]
        if any(len(row) != count for row in rows):
            raise ArgumentError(f"multi_paste: in_ids must be {count} numbers, got {[len(row) for row in rows]}")
        taken = [[_picked(images, row[k]) for row in rows] for k in range(count)]
        return taken if count > 1 else taken[0]

    return pick


def _picked(images: list[Array], number: int) -> Array:
    if not 0 <= number < len(images):
        raise ArgumentError(f"multi_paste: in_ids contains {number}, but the batch has {len(images)} samples")
    return images[number]


def _canvas(chosen: list[Array], images: list[Array], given: Mapping[str, Array]) -> Array:
    size = given.get("output_size")
    if size is None:
        if len({image.shape[:2] for image in images}) > 1:
            raise ArgumentError("multi_paste: images of different sizes need output_size")
        size = np.array(images[0].shape[:2])
    height, width = np.broadcast_to(size, 2).tolist()
    channels = (chosen or images)[0].shape[2]
    canvas = np.zeros((height, width, channels), (chosen or images)[0].dtype)
    for number, image in enumerate(chosen):
        if image.shape[2] != channels:
            raise ArgumentError("multi_paste: the images have different numbers of channels")
        (y, x), (rows, columns), (top, left) = _part(number, len(chosen), image.shape[:2], (height, width), given)
        canvas[top : top + rows, left : left + columns] = image[y : y + rows, x : x + columns]
    return canvas


def _part(
    number: int, count: int, image: tuple[int, ...], canvas: tuple[int, int], given: Mapping[str, Array]
) -> tuple[list[int], list[int], list[int]]:
    """Return the start and the size of a region, and its position on the canvas; rows before columns."""

    def numbers(name: str, whole: tuple[int, ...], rounding: Callable[[float], int]) -> list[int] | None:
        if name in given:
            return [int(value) for value in _row(given[name], number, count)]
        if f"{name}_rel" in given:
            # In float32, as in the native kernel, so that both round to the same pixel.
            fractions = _row(given[f"{name}_rel"], number, count)
            return [
                rounding(float(np.float32(fraction) * np.float32(n)))
                for fraction, n in zip(fractions, whole, strict=True)
            ]
        return None

    begin = numbers("in_anchors", image, math.floor) or [0, 0]
    extent = numbers("shapes", image, math.ceil) or [n - first for n, first in zip(image, begin, strict=True)]
    target = numbers("out_anchors", canvas, math.floor) or [0, 0]
    for first, length, to, whole, room in zip(begin, extent, target, image, canvas, strict=True):
        if min(first, length, to) < 0 or first + length > whole or to + length > room:
            raise ArgumentError(
                f"multi_paste: region {number} ({length} from {first} to {to}) exceeds its image or the canvas"
            )
    return begin, extent, target


def _row(table: Array, number: int, count: int) -> list[float]:
    if table.size not in (1, 2 * count):
        raise ArgumentError(f"multi_paste: expected {2 * count} numbers for {count} regions, got {table.size}")
    row: list[float] = np.broadcast_to(table.ravel(), 2 * count)[2 * number : 2 * number + 2].tolist()
    return row
