"""The part of `multi_paste` that looks at the whole batch."""

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
    """Give the function that makes the canvases of a batch from pictures, their numbers and the arguments `names`."""

    def paste(pictures: list[Array], ids: list[Array], *places: list[Array]) -> list[Array]:
        canvases = []
        for place, chosen in enumerate(ids):
            given = {name: np.asarray(values[place]) for name, values in zip(names, places, strict=True)}
            canvases.append(
                _canvas([_picked(pictures, number) for number in np.ravel(chosen).tolist()], pictures, given)
            )
        return canvases

    return paste


@lru_cache
def pick_batch(count: int) -> Callable[..., list[list[Array]] | list[Array]]:
    """Give the function that hands `count` pictures of a batch to each sample."""

    def pick(pictures: list[Array], ids: list[Array]) -> list[list[Array]] | list[Array]:
        rows = [np.ravel(chosen).tolist() for chosen in ids]
        if any(len(row) != count for row in rows):
            raise ArgumentError(f"multi_paste: in_ids must be {count} numbers, got {[len(row) for row in rows]}")
        taken = [[_picked(pictures, row[k]) for row in rows] for k in range(count)]
        return taken if count > 1 else taken[0]

    return pick


def _picked(pictures: list[Array], number: int) -> Array:
    if not 0 <= number < len(pictures):
        raise ArgumentError(f"multi_paste: in_ids names sample {number} of a batch of {len(pictures)}")
    return pictures[number]


def _canvas(chosen: list[Array], pictures: list[Array], given: Mapping[str, Array]) -> Array:
    size = given.get("output_size")
    if size is None:
        if len({picture.shape[:2] for picture in pictures}) > 1:
            raise ArgumentError("multi_paste: pictures of different sizes need output_size")
        size = np.array(pictures[0].shape[:2])
    height, width = np.broadcast_to(size, 2).tolist()
    channels = (chosen or pictures)[0].shape[2]
    canvas = np.zeros((height, width, channels), (chosen or pictures)[0].dtype)
    for number, picture in enumerate(chosen):
        if picture.shape[2] != channels:
            raise ArgumentError("multi_paste: pictures have different numbers of channels")
        (y, x), (rows, columns), (top, left) = _part(number, len(chosen), picture.shape[:2], (height, width), given)
        canvas[top : top + rows, left : left + columns] = picture[y : y + rows, x : x + columns]
    return canvas


def _part(
    number: int, count: int, picture: tuple[int, ...], canvas: tuple[int, int], given: Mapping[str, Array]
) -> tuple[list[int], list[int], list[int]]:
    """Give where a part begins, how large it is and where it goes, rows before columns."""

    def numbers(name: str, whole: tuple[int, ...], rounding: Callable[[float], int]) -> list[int] | None:
        if name in given:
            return [int(value) for value in _row(given[name], number, count)]
        if f"{name}_rel" in given:
            shares = _row(given[f"{name}_rel"], number, count)
            return [rounding(float(np.float32(share) * np.float32(n))) for share, n in zip(shares, whole, strict=True)]
        return None

    begin = numbers("in_anchors", picture, math.floor) or [0, 0]
    extent = numbers("shapes", picture, math.ceil) or [n - first for n, first in zip(picture, begin, strict=True)]
    target = numbers("out_anchors", canvas, math.floor) or [0, 0]
    for first, length, to, whole, room in zip(begin, extent, target, picture, canvas, strict=True):
        if min(first, length, to) < 0 or first + length > whole or to + length > room:
            raise ArgumentError(
                f"multi_paste: part {number}, {length} long from {first} to {to}, leaves its picture or the canvas"
            )
    return begin, extent, target


def _row(table: Array, number: int, count: int) -> list[float]:
    if table.size not in (1, 2 * count):
        raise ArgumentError(f"multi_paste: {2 * count} numbers are needed for {count} parts, got {table.size}")
    row: list[float] = np.broadcast_to(table.ravel(), 2 * count)[2 * number : 2 * number + 2].tolist()
    return row
