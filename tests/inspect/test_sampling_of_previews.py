"""Which samples a preview shows: from everywhere and of all classes, with few reads however many there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import encoded, write
from hypothesis import given, settings
from hypothesis import strategies as st

import pixelmill
from pixelmill.errors import ArgumentError
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.example import Example, bytes_feature
from pixelmill.formats.index import Index
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.inspect import grid_builder, preview, sample_selection

MANY = 1_000_000
IMAGE = encoded("png", seed=1)


class Counted(Dataset):
    """A dataset without files that counts what is read of it."""

    format = "folder"
    source = "counted"
    layout = "flat"

    def __init__(self, length: int, label_of: Any = lambda number: 0, damaged: Any = lambda number: False) -> None:
        self._length, self._label_of, self._damaged = length, label_of, damaged
        self.index = Index([])
        self.outlines = self.samples = 0

    def __len__(self) -> int:
        return self._length

    def outline(self, number: int) -> Sample:
        self.outlines += 1
        return self._described(number, b"")

    def sample(self, number: int) -> Sample:
        self.samples += 1
        return self._described(number, IMAGE)

    def _described(self, number: int, image: bytes) -> Sample:
        if self._damaged(number):
            raise self.error(number, "corrupt", "planted")
        return Sample(str(number), image, "png", (self._label_of(number),))

    def size(self, number: int) -> int:
        return len(IMAGE)

    def locate(self, number: int) -> tuple[str, int | None]:
        return f"file-{number}", None


@pytest.mark.parametrize("recipe", [None, "tfdali"])
def test_a_million_samples_need_few_reads(recipe: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = Counted(MANY, lambda number: number * 10 // MANY)
    monkeypatch.setattr(preview, "open_dataset", lambda *_, **__: dataset)
    report = pixelmill.preview("anywhere", recipe=recipe, variants=1)
    shown = 16 if recipe is None else 6
    assert (dataset.outlines, dataset.samples) == (4 * shown, shown)
    assert report.samples == MANY and len({cell.number for cell in report.cells}) == shown


def test_samples_come_from_everywhere_and_of_all_classes() -> None:
    by_order = sample_selection.spread(Counted(MANY, lambda number: number * 10 // MANY), count=20, seed=0)
    assert np.bincount(np.array(by_order) * 10 // MANY).tolist() == [2] * 10
    in_turn = sample_selection.spread(Counted(MANY, lambda number: number % 3), count=24, seed=0)
    assert np.bincount(np.array(in_turn) % 3).tolist() == [8, 8, 8]
    assert all(np.histogram(in_turn, 4, (0, MANY))[0] >= 3)
    rare = sample_selection.spread(Counted(1000, lambda number: int(number % 25 == 0)), count=16, seed=1)
    assert sum(number % 25 == 0 for number in rare) >= 2  # one in 25, and chosen more often


def test_damage_is_no_class_of_its_own() -> None:
    dataset = Counted(10_000, lambda number: number % 2, lambda number: number % 8 == 0)
    chosen = sample_selection.spread(dataset, count=16, seed=0)
    assert 1 <= sum(number % 8 == 0 for number in chosen) <= 4
    assert len(sample_selection.spread(Counted(100, damaged=lambda number: True), count=16, seed=0)) == 16


@given(length=st.integers(0, 500), count=st.integers(1, 40), seed=st.integers(0, 2**40), classes=st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_the_choice_is_complete_sorted_and_repeatable(length: int, count: int, seed: int, classes: int) -> None:
    dataset = Counted(length, lambda number: number % classes)
    chosen = sample_selection.spread(dataset, count=count, seed=seed)
    assert chosen == sorted(set(chosen)) == sample_selection.spread(dataset, count=count, seed=seed)
    assert len(chosen) == min(count, length) and all(0 <= number < length for number in chosen)


def test_a_class_is_found_among_many() -> None:
    dataset = Counted(100_000, lambda number: number % 100)
    chosen = sample_selection.matching(dataset, sample_selection.Filter("42"), count=5, seed=3)
    assert len(chosen) == 5 and all(number % 100 == 42 for number in chosen)
    assert dataset.outlines < 5_000 and dataset.samples == 0
    assert chosen == sample_selection.matching(dataset, sample_selection.Filter("42"), count=5, seed=3)
    assert chosen != sample_selection.matching(dataset, sample_selection.Filter("42"), count=5, seed=4)


def test_classes_are_those_of_samples_and_of_boxes(tmp_path: Path) -> None:
    boxes = Boxes([[0, 0, 1, 1], [0, 0, 0.5, 0.5]], [4, 9])
    texts = Example({"image/object/class/text": bytes_feature(b"mouse", b"r\xc3\xa4t")})
    samples = [
        Sample("a", IMAGE, "png", (1,), "cat"),
        Sample("b", IMAGE, "png", (2,), "dog"),
        Sample("c", IMAGE, "png", boxes=boxes, extra=texts),
    ]
    source = write(tmp_path / "x", "tfrecord", samples)

    def found(name: str) -> list[int]:
        return [cell.number for cell in pixelmill.preview(source, class_name=name).cells]

    assert (found("cat"), found("2"), found("mouse"), found("rät"), found("9")) == ([0], [1], [2], [2], [2])
    with pytest.raises(ArgumentError, match=r"no sample of class 'cow'; there are 1, 2, 4, 9, cat, dog, mouse, rät"):
        pixelmill.preview(source, class_name="cow")


def test_boxes_are_called_as_their_classes_are(tmp_path: Path) -> None:
    """Names of samples' classes are names of boxes if every sample has a box of its own class."""
    boxes = Boxes([[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]], [0, 1])
    samples = [Sample(n, IMAGE, "png", (i,), n, boxes=boxes) for i, n in enumerate(("ant", "bee"))]
    view = grid_builder.View(variants=1, size=64)

    def names(samples: list[Sample], where: str) -> list[str]:
        dataset = open_dataset(write(tmp_path / where, "tfrecord", samples))
        board = view.grid(dataset, side=64, on_sample=None)
        return board.box_names(board.groups[0][0])

    assert names(samples, "x") == ["ant", "bee"]
    other = Sample("c", IMAGE, "png", (7,), "cow", boxes=boxes)
    assert names([*samples, other], "y") == ["0", "1"]
    texts = Example({"image/object/class/text": bytes_feature(b"nose", b"ear")})
    assert names([Sample("c", IMAGE, "png", (7,), "cow", boxes=boxes, extra=texts)], "z") == ["nose", "ear"]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("3", [3]), ("3,7,10-12", [3, 7, 10, 11, 12]), (" 5 , 4-4,5", [5, 4]), ("2 - 3", [2, 3])],
)
def test_numbers_are_read(text: str, numbers: list[int]) -> None:
    assert sample_selection.parse_numbers(text) == numbers


@pytest.mark.parametrize("text", ["", ",", "-3", "3-", "4-3", "1.5", "٣", "0-10000", "1" * 30])
def test_other_texts_are_no_numbers(text: str) -> None:
    with pytest.raises(ArgumentError, match="samples: "):
        sample_selection.parse_numbers(text)
