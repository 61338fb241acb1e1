"""The order by blocks: a permutation, within windows, the same for every rank and after resuming."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill.errors import ArgumentError
from pixelmill.formats.blocks import Blocks, divide
from pixelmill.formats.index import Index
from pixelmill.pipeline.block_order import permute_blocks, windows_of
from pixelmill.pipeline.reader_position import Position
from pixelmill.pipeline.sampling import ReaderOrder, check_in_step

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=20)


def blocks_of(sizes: list[int], window: int) -> Blocks:
    return Blocks(np.append(0, np.cumsum(sizes)).astype(np.int64), window)


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(1, 6), st.integers(0, 2**64 - 1))
def test_it_is_a_permutation_window_by_window(sizes: list[int], window: int, key: int) -> None:
    blocks = blocks_of(sizes, window)
    count = int(blocks.starts[-1])
    items = permute_blocks(np.arange(count), blocks, key)
    assert sorted(items.tolist()) == list(range(count))
    windows = windows_of(items, blocks, key)
    assert (np.diff(windows) >= 0).all()
    owners = np.searchsorted(blocks.starts, items, side="right") - 1
    for number in np.unique(windows):
        assert len(np.unique(owners[windows == number])) <= window
    for place in range(0, count, 3):  # any place without the others
        assert permute_blocks(np.array([place]), blocks, key)[0] == items[place]


def test_epochs_and_seeds_differ() -> None:
    blocks = blocks_of([50] * 20, 4)
    orders = {permute_blocks(np.arange(1000), blocks, key).tobytes() for key in range(5)}
    assert len(orders) == 5


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_share_an_epoch(ranks: int) -> None:
    blocks = blocks_of([7] * 11, 3)
    seen: list[int] = []
    whole = ReaderOrder(length=77, shuffle=True, seed=4, pad_last_batch=True, blocks=blocks)
    expected = whole.batch(Position(), 77).items.tolist()
    for rank in range(ranks):
        order = ReaderOrder(
            length=77, shuffle=True, seed=4, num_shards=ranks, shard_id=rank, pad_last_batch=True, blocks=blocks
        )
        batch = order.batch(Position(), 77)
        seen += batch.items[~batch.is_padding].tolist()
    assert seen == expected


def test_a_state_belongs_to_its_blocks() -> None:
    order = ReaderOrder(length=70, shuffle=True, blocks=blocks_of([7] * 10, 3))
    state = order.state_dict(order.batch(Position(), 8).following)
    assert order.load_state_dict(state) == order.batch(Position(), 8).following
    for other in (blocks_of([7] * 10, 2), blocks_of([10] * 7, 3), None):
        with pytest.raises(ArgumentError, match="belongs to another reader: blocks was"):
            ReaderOrder(length=70, shuffle=True, blocks=other).load_state_dict(state)


def test_blocks_end_with_files_and_at_their_size() -> None:
    files = np.array([0, 0, 0, 1, 1], np.int64)
    offsets = np.array([0, 40, 80, 0, 40], np.int64)
    index = Index(["a", "b"], files, offsets, np.full(5, 40, np.int64))
    assert divide(index, window=2, block_bytes=80).starts.tolist() == [0, 2, 3, 5]
    assert divide(index, window=2, block_bytes=1).starts.tolist() == [0, 1, 2, 3, 4, 5]
    assert divide(Index(["a", "b"]), window=2).starts.tolist() == [0, 1, 2]


def test_readers_side_by_side_need_the_same_blocks() -> None:
    one, other = blocks_of([2, 2], 1), blocks_of([1, 3], 1)
    orders = [ReaderOrder(length=4, shuffle=True, blocks=blocks) for blocks in (one, other)]
    with pytest.raises(ArgumentError, match="shuffle_mode: readers of the same length"):
        check_in_step(orders)
    check_in_step([orders[0], orders[0], ReaderOrder(length=9, shuffle=True)])
