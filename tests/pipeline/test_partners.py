"""Which samples are joined: a function of (seed, epoch, sample) over the whole dataset, and what readers keep of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill import ArgumentError
from pixelmill.formats.class_groups import ClassGroups
from pixelmill.pipeline.partners import partner_items
from pixelmill.pipeline.reader_position import Position
from pixelmill.pipeline.sampling import ReaderOrder


@given(st.integers(1, 5000), st.integers(0, 2**48), st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_partners_are_a_permutation_of_the_dataset(count, seed, epoch):
    numbers, epochs = np.arange(count), np.full(count, epoch, np.uint32)
    items = partner_items(seed, count, numbers, epochs)
    assert sorted(items.tolist()) == list(range(count))
    some = np.array([0, count - 1, count // 2])
    np.testing.assert_array_equal(partner_items(seed, count, some, epochs[:1].repeat(3)), items[some])


def test_seeds_epochs_and_turns_have_other_partners():
    numbers, epochs = np.arange(100), np.zeros(100, np.uint32)
    first = partner_items(1, 100, numbers, epochs)
    for other in (
        partner_items(2, 100, numbers, epochs),
        partner_items(1, 100, numbers, epochs + np.uint32(1)),
        partner_items(1, 100, numbers + 100, epochs),
    ):
        assert sorted(other.tolist()) == list(range(100))
        assert (first == other).sum() < 10
    mixed = partner_items(1, 100, numbers, (numbers % 2).astype(np.uint32))
    np.testing.assert_array_equal(mixed[::2], first[::2])


@pytest.mark.parametrize("pad", [False, True])
def test_partners_follow_their_samples_in_any_order(pad):
    """The partner of a sample is the same for every batch size, shard and position."""
    settings = {"length": 50, "shuffle": True, "seed": 3, "pad_last_batch": pad}
    expected = partner_items(7, 50, np.arange(50), np.zeros(50, np.uint32))
    for shards, size in ((1, 50), (1, 7), (4, 5)):
        for shard in range(shards):
            plain = ReaderOrder(**settings, num_shards=shards, shard_id=shard)
            joined = ReaderOrder(**settings, num_shards=shards, shard_id=shard, partner=7)
            own, other = plain.batch(Position(), size), joined.batch(Position(), size)
            np.testing.assert_array_equal(own.items, other.numbers)
            np.testing.assert_array_equal(other.items[own.epochs == 0], expected[own.items[own.epochs == 0]])
            assert own.following == other.following


def test_balanced_samples_have_partners_of_the_whole_dataset():
    groups = ClassGroups(np.arange(10), np.array([0, 2, 10]), 10)
    order = ReaderOrder(length=len(groups), classes=groups, partner=7, shuffle=True)
    items = order.batch(Position(), len(groups)).items
    assert items.min() >= 0 and items.max() < 10 and len(set(items.tolist())) > 5


def test_a_state_belongs_to_its_partner():
    state = ReaderOrder(length=10, partner=5).state_dict(Position())
    ReaderOrder(length=10, partner=5).load_state_dict(state)
    for other in (ReaderOrder(length=10, partner=6), ReaderOrder(length=10)):
        with pytest.raises(ArgumentError, match="partner"):
            other.load_state_dict(state)
    with pytest.raises(ArgumentError, match="partner"):
        ReaderOrder(length=10, partner=5).load_state_dict(ReaderOrder(length=10).state_dict(Position()))
