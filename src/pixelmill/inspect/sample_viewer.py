"""Read samples one after the other and make the cells of a preview of them, with the variants of a recipe."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from pixelmill.augmentation.variants import VariantMaker
from pixelmill.errors import DataError, Event
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.sample import Sample
from pixelmill.inspect.split_names import split_of
from pixelmill.inspect.thumbnails import Thumbnail, page_thumbnail, readable, thumbnail_of
from pixelmill.options.augment import VariantOptions
from pixelmill.options.inspect import OnSample, ViewOptions
from pixelmill.recipe import load_recipe

_AHEAD = 4  # samples per thread that are in memory at once
Group = list[Thumbnail]


class SampleViewer:
    """Makes the cells of samples.

    Args:
        dataset: The dataset.
        options: What is drawn.
        side: The longest side of an image.
        known: What is known to be wrong with samples, by their numbers.
        page: Whether images are measured and encoded, for a page.
    """

    def __init__(
        self, dataset: Dataset, options: ViewOptions, *, side: int, known: Mapping[int, Event], page: bool
    ) -> None:
        self._dataset = dataset
        self._known = known
        self._options = options
        self._side = side
        self._make = page_thumbnail if page else thumbnail_of
        self._names: dict[int, str] = dict(enumerate(readable(name) for name in dataset.classes))
        self._agree = self._differ = 0

    def groups(self, numbers: Sequence[int], on_sample: OnSample | None) -> Iterator[Group]:
        """Yield the cells of each sample, in order; a few samples are decoded at a time."""
        self._dataset.expect(numbers)
        found = self._with_variants(numbers) if self._options.recipe is not None else self._originals(numbers)
        for done, group in enumerate(found, start=1):
            yield group
            if on_sample is not None:
                on_sample(done, len(numbers))

    def _originals(self, numbers: Sequence[int]) -> Iterator[Group]:
        threads = os.cpu_count() or 1
        pending: deque[Future[Group]] = deque()
        with ThreadPoolExecutor(threads) as pool:
            for number in numbers:
                pending.append(pool.submit(self._read(number)))
                if len(pending) > _AHEAD * threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()

    def _with_variants(self, numbers: Sequence[int]) -> Iterator[Group]:
        recipe = load_recipe(self._options.recipe or "")
        options = VariantOptions(seed=self._options.seed)
        with VariantMaker(recipe, options, dataset=self._dataset) as maker:
            for number in numbers:
                yield self._read(number, maker)()

    def _read(self, number: int, maker: VariantMaker | None = None) -> Callable[[], Group]:
        """Read a sample, and return the function that makes its cells."""
        event = self._dataset.event(number, "corrupt", "")
        split = split_of(self._dataset.source, event.path or "", is_record=event.offset is not None)
        try:
            sample = self._dataset.sample(number)
        except DataError as error:
            lost = Thumbnail(number, key=readable(event.path or ""), problem=_first(error, event), split=split)
            return lambda: [lost]
        self._learn(sample)
        split = readable(sample.split or split)
        return lambda: [replace(cell, split=split) for cell in self._group(sample, number, event, maker)]

    def _group(self, sample: Sample, number: int, event: Event, maker: VariantMaker | None) -> Iterator[Thumbnail]:
        original = self._look(sample, number, 0, event)
        if original.problem is None:
            original = replace(original, problem=self._known.get(number))
        yield original
        if maker is None or original.shown_size is None:
            return
        try:
            made = maker.make(sample, number, count=self._options.variants)
        except DataError as error:
            yield Thumbnail(number, 1, readable(sample.key), problem=_first(error, event))
            return
        for variant, new in enumerate(made, start=1):
            yield self._look(new, number, variant, event)

    def _look(self, sample: Sample, number: int, variant: int, event: Event) -> Thumbnail:
        only = self._options.only
        wanted = replace(
            sample,
            boxes=None if only == "masks" else sample.boxes,
            mask=None if only == "boxes" else sample.mask,
        )
        return self._make(wanted, number, variant=variant, side=self._side, event=event)

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


def _first(error: DataError, event: Event) -> Event:
    found = error.events[0] if error.events else replace(event, message=str(error))
    return replace(found, sample=event.sample, path=event.path, offset=event.offset)
