"""From a dataset to the grid of a preview: choose samples, read them, apply a recipe, and reduce them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from pixelmill.augmentation.variants import VariantMaker
from pixelmill.errors import ArgumentError, DataError, Event
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.sample import Sample
from pixelmill.inspect import sample_selection
from pixelmill.inspect.preview_grid import PreviewGrid
from pixelmill.inspect.thumbnails import Thumbnail, readable, thumbnail_of
from pixelmill.inspect.verify import Checker
from pixelmill.options.augment import VariantOptions
from pixelmill.options.inspect import OnSample, ViewOptions
from pixelmill.recipe import load_recipe

_COUNT, _COUNT_WITH_RECIPE = 16, 6
_MOST_PIXELS = 1 << 27  # of all cells together
_SMALLEST = 32  # the smallest --size
_SHOWN_FAULTS = 4


@dataclass(frozen=True)
class View(ViewOptions):
    """What a preview shows, and how."""

    @property
    def group_length(self) -> int:
        """Cells for each sample."""
        return 1 if self.recipe is None else 1 + self.variants

    @property
    def most(self) -> int:
        """Number of samples to choose."""
        return self.count or (_COUNT if self.recipe is None else _COUNT_WITH_RECIPE)

    @property
    def filter(self) -> sample_selection.Filter:
        """What the samples must have."""
        return sample_selection.Filter(self.class_name, self.only)

    @property
    def shown_faults(self) -> int:
        """Number of damaged pieces of the container that get a cell."""
        if self.errors:
            return self.most
        return 0 if self.samples is not None or self.filter != sample_selection.Filter() else _SHOWN_FAULTS

    def grid(self, dataset: Dataset, *, side: int, on_sample: OnSample | None) -> PreviewGrid:
        """Read everything that is shown, in images of at most `side` pixels in width and height."""
        known = _damaged(dataset, self.most, on_sample) if self.errors else {}
        numbers = sorted(known) if self.errors else self._numbers(dataset, on_sample)
        images = len(numbers) * self.group_length
        if images * side * side > _MOST_PIXELS:
            raise ArgumentError(_too_many(images, side=side, size=self.size))
        viewer = _Viewer(dataset, self, side, known)
        groups = list(viewer.groups(numbers, on_sample))
        groups += [[_lost(fault.event(-1))] for fault in dataset.faults[: self.shown_faults]]
        return PreviewGrid(
            title=readable(dataset.source),
            details=self._details(dataset, len(numbers)),
            groups=groups,
            group_length=self.group_length,
            size=self.size,
            columns=self.columns or _columns(len(groups), self.group_length),
            names=viewer.names(),
            labels=self.labels,
        )

    def _numbers(self, dataset: Dataset, on_sample: OnSample | None) -> list[int]:
        if self.samples is not None:
            numbers = sample_selection.parse_numbers(self.samples) if isinstance(self.samples, str) else self.samples
            return sample_selection.check_numbers(dataset, numbers)
        if self.filter != sample_selection.Filter():
            return sample_selection.matching(dataset, self.filter, count=self.most, seed=self.seed, on_look=on_sample)
        return sample_selection.spread(dataset, count=self.most, seed=self.seed)

    def _details(self, dataset: Dataset, shown: int) -> tuple[str, ...]:
        part = f"all {shown}" if shown == len(dataset) > 1 else f"{shown} of {len(dataset):,}"
        samples = f"{part} sample{'' if len(dataset) == 1 else 's'}"
        found = f"{dataset.format}, {samples}"
        if dataset.faults:
            found += f", {len(dataset.faults)} lost piece{'' if len(dataset.faults) == 1 else 's'}"
        if self.recipe is None:
            return (found,)
        return (found, readable(f"recipe {self.recipe}, seed {self.seed}"))


class _Viewer:
    """Reads and reduces samples, one at a time."""

    def __init__(self, dataset: Dataset, view: View, side: int, known: Mapping[int, Event]) -> None:
        self._dataset = dataset
        self._known = known
        self._view = view
        self._side = side
        self._names: dict[int, str] = dict(enumerate(readable(name) for name in dataset.classes))
        self._agree = self._differ = 0

    def groups(self, numbers: Sequence[int], on_sample: OnSample | None) -> Iterator[list[Thumbnail]]:
        """Yield the cells of each sample."""
        view = self._view
        recipe = None if view.recipe is None else load_recipe(view.recipe)
        with nullcontext() if recipe is None else VariantMaker(recipe, VariantOptions(seed=view.seed)) as maker:
            self._dataset.expect(numbers)
            for done, number in enumerate(numbers, start=1):
                yield list(self._group(number, maker))
                if on_sample is not None:
                    on_sample(done, len(numbers))

    def _group(self, number: int, maker: VariantMaker | None) -> Iterator[Thumbnail]:
        event = self._dataset.event(number, "corrupt", "")
        try:
            sample = self._dataset.sample(number)
        except DataError as error:
            yield Thumbnail(number, key=readable(event.path or ""), problem=_first(error, event))
            return
        self._learn(sample)
        original = self._look(sample, number, 0, event)
        if original.problem is None:
            original = replace(original, problem=self._known.get(number))
        yield original
        if maker is None or original.image is None:
            return
        try:
            made = maker.make(sample, number, count=self._view.variants)
        except DataError as error:
            yield Thumbnail(number, 1, readable(sample.key), problem=_first(error, event))
            return
        for variant, new in enumerate(made, start=1):
            yield self._look(new, number, variant, event)

    def _look(self, sample: Sample, number: int, variant: int, event: Event) -> Thumbnail:
        only = self._view.only
        wanted = replace(
            sample,
            boxes=None if only == "masks" else sample.boxes,
            mask=None if only == "boxes" else sample.mask,
        )
        return thumbnail_of(wanted, number, variant=variant, side=self._side, event=event)

    def _learn(self, sample: Sample) -> None:
        """Collect class names, and whether boxes seem to be numbered like samples."""
        if len(sample.labels) == 1 and isinstance(sample.labels[0], int):
            if sample.class_name is not None:
                self._names.setdefault(sample.labels[0], readable(sample.class_name))
            if sample.boxes and sample.boxes.labels is not None:
                self._agree += sample.labels[0] in sample.boxes.labels
                self._differ += sample.labels[0] not in sample.boxes.labels

    def names(self) -> Mapping[int, str]:
        """Return class names for boxes: those of the samples, if each sample has a box of its own class."""
        return self._names if self._agree and not self._differ else {}


def _damaged(dataset: Dataset, most: int, on_sample: OnSample | None) -> dict[int, Event]:
    """Read and decode samples until enough damaged ones are found; return what is wrong with each."""
    problems: list[Event] = []
    Checker(dataset, problems, on_sample, most=most).decode(os.cpu_count() or 1)
    found = {event.sample: event for event in reversed(problems)}
    return {number: found[number] for number in sorted(found)[:most]}


def _first(error: DataError, event: Event) -> Event:
    found = error.events[0] if error.events else replace(event, message=str(error))
    return replace(found, sample=event.sample, path=event.path, offset=event.offset)


def _lost(event: Event) -> Thumbnail:
    return Thumbnail(-1, key=readable(event.path or ""), problem=event)


def _too_many(images: int, *, side: int, size: int) -> str:
    """Return the message for more pixels than a preview may have, with values that fit."""
    smaller = int((_MOST_PIXELS / images) ** 0.5) * size // side
    fewer = _MOST_PIXELS // side**2
    fits = f"--size {smaller} fits" if smaller >= _SMALLEST else f"--size {_SMALLEST} is the smallest"
    text = f"preview: {images:,} images of {side} pixels on a side are too many for one preview"
    return f"{text}; {fits}, or {fewer:,} images of this size (--count)"


def _columns(groups: int, length: int) -> int:
    """Return the number of cells in a row: a sample with many variants gets a row of its own."""
    if length > 1:
        return length if length > 2 else min(2 * groups, 6)
    if groups <= 4:
        return max(groups, 1)
    usual = 4 if groups <= 16 else 6 if groups <= 48 else 8
    return min((usual, usual + 1, usual - 1), key=lambda columns: -groups % columns)  # few empty cells in the last row
