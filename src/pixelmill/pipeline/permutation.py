"""A keyed permutation: any position of an epoch's order, without the others."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
UInts = npt.NDArray[np.uint64]

_SORT_UP_TO = 4096  # short permutations are a sort of hashes: uniform over all orders, at a bounded cost
_MASK = 2**64 - 1
_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53  # of splitmix64 and MurmurHash3


def fold(*words: int) -> int:
    """Hash integers to 64 bits."""
    state = 0
    for word in words:
        state = ((state ^ (word & _MASK)) + _GOLDEN) & _MASK
        state = ((state ^ state >> 33) * _MIX_1) & _MASK
        state = ((state ^ state >> 33) * _MIX_2) & _MASK
        state ^= state >> 33
    return state


def _hash(values: UInts, key: int) -> UInts:
    mixed = (values + np.uint64(key)) * np.uint64(_MIX_1)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(_MIX_2)
    mixed >>= np.uint64(8)  # the low bits of a product are weak, and the caller may add without overflow
    return mixed


@lru_cache(maxsize=64)
def _short_order(length: int, key: int) -> Ints:
    return np.argsort(_hash(np.arange(length, dtype=np.uint64), key), kind="stable")


def permute(position: Ints, length: int, key: int) -> Ints:
    """Map positions to items by a keyed permutation of [0, length).

    A Feistel network on a grid of about sqrt(length) rows and columns. The grid exceeds length by less than a column,
    so cycle walking (again, until the value is in range) is rare; on a power of two it would be the rule.
    """
    if length <= _SORT_UP_TO:
        return _short_order(length, key)[position]
    rows = isqrt(length - 1) + 1
    columns = np.uint64(-(-length // rows))
    keys = [fold(key, number) for number in range(4)]

    def scramble(values: UInts) -> UInts:
        row, column = np.divmod(values, columns)
        for even, odd in (keys[:2], keys[2:]):
            row = (row + _hash(column, even)) % np.uint64(rows)
            column = (column + _hash(row, odd)) % columns
        return np.asarray(row * columns + column)

    out = scramble(position.astype(np.uint64))
    while (outside := np.flatnonzero(out >= length)).size:
        out[outside] = scramble(out[outside])
    return out.astype(np.int64)


def epoch_key(seed: int, epoch: int) -> int:
    """Derive the key of an epoch's permutation."""
    return fold(seed, epoch)
