"""Which samples of a dataset are written, in which order, and where shards end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.pipeline.permutation import fold, permute
from pixelmill.types import Array

_SPLIT_STREAM = 0x5E11  # makes the split independent of the order


def select(
    length: int, *, limit: int | None, shuffle: bool, seed: int, split: Sequence[tuple[str, float]], part: str | None
) -> Array:
    """Return the numbers of the samples to write, in order.

    The first `limit` samples are taken, after shuffling. A split draws the samples of each subset at random, whatever
    the order; within a subset they keep it.
    """
    order = np.arange(length, dtype=np.int64)
    if shuffle:
        order = permute(order, length, fold(seed, 0))
    order = order[:limit]
    if part is None:
        return order
    ranks = permute(np.arange(len(order), dtype=np.int64), len(order), fold(seed, _SPLIT_STREAM))
    first, last = split_bounds(len(order), split)[part]
    return order[(ranks >= first) & (ranks < last)]


def split_bounds(length: int, split: Sequence[tuple[str, float]]) -> dict[str, tuple[int, int]]:
    """Divide a number of samples by fractions; fractions that add up to 1 use all of them."""
    bounds = {}
    total = 0.0
    for name, fraction in split:
        first = round(total * length)
        total += fraction
        bounds[name] = (first, min(length, round(total * length)))
    return bounds


def shard_bounds(
    sizes: Sequence[int] | Array, *, samples_per_shard: int | None, shard_bytes: int | None, num_shards: int | None
) -> list[tuple[int, int]]:
    """Divide the order into shards: by samples, by bytes, or into a number of about equal shards."""
    count = len(sizes)
    if not count:
        raise ArgumentError("convert: there are no samples to write")
    if num_shards is not None:
        edges = [count * number // num_shards for number in range(num_shards + 1)]
    elif samples_per_shard is not None:
        edges = [*range(0, count, samples_per_shard), count]
    else:
        edges = _byte_edges(np.asarray(sizes, np.int64), shard_bytes or 1)
    return list(pairwise(edges))


def _byte_edges(sizes: Array, limit: int) -> list[int]:
    """End each shard before the sample that would exceed the limit."""
    ends = np.cumsum(sizes)
    edges = [0]
    while edges[-1] < len(sizes):
        begin = edges[-1]
        before = int(ends[begin - 1]) if begin else 0
        edges.append(max(int(np.searchsorted(ends, before + limit, side="right")), begin + 1))
    return edges
