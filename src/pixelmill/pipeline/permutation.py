"""A keyed permutation: computes any position of a shuffled epoch without the others.

A shuffled list of indices would take 8 bytes per sample and rank, and time at the start of each epoch. The permutation
needs neither, and resuming in the middle of an epoch is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isqrt

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
UInts = npt.NDArray[np.uint64]

# Up to this length a permutation is a sort of hashes. It is uniform over all orders, which a Feistel network is not for
# short lengths, and its cost is bounded.
_SORT_UP_TO = 4096
_MASK = 2**64 - 1
# The increment of splitmix64 and the multipliers of MurmurHash3's finalizer.
_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53


def fold(*words: int) -> int:
    """Hash integers to 64 bits."""
    state = 0
    for word in words:
        state = ((state ^ (word & _MASK)) + _GOLDEN) & _MASK
        state = ((state ^ state >> 33) * _MIX_1) & _MASK
        state = ((state ^ state >> 33) * _MIX_2) & _MASK
        state ^= state >> 33
    return state


def _hash(values: UInts, key: np.uint64 | UInts) -> UInts:
    mixed = (values + key) * np.uint64(_MIX_1)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(_MIX_2)
    mixed >>= np.uint64(8)  # the low bits of a product are weak, and with 56 bits the caller can add without overflow
    return mixed


@lru_cache(maxsize=64)
def _short_order(length: int, key: int) -> Ints:
    return np.argsort(_hash(np.arange(length, dtype=np.uint64), np.uint64(key)), kind="stable")


def _scrambled(
    values: UInts, rows: np.uint64 | UInts, columns: np.uint64 | UInts, keys: Sequence[np.uint64 | UInts]
) -> UInts:
    """Apply the rounds of the network once. Grid and keys may be different for each value."""
    row, column = np.divmod(values, columns)
    for even, odd in (keys[:2], keys[2:]):
        row = (row + _hash(column, even)) % rows
        column = (column + _hash(row, odd)) % columns
    return np.asarray(row * columns + column)


def permute(position: Ints, length: int, key: int) -> Ints:
    """Map positions to items by a keyed permutation of [0, length).

    A Feistel network on a grid of about sqrt(length) rows and columns: each round adds a hash of the column to the row,
    then a hash of the row to the column. Either addition can be undone, whatever the hash, so the network is a
    permutation of the grid. The grid has slightly more cells than items. A result outside of the range goes through the
    network again until it is inside (cycle walking), which keeps it a permutation. The grid exceeds the length by less
    than a column, so this is rare; on a grid with a power of two of cells it would happen to up to half of the values.
    """
    if length <= _SORT_UP_TO:
        return _short_order(length, key)[position]
    rows = isqrt(length - 1) + 1
    columns = np.uint64(-(-length // rows))
    keys = [np.uint64(fold(key, number)) for number in range(4)]

    def scramble(values: UInts) -> UInts:
        return _scrambled(values, np.uint64(rows), columns, keys)

    out = scramble(position.astype(np.uint64))
    while (outside := np.flatnonzero(out >= length)).size:
        out[outside] = scramble(out[outside])
    return out.astype(np.int64)


def permute_each(position: Ints, lengths: Ints, *, key: int, groups: Ints, turns: Ints) -> Ints:
    """Map positions to items by many permutations at once, one for each pair of a group and a turn.

    Args:
        position: The positions, each below its length.
        lengths: The length of the permutation for each position.
        key: The key of all permutations.
        groups: The group of each position; positions of a group have the same length.
        turns: The turn of each position.
    """
    sizes = lengths.astype(np.uint64)
    rows = np.ceil(np.sqrt(lengths)).astype(np.uint64)
    columns = (sizes + rows - np.uint64(1)) // rows
    own = _hash(_hash(groups.astype(np.uint64), np.uint64(key)) + turns.astype(np.uint64), np.uint64(fold(key, 1)))
    keys = [_hash(own, np.uint64(fold(key, 2, number))) for number in range(4)]
    out = _scrambled(position.astype(np.uint64), rows, columns, keys)
    while (outside := np.flatnonzero(out >= sizes)).size:
        again = [part[outside] for part in keys]
        out[outside] = _scrambled(out[outside], rows[outside], columns[outside], again)
    return out.astype(np.int64)


def epoch_key(seed: int, epoch: int) -> int:
    """Derive the key of an epoch's permutation."""
    return fold(seed, epoch)
