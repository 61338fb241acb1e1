"""Which samples a preview shows: some of all parts and classes of a dataset, or those that match a filter."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.dataset import Dataset, ahead
from pixelmill.formats.example import Feature
from pixelmill.formats.sample import Sample
from pixelmill.pipeline.permutation import fold, permute

ONLY = ("boxes", "masks")
MOST_SAMPLES = 10_000
_CANDIDATES = 4  # for each sample to choose, to find classes among
_RANGE = re.compile(r"\s*([0-9]{1,18})(?:\s*-\s*([0-9]{1,18}))?\s*")
_PIECE = 1024
_SHOWN_CLASSES = 8
_OBJECT_NAMES = ("image/object/class/text", "objects/class/text")  # names of fewer or more objects than boxes


@dataclass(frozen=True)
class Filter:
    """What samples must have.

    Attributes:
        class_name: The name or the number of a class, of the sample or of one of its boxes.
        only: `boxes` or `masks`.
    """

    class_name: str | None = None
    only: str | None = None

    def takes(self, dataset: Dataset, number: int, sample: Sample) -> bool:
        """Whether a sample matches."""
        if self.only == "boxes" and not sample.boxes:
            return False
        if self.only == "masks" and sample.mask is None and not dataset.has_mask(number):
            return False
        return self.class_name is None or self.class_name in class_texts(sample)


def class_texts(sample: Sample) -> set[str]:
    """Return names and numbers of all classes of a sample and its boxes."""
    found = {sample.class_name or "", *(str(label) for label in sample.labels), *box_names(sample)}
    if sample.boxes is not None and sample.boxes.labels is not None:
        found.update(str(label) for label in sample.boxes.labels.tolist())
    return found - {""}


def box_names(sample: Sample) -> tuple[str, ...]:
    """Return the class names of the boxes, if the sample has one for each box."""
    if sample.boxes is not None and sample.boxes.names is not None:
        return sample.boxes.names
    for name in _OBJECT_NAMES:
        feature = sample.extra.get(name)
        if isinstance(feature, Feature) and feature.kind == "bytes" and len(feature) == len(sample.boxes or ()):
            return tuple(value.decode("utf-8", "replace") for value in feature.values)
    return ()


def parse_numbers(text: str) -> list[int]:
    """Read numbers of samples such as `3,7,100-120`."""
    numbers: list[int] = []
    for part in text.split(","):
        found = _RANGE.fullmatch(part)
        first, last = (0, -1) if found is None else (int(found[1]), int(found[2] or found[1]))
        if last < first:
            raise ArgumentError(f"samples: {part!r} is not a number such as 7 or a range such as 100-120")
        if len(numbers) + last - first >= MOST_SAMPLES:
            raise ArgumentError(f"samples: {text[:60]!r} are more than {MOST_SAMPLES}")
        numbers.extend(range(first, last + 1))
    return list(dict.fromkeys(numbers))


def check_numbers(dataset: Dataset, numbers: Sequence[int]) -> list[int]:
    """Return the numbers without duplicates. Raises ArgumentError for one that the dataset does not have."""
    for number in numbers:
        if not 0 <= number < len(dataset):
            raise ArgumentError(f"samples: there is no sample {number} in {dataset.source}, which has {len(dataset)}")
    return list(dict.fromkeys(numbers))


def spread(dataset: Dataset, *, count: int, seed: int) -> list[int]:
    """Choose samples from all parts of a dataset, and as evenly as possible from its classes.

    Reads a few candidates for each, never the whole dataset.
    """
    length = len(dataset)
    if length <= count:
        return list(range(length))
    candidates = evenly_spread(length, count=count * _CANDIDATES, seed=seed)
    by_class: dict[Hashable, list[int]] = {}
    damaged: list[int] = []
    dataset.expect_outlines(candidates)
    for number in candidates:
        try:
            by_class.setdefault(_class_of(dataset.outline(number)), []).append(number)
        except DataError:
            damaged.append(number)
    # Damaged samples are shown as often as they occur; they are not a class that gets as many samples as others.
    bad = min(-(-count * len(damaged) // len(candidates)), count)
    chosen = _evenly(damaged, bad, phase=0.5)
    groups = list(by_class.values())
    quotas = _quotas([len(group) for group in groups], count - bad)
    for place, (numbers, quota) in enumerate(zip(groups, quotas, strict=True)):
        chosen += _evenly(numbers, quota, phase=(place + 0.5) / len(groups))
    return sorted(chosen)


def evenly_spread(length: int, *, count: int, seed: int) -> list[int]:
    """Choose one number from each of `count` equal parts of a dataset; all numbers if there are no more."""
    parts = min(count, length)
    edges = [length * part // parts for part in range(parts + 1)] if parts else []
    return [low + fold(seed, low) % (high - low) for low, high in pairwise(edges)]


def matching(
    dataset: Dataset, wanted: Filter, *, count: int, seed: int, on_look: Callable[[int, int], object] | None = None
) -> list[int]:
    """Choose samples that match, in an order that depends on the seed, and stop when there are enough."""
    chosen: list[int] = []
    seen: set[str] = set()
    for done, number in enumerate(_shuffled(dataset, seed), start=1):
        try:
            sample = dataset.outline(number)
        except DataError:
            continue
        finally:
            if on_look is not None:
                on_look(done, len(dataset))
        if wanted.takes(dataset, number, sample):
            chosen.append(number)
            if len(chosen) == count:
                break
        elif wanted.class_name is not None and len(seen) < _SHOWN_CLASSES:
            seen |= class_texts(sample)
    if not chosen:
        what = [f"of class {wanted.class_name!r}"] if wanted.class_name is not None else []
        what += [f"with {wanted.only}"] if wanted.only else []
        there = f"; there are {', '.join(sorted(seen)[:_SHOWN_CLASSES])}" if seen else ""
        raise ArgumentError(f"{dataset.source} has no sample {' '.join(what)}{there}")
    return sorted(chosen)


def _shuffled(dataset: Dataset, seed: int) -> Iterator[int]:
    """Yield all numbers in an order that depends on the seed; outlines of the next ones are read ahead."""
    length = len(dataset)
    for first in range(0, length, _PIECE):
        places = np.arange(first, min(first + _PIECE, length))
        piece = permute(places, length, fold(seed)).tolist()
        yield from ahead(piece, dataset.expect_outlines)


def _class_of(sample: Sample) -> Hashable:
    """Return the class of a sample, or that of its first box."""
    if sample.class_name is not None:
        return sample.class_name
    if sample.labels and isinstance(sample.labels[0], int):
        return sample.labels[0]
    return int(sample.boxes.labels[0]) if sample.boxes and sample.boxes.labels is not None else None


def _quotas(lengths: Sequence[int], count: int) -> list[int]:
    """Divide a number among groups as equally as their lengths allow."""
    quotas = [0] * len(lengths)
    while count > 0 and any(quota < length for quota, length in zip(quotas, lengths, strict=True)):
        for place, length in enumerate(lengths):
            if quotas[place] < length and count > 0:
                quotas[place] += 1
                count -= 1
    return quotas


def _evenly(numbers: Sequence[int], count: int, *, phase: float) -> list[int]:
    """Take evenly spaced numbers; the phase shifts the start, so that classes do not all start alike."""
    return [numbers[int(len(numbers) * (place + phase) / count)] for place in range(count)]
