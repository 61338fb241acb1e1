"""Small datasets with annotations of every task, for the tests of `ImageLoader`."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from dataset_cases import write
from PIL import Image

from pixelmill.formats.sample import Boxes, Sample
from pixelmill.types import Array

SIDE = 64


def pixels(number: int) -> Array:
    """Return a smooth image that differs for each number, so that JPEG changes it little."""
    y, x = np.mgrid[:SIDE, :SIDE]
    planes = [(x * 2 + number * 7) % 256, (y * 3 + number * 11) % 256, (x + y + number * 5) % 256]
    return np.stack(planes, axis=-1).astype(np.uint8)


def class_mask(number: int) -> Array:
    """Return the class numbers of a mask: a rectangle of class 1 + number % 3."""
    mask = np.zeros((SIDE, SIDE), np.uint8)
    mask[8 + number : 40 + number, 16:40] = 1 + number % 3
    return mask


def png(array: Array, *, palette: bool = False) -> bytes:
    """Encode an array; with a palette whose colors are not the numbers."""
    image = Image.fromarray(array)
    if palette:
        image = image.convert("L")
        image.putpalette([value for number in range(256) for value in (255 - number, 40, number // 2)])
    stream = io.BytesIO()
    image.save(stream, "png")
    return stream.getvalue()


def classified(count: int = 12, *, labels: Sequence[int] = (0, 1, 2)) -> list[Sample]:
    """Return samples with one label each, in turn."""
    return [
        Sample(f"s{number:02}", png(pixels(number)), "png", (labels[number % len(labels)],)) for number in range(count)
    ]


def with_several_labels(count: int = 8) -> list[Sample]:
    """Return samples with 0, 1, 2, ... labels."""
    return [Sample(f"s{number}", png(pixels(number)), "png", tuple(range(number % 4))) for number in range(count)]


def with_boxes(count: int = 8) -> list[Sample]:
    """Return samples with 0, 1, 2 boxes."""
    samples = []
    for number in range(count):
        ltrb = [[0.1 * place, 0.25, 0.5 + 0.1 * place, 0.75] for place in range(number % 3)]
        boxes = Boxes(np.array(ltrb, np.float32), np.arange(number % 3) + 1)
        samples.append(Sample(f"s{number}", png(pixels(number)), "png", (), boxes=boxes))
    return samples


def with_masks(count: int = 8, *, palette: bool = True) -> list[Sample]:
    """Return samples with masks."""
    return [
        Sample(f"s{number}", png(pixels(number)), "png", (), mask=png(class_mask(number), palette=palette))
        for number in range(count)
    ]


def folder_of_classes(root: Path, counts: Sequence[int] = (4, 3, 2)) -> Path:
    """Write a folder with one subfolder per class: ant, bee, cat, ..."""
    number = 0
    for name, count in zip(("ant", "bee", "cat", "dog"), counts, strict=False):
        (root / name).mkdir(parents=True)
        for _ in range(count):
            (root / name / f"{number:02}.png").write_bytes(png(pixels(number)))
            number += 1
    return root


TASKS = {
    "classification": classified,
    "multilabel": with_several_labels,
    "detection": with_boxes,
    "segmentation": with_masks,
    "unlabeled": lambda: [Sample(f"s{number}", png(pixels(number)), "png") for number in range(8)],
}


def write_task(folder: Path, task: str, format: str = "tfrecord") -> Path:
    """Write the dataset of a task."""
    return write(folder, format, TASKS[task]())
