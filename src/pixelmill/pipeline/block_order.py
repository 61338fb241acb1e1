"""The order of an epoch by blocks: blocks in random order, the samples of some consecutive ones shuffled together.

It is a permutation of the whole dataset, like the one of all samples, and as arithmetic: any place can be computed
without the others, apart from a table with a few numbers for each block.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pixelmill.formats.blocks import Blocks
from pixelmill.pipeline.permutation import Ints, fold, permute


@lru_cache(maxsize=8)
def _epoch(blocks: Blocks, key: int) -> tuple[Ints, Ints, Ints]:
    """Return the blocks in the order of an epoch, the place where each begins, and those where windows begin.

    Both lists of places end with the number of samples.
    """
    count = len(blocks.starts) - 1
    order = permute(np.arange(count), count, fold(key, 1))
    places = np.append(0, np.cumsum(np.diff(blocks.starts)[order]))
    return order, places, np.append(places[:-1][:: blocks.window], places[-1])


def permute_blocks(position: Ints, blocks: Blocks, key: int) -> Ints:
    """Map positions in an epoch to items."""
    order, places, windows = _epoch(blocks, key)
    shuffled = np.empty_like(position)
    numbers = np.searchsorted(windows, position, side="right") - 1
    for number in np.unique(numbers):
        begin, end = int(windows[number]), int(windows[number + 1])
        inside = numbers == number
        shuffled[inside] = begin + permute(position[inside] - begin, end - begin, fold(key, 2, int(number)))
    rank = np.searchsorted(places, shuffled, side="right") - 1
    return np.asarray(blocks.starts[order[rank]] + shuffled - places[rank])


def windows_of(items: Ints, blocks: Blocks, key: int) -> Ints:
    """Return the number of the window that each item is in, counted in the order of an epoch."""
    ranks = np.argsort(_epoch(blocks, key)[0], kind="stable")
    return np.asarray(ranks[np.searchsorted(blocks.starts, items, side="right") - 1] // blocks.window)
