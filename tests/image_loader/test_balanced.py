"""Balanced reading: as many samples of each class in every epoch, all samples of a class equally often over time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import write
from hypothesis import given
from hypothesis import strategies as st
from loader_datasets import classified, folder_of_classes, with_several_labels

from pixelmill import ArgumentError, ImageLoader, Pipeline, fn
from pixelmill.formats.class_groups import ClassGroups
from pixelmill.pipeline.balanced_order import balanced_numbers
from pixelmill.pipeline.permutation import permute_each
from pixelmill.pipeline.reader_position import Position
from pixelmill.pipeline.sampling import LastBatchPolicy, ReaderOrder

PARTIAL = LastBatchPolicy.PARTIAL


def groups(sizes: list[int]) -> ClassGroups:
    return ClassGroups(np.arange(sum(sizes))[::-1].copy(), np.append(0, np.cumsum(sizes)), sum(sizes))


def class_of(own: ClassGroups, items: Any) -> Any:
    places = np.empty(own.count, np.int64)
    places[own.items] = np.arange(own.count)
    return np.searchsorted(own.starts, places[items], side="right") - 1


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 2**32), st.booleans())
def test_classes_are_equal_in_every_epoch_and_samples_over_all_of_them(
    sizes: list[int], seed: int, shuffle: bool
) -> None:
    own = groups(sizes)
    shown: Counter[int] = Counter()
    for epoch in range(5):
        numbers = balanced_numbers(np.arange(len(own)), own, seed=seed, epoch=epoch, shuffle=shuffle)
        assert len(set(numbers.tolist())) == len(own)  # so that a sample that comes twice gets other random numbers
        items = numbers % own.count
        assert np.bincount(class_of(own, items), minlength=len(sizes)).tolist() == [own.per_class] * len(sizes)
        shown.update(items.tolist())
        for number, size in enumerate(sizes):
            counts = [shown[int(item)] for item in own.items[own.starts[number] : own.starts[number + 1]]]
            assert len(counts) == size and max(counts) - min(counts) <= 1


@given(st.lists(st.integers(1, 300), min_size=1, max_size=6), st.integers(0, 2**63))
def test_many_permutations_at_once(lengths: list[int], key: int) -> None:
    position = np.concatenate([np.arange(length) for length in lengths])
    sizes = np.repeat(lengths, lengths)
    number = np.repeat(np.arange(len(lengths)), lengths)
    found = permute_each(position, sizes, key=key, groups=number, turns=number * 3)
    for group, length in enumerate(lengths):
        assert sorted(found[number == group].tolist()) == list(range(length))


def test_groups_and_turns_have_permutations_of_their_own() -> None:
    def order(group: int, turn: int) -> list[int]:
        places = np.arange(50)
        same = np.full(50, 50), np.full(50, group), np.full(50, turn)
        return permute_each(places, same[0], key=7, groups=same[1], turns=same[2]).tolist()

    orders = {tuple(order(group, turn)) for group in range(5) for turn in range(5)}
    assert len(orders) == 25


@pytest.mark.parametrize("shards", [1, 3])
def test_any_position_resumes_on_any_number_of_ranks(shards: int) -> None:
    own = groups([7, 2, 11])
    settings: dict[str, Any] = {"length": len(own), "shuffle": True, "seed": 5, "pad_last_batch": True, "classes": own}
    whole = ReaderOrder(**settings)
    expected = sorted(whole.batch(Position(3), len(own), PARTIAL).numbers.tolist())
    position, found = Position(3), []
    for _ in range(2):
        batch = whole.batch(position, 4, PARTIAL)
        found += batch.numbers.tolist()
        position = batch.following
    state = whole.state_dict(position)
    for rank in range(shards):
        order = ReaderOrder(**settings, num_shards=shards, shard_id=rank)
        place = order.load_state_dict(state)
        while place.epoch == 3:
            batch = order.batch(place, 2, PARTIAL)
            found += batch.numbers[: batch.size][~batch.is_padding[: batch.size]].tolist()
            place = batch.following
    assert sorted(found) == expected


def test_a_state_of_other_classes_is_refused() -> None:
    first, second = groups([7, 2, 11]), groups([2, 7, 11])
    order = ReaderOrder(length=len(first), shuffle=True, classes=first)
    other = ReaderOrder(length=len(second), shuffle=True, classes=second)
    with pytest.raises(ArgumentError, match="reader state belongs to another reader: classes was"):
        other.load_state_dict(order.state_dict(Position()))
    with pytest.raises(ArgumentError, match="classes was"):
        ReaderOrder(length=len(first), shuffle=True).load_state_dict(order.state_dict(Position()))


def test_loader_shows_rare_classes_as_often(tmp_path: Path) -> None:
    source = folder_of_classes(tmp_path / "d", (9, 2, 1))
    loader = ImageLoader(source, size=16, batch_size=5, train=True, sampler="balanced")
    for _ in range(3):
        batches = list(loader)
        labels = np.concatenate([own for _, own in batches])
        assert np.bincount(labels).tolist() == [4, 4, 4] and len(batches) == len(loader) == 3
        images = np.concatenate([own for own, _ in batches])
        assert len({image.tobytes() for image in images}) == 12  # the only cat is cropped differently each time


def test_bad_samples_of_a_balanced_loader_are_named_and_replaced(tmp_path: Path) -> None:
    source = folder_of_classes(tmp_path / "d", (5, 1))
    (source / "bee" / "05.png").write_bytes(b"not an image")
    loader = ImageLoader(source, size=16, train=True, sampler="balanced", on_error="skip")
    list(loader)
    assert {(event.sample, Path(event.path or "").name) for event in loader.errors.events} == {(5, "05.png")}


def test_reader_refuses_what_has_no_single_class(tmp_path: Path) -> None:
    pipe = Pipeline(2, 1, None, 0)
    source = write(tmp_path / "d", "tfrecord", with_several_labels())
    with pipe, pytest.raises(ArgumentError, match=r"every sample needs exactly one label, and sample 0 .* has 0"):
        fn.readers.dataset(source, balanced=True)
    source = write(tmp_path / "e", "tfrecord", classified())
    with pipe, pytest.raises(ArgumentError, match="balanced cannot be combined with shuffle_mode='blocks'"):
        fn.readers.dataset(source, balanced=True, shuffle_mode="blocks")
