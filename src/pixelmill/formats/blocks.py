"""Blocks: runs of items that lie next to each other in a file, for an order that reads each file in few requests."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pixelmill.formats.index import Array, Index

BLOCK_BYTES = 8 << 20


@dataclass(frozen=True, eq=False)
class Blocks:
    """A division of the items of an index into blocks.

    Attributes:
        starts: The first item of each block, and the number of items at the end.
        window: The number of blocks whose items are shuffled together.
        identity: A number that differs for other blocks, for the state of a reader.
    """

    starts: Array
    window: int
    identity: int = field(init=False)

    def __post_init__(self) -> None:
        text = self.starts.astype("<i8").tobytes() + self.window.to_bytes(8, "little")
        number = int.from_bytes(hashlib.blake2b(text, digest_size=6).digest(), "little")
        object.__setattr__(self, "identity", number)


def divide(index: Index, *, window: int, block_bytes: int = BLOCK_BYTES) -> Blocks:
    """Divide an index into blocks of at most `block_bytes`, each within one file.

    A dataset of whole files has blocks of one item.
    """
    count = len(index)
    if not len(index.files):
        return Blocks(np.arange(count + 1), window)
    # A run is a piece of a file whose items are in order; blocks are looked up in it, not counted item by item.
    is_new = (np.diff(index.files) != 0) | (np.diff(index.offsets) < 0)
    runs = np.concatenate([[0], np.flatnonzero(is_new) + 1, [count]])
    starts: list[int] = []
    for first, last in pairwise(runs.tolist()):
        ends = np.maximum.accumulate(index.offsets[first:last] + index.lengths[first:last])
        item = first
        while item < last:
            starts.append(item)
            most = int(index.offsets[item]) + block_bytes
            item = max(item + 1, first + int(np.searchsorted(ends, most, side="right")))
    return Blocks(np.array([*starts, count], np.int64), window)
