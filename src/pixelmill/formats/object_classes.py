"""The classes of objects: names by label, from what samples say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pixelmill.formats.sample import Sample

MOST_CLASSES = 100_000


def class_names(samples: Iterable[Sample], listed: Sequence[str] | None) -> dict[int, str]:
    """Return the name of each label of objects, without gaps as far as possible; the label itself if it has none.

    Args:
        samples: The samples.
        listed: The names of all classes by label, if they are known.
    """
    found: dict[int, str] = dict(enumerate(listed or ()))
    for sample in samples:
        add_names(found, sample)
    numbers = [label for label in found if 0 <= label < MOST_CLASSES]
    return {**{label: found.get(label, str(label)) for label in range(max(numbers, default=-1) + 1)}, **found}


def add_names(found: dict[int, str], sample: Sample) -> None:
    """Add the classes of the objects of a sample; the first name of a label counts."""
    boxes = sample.boxes
    if boxes is None or not len(boxes):
        return
    labels = [0] * len(boxes) if boxes.labels is None else boxes.labels.tolist()
    names = boxes.names if boxes.names is not None and boxes.labels is not None else [""] * len(boxes)
    for label, name in zip(labels, names, strict=True):
        if not found.get(label) or found[label] == str(label):
            found[label] = name or str(label)
