"""What a shard does with the results of its program: boxes at the limit, and samples of which a variant fails."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from pixelmill.augmentation.program import Failure, ProgramOutput
from pixelmill.augmentation.samples import new_sample, prepare
from pixelmill.augmentation.variants import ShardAugmenter
from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.options.augment import AugmentOptions
from pixelmill.recipe import geometry

PIXELS = np.zeros((8, 8, 3), np.uint8)


def sample_with(boxes: Boxes | None = None) -> Sample:
    return Sample("a", npy.encode(PIXELS), "npy", boxes=boxes)


def test_a_box_of_which_exactly_the_least_fraction_is_left_stays() -> None:
    # A crop to the left half of 8 columns: the first box keeps 2 of its 4 columns, the second 1 of 4, the third none.
    ltrb = np.array([[0.25, 0, 0.75, 1], [0.375, 0, 0.875, 1], [0.5, 0, 1, 1]], np.float32)
    prepared = prepare(sample_with(Boxes(ltrb, np.array([1, 2, 3]))), 0, format=None)
    path = [geometry.cropped(np.array([0, 0]), np.array([8, 4]))]
    made = ProgramOutput(PIXELS[:, :4], None, (8, 8), (8, 4), path)

    def labels_left(visibility: float) -> list[int]:
        boxes = new_sample(prepared, made, visibility=visibility, key="b").boxes
        return [] if boxes is None or boxes.labels is None else boxes.labels.tolist()

    assert labels_left(0.5) == [1]
    assert labels_left(0.25) == [1, 2]
    assert labels_left(0.0) == [1, 2]  # nothing is left of the third


class FakePrograms:
    """Fails each variant for a reason of its own."""

    batch_size = 8

    def others(self, *_: object) -> tuple[()]:
        return ()

    def program(self, shape: object, others: object = ()) -> FakePrograms:
        return self

    def submit(self, batch: list[Any]) -> list[Any]:
        return batch

    def take(self, pending: list[Any], batch: list[Any]) -> list[Failure]:
        return [Failure("corrupt", f"variant {item.variant}") for item in batch]


def test_a_sample_is_rejected_once_with_its_first_error() -> None:
    rejected: list[tuple[int, str]] = []
    job = SimpleNamespace(
        options=AugmentOptions("x", variants=3),
        dataset=SimpleNamespace(sample=lambda number: sample_with(), expect=lambda numbers: None),
        programs=lambda threads, refused: FakePrograms(),
        file_name=lambda number, variant: None,
        variant_key=lambda key, variant: key,
        reject=lambda files, number, error: rejected.append((number, str(error))),
    )
    writer = SimpleNamespace(add=lambda sample, name: rejected.append((-1, "written")))
    ShardAugmenter(job, SimpleNamespace(threads=1, refused_notes=()), writer).run(range(2))
    assert rejected == [(0, "variant 1"), (1, "variant 1")]


def test_the_manifest_has_the_first_of_several_events() -> None:
    from pixelmill.dataset_jobs.base import DatasetJob

    told: list[Event] = []
    dataset = SimpleNamespace(
        locate=lambda number: ("x.jpg", None),
        raw=lambda number: b"",
        event=lambda number, kind, message: Event(kind, message, sample=number, epoch=0),
    )
    events = tuple(Event(kind, kind, sample=0, epoch=0) for kind in ("truncated", "corrupt"))
    files = SimpleNamespace(reject=lambda event, raw, extension: told.append(event))
    DatasetJob.reject(SimpleNamespace(dataset=dataset), files, 7, DataError("both", events))
    assert [(event.kind, event.sample) for event in told] == [("truncated", 7)]
