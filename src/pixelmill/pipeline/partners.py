"""Which other samples of the dataset a sample is joined with, as in a mosaic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pixelmill.pipeline.permutation import Ints, fold, permute


def partner_items(seed: int, count: int, numbers: Ints, epochs: npt.NDArray[np.uint32]) -> Ints:
    """Return another item for each sample: a function of the seed, the epoch and the sample over the whole dataset.

    In each epoch this is a permutation of the dataset, so every sample is the partner of exactly one. A sample may be
    its own partner. Batches, threads, shards and restarts make no difference.

    Args:
        seed: Partners of different seeds are independent of each other.
        count: The number of items of the dataset.
        numbers: What the random numbers of each sample depend on: its item, plus `count` for each time it was read
            before in the epoch.
        epochs: The epoch of each sample.
    """
    turns, items = np.divmod(numbers, count)
    found = np.empty(len(numbers), np.int64)
    for epoch, turn in {(int(epoch), int(turn)) for epoch, turn in zip(epochs, turns, strict=True)}:
        here = (epochs == epoch) & (turns == turn)
        found[here] = permute(items[here], count, fold(seed, epoch, turn, 2))
    return found
