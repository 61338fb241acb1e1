"""What the annotations of a dataset say: the task they are for, and how often each class occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.columns import column_index
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.index import Ragged
from pixelmill.formats.sample import Sample, image_type
from pixelmill.image_loader.settings import Task
from pixelmill.types import Array

_SAMPLES = 32  # from all over the dataset


@dataclass(frozen=True)
class Found:
    """What some samples of a dataset have.

    Attributes:
        masks: Whether there are masks.
        boxes: Whether there are boxes.
        box_labels: Whether boxes have classes.
        oriented: Whether boxes are oriented.
        labels: The numbers of labels that samples have.
        integers: Whether all labels are integers.
        array_images: Whether images are npy files of pixels.
        array_masks: Whether masks are npy files of class numbers.
        splits: The subsets that samples belong to.
    """

    masks: bool
    boxes: bool
    box_labels: bool
    oriented: bool
    labels: frozenset[int]
    integers: bool
    array_images: bool
    array_masks: bool
    splits: tuple[str, ...]

    @property
    def task(self) -> Task:
        """The task that the annotations are for: the richest of them decide."""
        if self.masks:
            return "segmentation"
        if self.boxes:
            return "detection"
        if self.labels <= {0}:
            return "unlabeled"
        return "classification" if self.labels == {1} else "multilabel"

    def __str__(self) -> str:
        boxes = "oriented boxes" if self.oriented else "boxes"
        kinds = {"masks": self.masks, boxes: self.boxes, "labels": not self.labels <= {0}}
        return " and ".join(kind for kind, there in kinds.items() if there) or "no annotations"


def look_at(dataset: Dataset) -> Found:
    """Look at some samples of a dataset. Raises DataError if none of them can be read."""
    numbers = sorted({int(number) for number in np.linspace(0, len(dataset) - 1, min(len(dataset), _SAMPLES))})
    samples, last = [], None
    dataset.expect_outlines(numbers)
    for number in numbers:
        try:
            samples.append((number, dataset.outline(number), dataset.has_mask(number)))
        except DataError as error:
            last = error
    if not samples:
        raise last or DataError(f"{dataset.source} has no samples")
    boxes = [sample.boxes for _, sample, _ in samples if sample.boxes is not None]
    telling = [found for found in boxes if len(found)] or boxes  # without objects, there is nothing to have classes
    return Found(
        masks=any(sample.mask is not None or has_mask for _, sample, has_mask in samples),
        boxes=bool(boxes),
        box_labels=any(found.labels is not None for found in telling),
        oriented=bool(telling) and all(found.oriented for found in telling),
        labels=frozenset(len(sample.labels) for _, sample, _ in samples),
        integers=all(isinstance(label, int) for _, sample, _ in samples for label in sample.labels),
        array_images=all(sample.extension.lower() == "npy" for _, sample, _ in samples),
        array_masks=_has_array_masks(dataset, samples),
        splits=tuple(dict.fromkeys(sample.split for _, sample, _ in samples if sample.split is not None)),
    )


def _has_array_masks(dataset: Dataset, samples: Sequence[tuple[int, Sample, bool]]) -> bool:
    for number, sample, has_mask in samples:
        if sample.mask is None and not has_mask:
            continue
        try:
            return image_type(dataset.sample(number).mask or b"") == "npy"
        except DataError:
            continue
    return False


def check_task(task: Task, found: Found, source: str) -> None:
    """Raise ArgumentError for a task that a dataset has no annotations for."""
    needed = {
        "classification": not found.labels <= {0},
        "multilabel": not found.labels <= {0},
        "detection": found.boxes,
        "segmentation": found.masks,
        "unlabeled": True,
    }
    if not needed[task]:
        what = {"detection": "boxes", "segmentation": "masks"}.get(task, "labels")
        raise ArgumentError(
            f"task: {task} needs {what}, and {source} has {found}; "
            f"omit task to use what there is ({found.task}), or see `pixelmill info`"
        )
    if task in ("classification", "multilabel") and not found.integers:
        raise ArgumentError(
            f"task: {task} needs labels that are integers, and some of {source} are not; "
            "fn.readers.dataset reads them as the column 'target'"
        )
    if task == "classification" and found.labels != {1}:
        counts = " or ".join(map(str, sorted(found.labels)))
        raise ArgumentError(
            f"task: classification needs one label for each sample, and samples of {source} have {counts}; "
            "task='multilabel' takes any number"
        )


def class_counts(dataset: Dataset, task: Task) -> Array:
    """Return how many samples, or boxes, of each class there are, by number of the class, int64."""
    if task in ("segmentation", "unlabeled"):
        raise ArgumentError(f"classes are counted by their labels, which {task} does not have")
    name = "box_label" if task == "detection" else "label"
    column = column_index(dataset, [name]).columns[name]
    labels = column.rows if isinstance(column, Ragged) else column
    if len(labels) and int(labels.min()) < 0:
        raise ArgumentError(f"labels must not be negative to be counted, got {int(labels.min())}")
    most = len(dataset.classes) if task != "detection" else 0
    if len(labels) and int(labels.max()) > 10_000_000:
        raise ArgumentError(f"labels are not numbers of classes: the largest is {int(labels.max())}")
    return np.bincount(labels.reshape(-1), minlength=most).astype(np.int64)
