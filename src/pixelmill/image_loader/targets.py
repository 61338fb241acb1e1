"""The second half of a batch: labels, boxes, masks or names, made of the arrays that a pipeline returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelmill.errors import DataError
from pixelmill.image_loader.settings import Task
from pixelmill.pipeline.loader import Batch
from pixelmill.recipe.oriented_boxes import as_rectangles, from_corners
from pixelmill.types import Array

_NO_LABELS: Array = np.empty(0, np.int64)


def multi_hot(labels: Array | Sequence[Array], num_classes: int) -> Array:
    """Return a row for each sample with 1 at the numbers of its labels, float32, (samples, classes).

    Args:
        labels: The numbers of the labels of each sample.
        num_classes: The number of classes.
    """
    rows = np.zeros((len(labels), num_classes), np.float32)
    for row, numbers in zip(rows, labels, strict=True):
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < num_classes:
            raise DataError(f"labels must be from 0 to {num_classes - 1}, got {numbers.tolist()}; see num_classes=")
        row[numbers] = 1
    return rows


@dataclass(frozen=True)
class Targets:
    """Makes the second half of batches.

    Attributes:
        task: What it is for.
        num_classes: The length of a row of several labels.
    """

    task: Task
    num_classes: int = 0

    def arrays(self, batch: Batch) -> Any:
        """Return an array, or for detection a dictionary of arrays for each sample, or a list of names."""
        if self.task == "classification":
            return single_labels(batch["labels"])
        if self.task == "multilabel":
            return multi_hot(batch["labels"], self.num_classes)
        if self.task == "segmentation":
            return batch["masks"]
        if self.task == "unlabeled":
            return [bytes(name).decode("utf-8", "surrogateescape") for name in batch["names"]]
        return detection_targets(batch)

    def source(self, wrap: str) -> list[str]:
        """Return the lines of a program that make the same of `batch`, after `targets = `.

        Args:
            wrap: The call that converts an array, with `{}` in place of the array; empty to leave arrays as they are.
        """
        wrapped = wrap or "{}"
        simple = {
            "classification": 'batch["labels"].reshape(-1)',
            "multilabel": f'multi_hot(batch["labels"], {self.num_classes})',
            "segmentation": 'batch["masks"]',
        }
        if self.task in simple:
            return [f"targets = {wrapped.format(simple[self.task])}"]
        if self.task == "unlabeled":
            return ['targets = [bytes(name).decode("utf-8", "surrogateescape") for name in batch["names"]]']
        item = wrapped.format("array")
        return [
            f"targets = [{{name: {item} for name, array in target.items()}} for target in detection_targets(batch)]"
        ]


def single_labels(labels: Array | Sequence[Array]) -> Array:
    """Return one label for each sample, int64, (samples,)."""
    if not isinstance(labels, np.ndarray) or labels.shape[1:] != (1,):
        counts = sorted({len(numbers) for numbers in labels})
        found = " or ".join(map(str, counts))
        raise DataError(
            f"classification needs one label for each sample, and samples of this batch have {found}; "
            "task='multilabel' takes any number of labels"
        )
    return labels.reshape(-1)


def detection_targets(batch: Batch) -> list[dict[str, Array]]:
    """Return a dictionary for each sample.

    Its `boxes` are left, top, right, bottom in pixels of the image in the batch, float32, (n, 4); its `labels` are
    int64, (n,), all 0 if the boxes of the dataset have no classes. For validation, `original_size` is the height and
    width of the image file, to compute boxes in its pixels. Datasets with oriented boxes have two more entries:
    `corners` are x and y of their four corners in pixels, float32, (n, 4, 2), and `rotated` are center x and y, width,
    height and angle in degrees, counterclockwise, float32, (n, 5).
    """
    targets = []
    for place, boxes in enumerate(batch["boxes"]):
        labels = batch["labels"][place] if "labels" in batch else np.zeros(len(boxes), np.int64)
        target = {"boxes": boxes, "labels": labels}
        if "corners" in batch:
            corners = as_rectangles(batch["corners"][place])  # the image may have been resized to another shape
            target |= {"corners": corners, "rotated": from_corners(corners).astype(np.float32)}
        if "sizes" in batch:
            target["original_size"] = batch["sizes"][place][:2].astype(np.int64)
        targets.append(target)
    return targets
