"""Blocks: runs of items that lie next to each other in a file, for an order that reads each file in few requests."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

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
    ends = index.offsets + index.lengths
    starts = [0]
    begin = int(index.offsets[0]) if count else 0
    for item in range(1, count):
        is_same_file = index.files[item] == index.files[item - 1] and index.offsets[item] >= index.offsets[item - 1]
        if not is_same_file or int(ends[item]) - begin > block_bytes:
            starts.append(item)
            begin = int(index.offsets[item])
    return Blocks(np.array([*starts, count], np.int64), window)
