"""Draws, here and on DALI: they use different numbers, so what is compared is how these are distributed."""

from __future__ import annotations

import numpy as np
from dali_runs import DALI, HERE, run

MANY = 600  # samples of a distribution


def distance(one, other):
    """Return the largest difference of two distributions (Kolmogorov-Smirnov), divided by what 1 in 1000 exceeds."""
    values = np.sort(np.concatenate([one, other]))
    shares = [np.searchsorted(np.sort(x), values, side="right") / len(x) for x in (one, other)]
    return np.abs(shares[0] - shares[1]).max() / (1.95 * np.sqrt(1 / len(one) + 1 / len(other)))


def drawn_alike(graph, *inputs, layouts):
    """Demand of each number of every output that it is distributed as with DALI; give ours."""
    mine, theirs = (run(graph, *inputs, module=module, layouts=layouts) for module in (HERE, DALI))
    for here, there in zip(mine, theirs, strict=True):
        assert here[0].dtype == there[0].dtype and here[0].shape == there[0].shape
        for column in range(here[0].size):
            one, other = (np.array([sample.ravel()[column] for sample in batch], float) for batch in (here, there))
            assert distance(one, other) <= 1, f"number {column} of an output"
    return mine
