"""Which samples of a dataset are written, in which order, and where one shard ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.permutation import fold, permute

Array = np.ndarray[Any, Any]

_SPLIT_STREAM = 0x5E11  # keeps the draw of a split apart from that of the order


def select(
    length: int, *, limit: int | None, shuffle: bool, seed: int, split: Sequence[tuple[str, float]], part: str | None
) -> Array:
    """Give the numbers of the samples to write, in order.

    The first `limit` samples are taken, of the shuffled order if there is one. A split draws the samples of each part
    at random, whatever the order; within a part they keep it.
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
    """Divide a number of samples by shares; shares that add up to 1 use all of them."""
    bounds = {}
    share = 0.0
    for name, own in split:
        first = round(share * length)
        share += own
        bounds[name] = (first, min(length, round(share * length)))
    return bounds


def parse_split(text: str) -> tuple[tuple[str, float], ...]:
    """Read `train=0.9,valid=0.1`; ValueError says what is wrong with it."""
    parts = []
    for item in text.split(","):
        name, _, share = item.strip().partition("=")
        if not name or "/" in name or name.startswith("."):
            raise ValueError(f"{item!r} is not of the form NAME=SHARE, such as train=0.9")
        try:
            value = float(share)
        except ValueError:
            raise ValueError(f"the share of {name} is not a number: {share!r}") from None
        if not 0 < value <= 1:
            raise ValueError(f"the share of {name} must be above 0 and at most 1, got {share}")
        parts.append((name, value))
    if len({name for name, _ in parts}) < len(parts):
        raise ValueError("a name is there twice")
    if sum(value for _, value in parts) > 1 + 1e-9:
        raise ValueError(f"the shares add up to {sum(value for _, value in parts):g}, more than 1")
    return tuple(parts)


def shard_bounds(
    sizes: Sequence[int] | Array, *, samples_per_shard: int | None, shard_bytes: int | None, num_shards: int | None
) -> list[tuple[int, int]]:
    """Cut the order into shards: by samples, by bytes, or into a number of about equal parts."""
    count = len(sizes)
    if not count:
        raise ArgumentError("convert: there is no sample to write")
    if num_shards is not None:
        edges = [count * number // num_shards for number in range(num_shards + 1)]
    elif samples_per_shard is not None:
        edges = [*range(0, count, samples_per_shard), count]
    else:
        edges = _byte_edges(np.asarray(sizes, np.int64), shard_bytes or 1)
    return list(pairwise(edges))


def _byte_edges(sizes: Array, limit: int) -> list[int]:
    """Close a shard before the sample that would take it above the limit."""
    ends = np.cumsum(sizes)
    edges = [0]
    while edges[-1] < len(sizes):
        begin = edges[-1]
        before = int(ends[begin - 1]) if begin else 0
        edges.append(max(int(np.searchsorted(ends, before + limit, side="right")), begin + 1))
    return edges
