"""Order, shards, padding, policies and resume of pixelmill.pipeline.sampling."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise, product
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill.errors import ArgumentError
from pixelmill.pipeline.permutation import epoch_key, permute
from pixelmill.pipeline.sampling import (
    LastBatchPolicy,
    Position,
    ReaderOrder,
    batch_sizes,
    dropped_steps,
    replacement,
    steps_left,
    steps_per_epoch,
)

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL
BOTH = [False, True]


def ranks_of(length, shards, **options):
    return [ReaderOrder(length=length, num_shards=shards, shard_id=k, **options) for k in range(shards)]


def through_json(order, position):
    text = json.dumps(order.state_dict(position))
    assert len(text) < 1024
    return json.loads(text)


def step(ranks, position, size, policy=FILL):
    """Run one step on all ranks; they must agree on what follows."""
    batches = [rank.batch(position, size, policy) for rank in ranks]
    assert len({batch.following for batch in batches}) == 1
    assert len({batch.ends_epoch for batch in batches}) == 1
    return batches, batches[0].following


def samples(batches):
    """Real samples as (epoch, item)."""
    return [
        (int(e), int(i)) for b in batches for e, i in zip(b.epochs[~b.is_padding], b.items[~b.is_padding], strict=True)
    ]


def as_text(batch):
    return "".join(str(item + 1) for item in batch.items)


# The permutation


@pytest.mark.parametrize("key", [0, 1, 2**64 - 1])
def test_permute_is_a_bijection_for_every_short_length(key):
    for length in [*range(1, 301), 4095, 4096, 4097, 4098, 4160, 4161, 4225, 4226]:
        assert np.array_equal(np.sort(permute(np.arange(length), length, key)), np.arange(length))


@pytest.mark.parametrize("length", [10_007, 2**16, 2**16 + 1, 999_999, 1_000_000])
def test_permute_is_a_bijection_for_long_lengths(length):
    assert np.all(np.bincount(permute(np.arange(length), length, 5), minlength=length) == 1)


@given(st.integers(1, 2**43), st.integers(0, 2**64 - 1), st.integers(0, 2**43))
@settings(max_examples=100, deadline=None)
def test_permute_maps_each_position_alone_and_into_range(length, key, start):
    places = (start + np.arange(40)) % length
    items = permute(places, length, key)
    assert items.dtype == np.int64 and items.min() >= 0 and items.max() < length
    assert np.array_equal(items[3:5], permute(places[3:5], length, key))
    assert len(set(items.tolist())) == len(set(places.tolist()))


def chi_square(counts, expected):
    """Standard deviations from the mean of chi-square."""
    freedom = counts.size - 1
    return (np.sum((counts - expected) ** 2 / expected) - freedom) / np.sqrt(2 * freedom)


@pytest.mark.parametrize("length", [2, 3, 4, 7, 100, 4096, 5000])
def test_first_second_and_last_item_are_uniform(length):
    keys = 4000
    drawn = np.array([permute(np.array([0, 1, length - 1]), length, epoch_key(9, k)) for k in range(keys)])
    bins = min(length, 50)
    for column in drawn.T:
        counts = np.bincount(column * bins // length, minlength=bins)
        expected = np.bincount(np.arange(length) * bins // length, minlength=bins) * keys / length
        assert abs(chi_square(counts, expected)) < 5


def test_all_orders_of_four_are_equally_likely():
    counts = Counter(tuple(permute(np.arange(4), 4, epoch_key(s, e)).tolist()) for s in range(60) for e in range(80))
    assert len(counts) == 24
    assert abs(chi_square(np.array(list(counts.values())), 4800 / 24)) < 5


@pytest.mark.parametrize("length", [4097, 5000, 65_536, 100_003])
def test_no_structure_between_neighbours_epochs_and_halves(length):
    for seed in range(5):
        order, other = (permute(np.arange(length), length, epoch_key(seed, e)) for e in (0, 1))
        pairs = [(order[:-1], order[1:]), (order, other), (np.arange(length), order)]
        pairs += [(order[:-lag], order[lag:]) for lag in (2, 64, int(length**0.5), int(length**0.5) + 1)]
        for a, b in pairs:
            assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(length)
            cells = np.bincount(a * 16 // length * 16 + b * 16 // length, minlength=256)
            assert abs(chi_square(cells, a.size / 256)) < 6
        steps = np.bincount((np.diff(order) % length) * 64 // length, minlength=64)
        assert abs(chi_square(steps, (length - 1) / 64)) < 6
        assert np.sum(order == np.arange(length)) < 10


def test_order_depends_on_seed_epoch_and_length_alone():
    base = ReaderOrder(length=5000, shuffle=True, seed=3).batch(Position(), 5000).items
    assert np.array_equal(base, permute(np.arange(5000), 5000, epoch_key(3, 0)))
    assert not np.array_equal(base, ReaderOrder(length=5000, shuffle=True, seed=4).batch(Position(), 5000).items)
    assert not np.array_equal(base, ReaderOrder(length=5000, shuffle=True, seed=3).batch(Position(1), 5000).items)
    split = [r.batch(Position(), 5000 // 4).items for r in ranks_of(5000, 4, shuffle=True, seed=3)]
    assert np.array_equal(base, np.concatenate(split))


# DALI's streams, measured


@pytest.mark.parametrize(("pad", "expected"), [(False, "1234567123456712345671234567"), (True, "123456777" * 3)])
def test_raw_stream_of_one_shard(pad, expected):
    order, position, text, epochs = ReaderOrder(length=7, pad_last_batch=pad), Position(), "", []
    for _ in range(9):
        batch = order.batch(position, 3)
        text, position = text + as_text(batch), batch.following
        epochs += batch.epochs.tolist()
    assert text == expected[:27]
    assert epochs == [i // (9 if pad else 7) for i in range(27)]


def test_raw_stream_of_two_shards():
    """Seven items: shard 0 holds 123, shard 1 holds 4567; ranks change shards after each epoch."""
    expected = {
        (False, False): ("123 456 712 345", "456 712 345 671"),
        (False, True): ("123 123 123 123", "456 745 674 567"),
        (True, False): ("123 333 456 777", "456 777 123 333"),
        (True, True): ("123 333 123 333", "456 777 456 777"),
    }
    for (pad, stick), streams in expected.items():
        for order, stream in zip(ranks_of(7, 2, pad_last_batch=pad, stick_to_shard=stick), streams, strict=True):
            position, texts = Position(), []
            for _ in range(4):
                batch = order.batch(position, 3)
                texts.append(as_text(batch))
                position = batch.following
            assert " ".join(texts) == stream


def iterate(order, size, policy, epochs):
    """An iterator as plugin.base_iterator will have it, on texts."""
    position, result = Position(), []
    for epoch in range(epochs):
        texts = []
        for count in batch_sizes(order, size, policy, epoch=epoch):
            batch = order.batch(position, size, policy)
            texts.append(as_text(batch)[:count])
            position = batch.following
        for _ in range(dropped_steps(order, size, policy)):
            position = order.batch(position, size, policy).following
        result.append(" ".join(texts))
    return " / ".join(result)


@pytest.mark.parametrize(
    ("policy", "pad", "expected"),
    [
        (FILL, False, "123 456 712 / 345 671 / 234 567"),
        (FILL, True, "123 456 777 / 123 456 777 / 123 456 777"),
        (DROP, False, "123 456 / 345 671 / 567 123"),
        (DROP, True, "123 456 / 123 456 / 123 456"),
        (PARTIAL, False, "123 456 7 / 345 671 2 / 567 123 4"),
        (PARTIAL, True, "123 456 7 / 123 456 7 / 123 456 7"),
    ],
)
def test_iterator_table_of_dali(policy, pad, expected):
    assert iterate(ReaderOrder(length=7, pad_last_batch=pad), 3, policy, 3) == expected


def test_short_shard_differs_from_dali_on_purpose():
    short, long = ranks_of(7, 2, pad_last_batch=True, stick_to_shard=True)
    assert iterate(short, 3, PARTIAL, 2) == "12 3 / 12 3"
    assert iterate(long, 3, PARTIAL, 2) == "456 7 / 456 7"
    assert iterate(short, 3, DROP, 3) == "123 / 123 / 123"
    assert iterate(short, 1, PARTIAL, 1) == "1 2 3 3"


# Epochs


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
@pytest.mark.parametrize("stick", BOTH)
def test_padded_epochs_cover_once_in_equal_steps(policy, stick):
    for length, shards, size in product([1, 2, 3, 7, 16, 29, 50], [1, 2, 3, 5, 16], [1, 2, 3, 7, 32]):
        if shards > length:
            continue
        ranks = ranks_of(length, shards, shuffle=True, pad_last_batch=True, stick_to_shard=stick)
        steps = steps_per_epoch(ranks[0], size, policy)
        assert steps == ((length // shards) // size if policy is DROP else ceil(ceil(length / shards) / size))
        position = Position()
        for epoch in range(2 if steps else 0):
            seen, sizes = [], []
            for number in range(steps):
                assert steps_left(ranks[0], position, size, policy) == steps - number
                batches, position = step(ranks, position, size, policy)
                assert batches[0].ends_epoch == (number == steps - 1)
                seen += samples(batches)
                sizes.append([b.size for b in batches])
                check_padding(batches, size, policy)
            assert len(set(seen)) == len(seen) and {e for e, _ in seen} == {epoch}
            assert len(seen) == (steps * size * shards if policy is DROP else length)
            planned = [list(batch_sizes(rank, size, policy, epoch=epoch)) for rank in ranks]
            assert np.array_equal(np.array(planned).T, sizes)
            assert position == Position(epoch + 1)


def check_padding(batches, size, policy):
    for batch in batches:
        real = int(np.sum(~batch.is_padding))
        assert np.array_equal(batch.is_padding, np.arange(size) >= real)
        if policy is DROP:
            assert real == size
        if policy is PARTIAL:
            assert batch.size == max(real, 1) and (real or size == 1)
        if real:
            assert np.all(batch.items[real:] == batch.items[real - 1])


@pytest.mark.parametrize(("stick", "shards"), list(product(BOTH, [1, 2, 3, 16])))
def test_unpadded_stream_covers_every_epoch_once(stick, shards):
    for size in (1, 7, 32):
        ranks = ranks_of(50, shards, shuffle=True, stick_to_shard=stick)
        position, seen, epoch, steps = Position(), Counter(), 0, 0
        while epoch < 4:
            batches, position = step(ranks, position, size)
            seen.update(samples(batches))
            steps += 1
            if batches[0].ends_epoch:
                # An epoch that was read ahead as a whole has no steps of its own.
                assert steps == steps_per_epoch(ranks[0], size, FILL, epoch=epoch)
                epoch, steps = epoch + 1, 0
                while not steps_per_epoch(ranks[0], size, FILL, epoch=epoch):
                    epoch += 1
        assert all(seen[e, item] == 1 for e in range(epoch) for item in range(50))
        assert max(seen.values()) == 1


def test_drop_with_nothing_to_yield():
    order = ReaderOrder(length=2, pad_last_batch=True)
    assert steps_per_epoch(order, 3, DROP) == 0 == len(list(batch_sizes(order, 3, DROP)))
    assert order.batch(Position(), 3, DROP).items.tolist() == [0, 1, 1]


# Resume


CONFIGS = list(product([1, 7, 32], [1, 3, 16]))


@pytest.mark.parametrize(("pad", "stick"), list(product(BOTH, BOTH)))
@pytest.mark.parametrize(("size", "shards"), CONFIGS)
def test_resume_at_every_step_gives_the_rest(size, shards, pad, stick):
    policy = PARTIAL if pad else FILL
    ranks = ranks_of(200, shards, shuffle=True, seed=1, pad_last_batch=pad, stick_to_shard=stick)
    ranks = [ranks[0], ranks[-1]]
    steps = 2 * steps_per_epoch(ranks[0], size, PARTIAL) + 2
    streams, position, states = [[], []], Position(), []
    for _ in range(steps):
        states.append(through_json(ranks[0], position))
        batches, position = step(ranks, position, size, policy)
        for stream, batch in zip(streams, batches, strict=True):
            stream.append(batch.items)
    for rank, stream in zip(ranks, streams, strict=True):
        for number, state in enumerate(states):
            position = rank.load_state_dict(state)
            for expected in stream[number : number + 3]:
                batch = rank.batch(position, size, policy)
                assert np.array_equal(batch.items, expected)
                position = rank.load_state_dict(through_json(rank, batch.following))


def run_in_legs(length, legs, policy, **options):
    """Run legs of (shards, size, steps), each from the state of a rank of the one before; then finish the epochs."""
    state, seen, shards, size = None, [], 1, 1
    for number, (shards, size, steps) in enumerate(legs):
        ranks = ranks_of(length, shards, **options)
        position = Position() if state is None else ranks[-1].load_state_dict(state)
        for _ in range(steps):
            batches, position = step(ranks, position, size, policy)
            seen += samples(batches)
        state = through_json(ranks[number % shards], position)
    ranks = ranks_of(length, shards, **options)
    position, goal = ranks[0].load_state_dict(state), max((e for e, _ in seen), default=0) + 1
    for _ in range(10_000):
        batches, position = step(ranks, position, size, policy)
        seen += samples(batches)
        if all(int(b.epochs[-1]) > goal for b in batches):
            break
    return Counter(seen), goal


def check_exact(length, legs, policy, **options):
    seen, last = run_in_legs(length, legs, policy, shuffle=True, **options)
    expected = {(epoch, item) for epoch in range(last + 1) for item in range(length)}
    assert max(seen.values()) == 1
    assert expected <= set(seen)


@pytest.mark.parametrize(("pad", "stick"), list(product(BOTH, BOTH)))
def test_resume_into_every_other_batch_size_and_shard_count(pad, stick):
    policy = PARTIAL if pad else FILL
    for (size, shards), (other_size, other_shards) in product(CONFIGS, CONFIGS):
        steps = ceil(ceil(50 / shards) / size)
        for at in {0, 1, steps // 2, steps - 1, steps, steps + 1}:
            legs = [(shards, size, at), (other_shards, other_size, 0)]
            check_exact(50, legs, policy, pad_last_batch=pad, stick_to_shard=stick)


LEG = st.tuples(st.integers(1, 9), st.integers(1, 12), st.integers(0, 9))


@given(st.integers(9, 60), st.lists(LEG, min_size=1, max_size=5), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_resume_again_and_again_loses_and_repeats_nothing(length, legs, pad, stick, partial):
    check_exact(length, legs, PARTIAL if partial else FILL, pad_last_batch=pad, stick_to_shard=stick)


def test_resume_between_the_last_two_steps_of_a_short_shard():
    ranks = ranks_of(7, 2, pad_last_batch=True)
    _, position = step(ranks, Position(), 3, PARTIAL)
    assert position == Position(0, ((2, -1),))
    single = ReaderOrder(length=7, pad_last_batch=True)
    batch = single.batch(single.load_state_dict(through_json(ranks[1], position)), 3, PARTIAL)
    assert batch.items.tolist() == [2, 6, 6] and batch.size == 2 and batch.ends_epoch
    assert steps_left(ranks[0], position, 3, DROP) == 0
    assert ranks[0].batch(position, 3, DROP).epochs.tolist() == [1, 1, 1]


def test_rank_without_a_sample_of_the_rest_repeats_one():
    """Three samples are left for five ranks: PARTIAL still yields one sample on each."""
    _, position = step(ranks_of(11, 2, pad_last_batch=True), Position(), 4, FILL)
    batches, position = step(ranks_of(11, 5, pad_last_batch=True), position, 4, PARTIAL)
    assert sorted(samples(batches)) == [(0, 4), (0, 9), (0, 10)]
    assert [b.size for b in batches] == [1] * 5 and position == Position(1)


def test_drop_after_resume_goes_to_the_next_epoch():
    order = ReaderOrder(length=10, pad_last_batch=True)
    position = order.batch(Position(), 8, DROP).following
    assert position == Position(1)
    position = order.batch(Position(), 8, FILL).following
    assert steps_left(order, position, 3, DROP) == 0
    batch = order.batch(position, 3, DROP)
    assert batch.items.tolist() == [0, 1, 2] and batch.epochs.tolist() == [1, 1, 1]


def test_state_is_readable_and_starts_clean_where_it_can():
    order = ReaderOrder(length=7, seed=5, pad_last_batch=False)
    position = Position()
    for _ in range(5):
        position = order.batch(position, 3).following
    assert order.state_dict(position) == {
        "version": 1,
        "length": 7,
        "shuffle": False,
        "seed": 5,
        "stick_to_shard": False,
        "pad_last_batch": False,
        "epoch": 2,
        "history": [[1, 1]],
    }
    assert order.state_dict(Position())["history"] == []
    ranks = ranks_of(8, 4)
    _, position = step(ranks, Position(), 6)
    assert ranks[0].state_dict(position)["epoch"] == 3 and ranks[0].state_dict(position)["history"] == []
    assert ranks_of(8, 2)[0].divide(position) == Position(3, ((2, 0),))


def test_ranks_too_far_apart_are_not_divided_again():
    short = ranks_of(3, 2, stick_to_shard=True)[0]
    state = short.state_dict(short.batch(Position(), 3000).following)
    assert short.batch(short.load_state_dict(state), 2).epochs.tolist() == [3000, 3001]
    with pytest.raises(ArgumentError, match="ranks are 1500 epochs apart"):
        ReaderOrder(length=3, stick_to_shard=True).load_state_dict(state)


def test_state_stays_small_however_often_it_is_divided():
    options = {"length": 2**43, "seed": 2**64 - 1, "shuffle": True, "pad_last_batch": True}
    full = Position(2**31 - 1, tuple((60_000 + number % 2, 4_000_000) for number in range(32)))
    order = ReaderOrder(num_shards=60_001, **options)
    state = through_json(order, full)
    assert order.load_state_dict(state) == full
    with pytest.raises(ArgumentError, match="num_shards changed 32 times"):
        ReaderOrder(num_shards=60_000, **options).load_state_dict(state)


def test_state_of_another_reader_is_refused():
    state = ReaderOrder(length=100, shuffle=True, seed=7).state_dict(Position())
    with pytest.raises(ArgumentError, match="length was 100, now 90; seed was 7, now 8"):
        ReaderOrder(length=90, shuffle=True, seed=8).load_state_dict(state)
    with pytest.raises(ArgumentError, match="shuffle was True, now False"):
        ReaderOrder(length=100, seed=7).load_state_dict(state)
    with pytest.raises(ArgumentError, match="pad_last_batch was False, now True"):
        ReaderOrder(length=100, shuffle=True, seed=7, pad_last_batch=True).load_state_dict(state)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 40) | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
)
ENTRY = st.tuples(st.integers(-2, 30), st.integers(-2, 30) | st.integers(0, 2**44)).map(list)


@given(JUNK | st.integers(0, 9), JUNK | st.lists(ENTRY, max_size=4), st.booleans(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_damaged_state_is_refused_or_harmless(epoch, history, pad, stick):
    order = ReaderOrder(length=20, num_shards=3, pad_last_batch=pad, stick_to_shard=stick)
    state = {**order.state_dict(Position()), "epoch": epoch, "history": history}
    try:
        position = order.load_state_dict(state)
    except ArgumentError:
        return
    batch = order.batch(position, 4)
    assert batch.items.min() >= 0 and batch.items.max() < 20


@pytest.mark.parametrize("state", [None, 3, [], {}, {"version": 2}])
def test_not_a_state(state):
    with pytest.raises(ArgumentError, match="expected a dict with version 1"):
        ReaderOrder(length=3).load_state_dict(state)


# Arguments and replacements


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0}, r"the dataset must have 1 to 2\*\*44 - 1 samples, got 0"),
        ({"length": 3, "num_shards": 4}, "num_shards must be 1 to 3 for 3 samples, got 4"),
        ({"length": 3, "num_shards": 0}, "num_shards"),
        ({"length": 3, "num_shards": 2, "shard_id": 2}, "shard_id must be 0 to 1, got 2"),
        ({"length": 3, "shard_id": -1}, "shard_id"),
        ({"length": 3, "seed": -1}, "seed"),
    ],
)
def test_arguments(options, message):
    with pytest.raises(ArgumentError, match=message):
        ReaderOrder(**options)


def test_batch_size_must_be_positive():
    with pytest.raises(ArgumentError, match="batch_size"):
        ReaderOrder(length=3).batch(Position(), 0)


@pytest.mark.parametrize("length", [2, 3, 10, 5000])
def test_replacements_are_other_items_each_once(length):
    order = ReaderOrder(length=length, seed=2)
    for item in (0, length // 2, length - 1):
        tried = [replacement(order, 4, item, attempt) for attempt in range(min(length - 1, 50))]
        assert item not in tried and len(set(tried)) == len(tried)
        assert all(0 <= other < length for other in tried)
        assert tried == [replacement(order, 4, item, attempt) for attempt in range(len(tried))]


def test_replacement_of_the_only_item_is_itself():
    assert replacement(ReaderOrder(length=1), 0, 0, 3) == 0


def test_replacements_spread():
    order = ReaderOrder(length=1000)
    chosen = [replacement(order, 0, item, 0) for item in range(1000)]
    assert max(Counter(chosen).values()) < 9
    assert all(a != b for a, b in pairwise(chosen[:5]))
