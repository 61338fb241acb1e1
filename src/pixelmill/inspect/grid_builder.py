"""From a dataset to the grid of a preview: choose samples, read them, apply a recipe, and reduce them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import ClassVar

from pixelmill.errors import ArgumentError, Event
from pixelmill.formats.dataset import Dataset
from pixelmill.inspect import sample_selection
from pixelmill.inspect.duplicates import duplicate_groups
from pixelmill.inspect.preview_grid import PreviewGrid
from pixelmill.inspect.sample_viewer import SampleViewer
from pixelmill.inspect.thumbnails import Thumbnail, readable
from pixelmill.inspect.verify import Checker
from pixelmill.options.inspect import OnSample, ViewOptions

_MOST_PIXELS = 1 << 27  # of all cells of a sheet together
_SMALLEST = 32  # the smallest --size
_SHOWN_FAULTS = 4
_ENLARGED, _LARGEST, _LEAST = 3, 1024, 64  # images of a page: times the size of a cell; longest and shortest side
_PAGE_PIXELS = 160_000_000  # of all images of a page: 128 x 128 for each of 10,000
_MOST_PAGE_IMAGES = 40_000


@dataclass(frozen=True)
class View(ViewOptions):
    """What a sheet shows, and how."""

    is_page: ClassVar[bool] = False
    usual_counts: ClassVar[tuple[int, int]] = 16, 6  # without and with a recipe

    @property
    def group_length(self) -> int:
        """Cells for each sample."""
        return 1 if self.recipe is None else 1 + self.variants

    def most(self, dataset: Dataset) -> int:
        """Return the number of samples to choose."""
        if self.count is None:
            return self.usual_counts[self.recipe is not None]
        return self.count or max(len(dataset), 1)

    @property
    def filter(self) -> sample_selection.Filter:
        """What the samples must have."""
        return sample_selection.Filter(self.class_name, self.only)

    def shown_faults(self, dataset: Dataset) -> int:
        """Return the number of damaged pieces of the container that get a cell."""
        if self.errors:
            return self.most(dataset)
        return 0 if self.samples is not None or self.filter != sample_selection.Filter() else _SHOWN_FAULTS

    def grid(self, dataset: Dataset, *, on_sample: OnSample | None) -> PreviewGrid:
        """Read everything that is shown."""
        known = _damaged(dataset, self.most(dataset), on_sample) if self.errors else {}
        if self.count == 0 and not self.errors:
            self.side(len(dataset) * self.group_length)  # refuses too many before anything is read
        numbers = sorted(known) if self.errors else self._numbers(dataset, on_sample)
        side = self.side(len(numbers) * self.group_length)
        viewer = SampleViewer(dataset, self, side=side, known=known, page=self.is_page)
        groups = list(viewer.groups(numbers, on_sample))
        groups += [[_lost(fault.event(-1))] for fault in dataset.faults[: self.shown_faults(dataset)]]
        return PreviewGrid(
            title=readable(dataset.source),
            details=self._details(dataset, len(numbers)),
            groups=groups,
            group_length=self.group_length,
            size=self.size,
            columns=self.columns or _columns(len(groups), self.group_length),
            names=viewer.names(),
            labels=self.labels,
            duplicates=duplicate_groups([group[0].measures for group in groups]),
        )

    def side(self, images: int) -> int:
        """Return the longest side of an image. Raises ArgumentError for more images than a sheet can hold."""
        if images * self.size * self.size > _MOST_PIXELS:
            raise ArgumentError(_too_many(images, size=self.size))
        return self.size

    def choose(self, dataset: Dataset) -> list[int]:
        """Choose samples from all parts of the dataset."""
        return sample_selection.spread(dataset, count=self.most(dataset), seed=self.seed)

    def _numbers(self, dataset: Dataset, on_sample: OnSample | None) -> list[int]:
        if self.samples is not None:
            numbers = sample_selection.parse_numbers(self.samples) if isinstance(self.samples, str) else self.samples
            return sample_selection.check_numbers(dataset, numbers)
        if self.filter != sample_selection.Filter():
            return sample_selection.matching(
                dataset, self.filter, count=self.most(dataset), seed=self.seed, on_look=on_sample
            )
        return self.choose(dataset)

    def _details(self, dataset: Dataset, shown: int) -> tuple[str, ...]:
        part = f"all {shown:,}" if shown == len(dataset) > 1 else f"{shown:,} of {len(dataset):,}"
        samples = f"{part} sample{'' if len(dataset) == 1 else 's'}"
        found = f"{dataset.format}, {samples}"
        if dataset.faults:
            found += f", {len(dataset.faults)} lost piece{'' if len(dataset.faults) == 1 else 's'}"
        if self.recipe is None:
            return (found,)
        return (found, readable(f"recipe {self.recipe}, seed {self.seed}"))


@dataclass(frozen=True)
class PageView(View):
    """What a page shows: more samples than a sheet, in the proportions of the dataset, smaller if there are many."""

    is_page: ClassVar[bool] = True
    usual_counts: ClassVar[tuple[int, int]] = 1000, 48

    def side(self, images: int) -> int:
        """Return the longest side of an image. Raises ArgumentError for more images than a page can hold."""
        if images > _MOST_PAGE_IMAGES:
            raise ArgumentError(
                f"preview: {images:,} images are too many for one page, which holds {_MOST_PAGE_IMAGES:,}; "
                "show fewer (--count, --class, --samples)"
            )
        return max(min(self.size * _ENLARGED, _LARGEST, math.isqrt(_PAGE_PIXELS // max(images, 1))), _LEAST)

    def choose(self, dataset: Dataset) -> list[int]:
        """Choose samples from all parts of the dataset, whatever their classes, so that statistics are those of all."""
        return sample_selection.evenly_spread(len(dataset), count=self.most(dataset), seed=self.seed)


def _damaged(dataset: Dataset, most: int, on_sample: OnSample | None) -> dict[int, Event]:
    """Read and decode samples until enough damaged ones are found; return what is wrong with each."""
    problems: list[Event] = []
    Checker(dataset, problems, on_sample, most=most).decode(os.cpu_count() or 1)
    found = {event.sample: event for event in reversed(problems)}
    return {number: found[number] for number in sorted(found)[:most]}


def _lost(event: Event) -> Thumbnail:
    return Thumbnail(-1, key=readable(event.path or ""), problem=event)


def _too_many(images: int, *, size: int) -> str:
    """Return the message for more pixels than a sheet may have, with values that fit."""
    smaller = int((_MOST_PIXELS / images) ** 0.5)
    fits = f"--size {smaller} fits" if smaller >= _SMALLEST else f"--size {_SMALLEST} is the smallest"
    text = f"preview: {images:,} images of {size} pixels on a side are too many for one preview"
    return f"{text}; {fits}, or {_MOST_PIXELS // size**2:,} images of this size (--count), or a page (-o look.html)"


def _columns(groups: int, length: int) -> int:
    """Return the number of cells in a row: a sample with many variants gets a row of its own."""
    if length > 1:
        return length if length > 2 else min(2 * groups, 6)
    if groups <= 4:
        return max(groups, 1)
    usual = 4 if groups <= 16 else 6 if groups <= 48 else 8
    return min((usual, usual + 1, usual - 1), key=lambda columns: -groups % columns)  # few empty cells in the last row
