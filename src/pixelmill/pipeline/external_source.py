"""Asking the user's own program for data, and checking what it gives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pixelmill.engine.native import Array, Data
from pixelmill.errors import ArgumentError, EngineError
from pixelmill.operators.sources import ExternalSource
from pixelmill.pipeline.parallel_source import ParallelSource
from pixelmill.pipeline.source_workers import SourceWorkers
from pixelmill.types import BatchInfo, SampleInfo, to_data_type

MOST_AXES = 6  # of the native core


class Feed:
    """The state of one external source: how far it is, and what was fed to it.

    Args:
        external: The source as the graph has it.
        name: Its name, for messages.
        batch_size: How many samples a batch may have.
    """

    def __init__(self, external: ExternalSource, name: str, batch_size: int) -> None:
        self.external = external
        self.name = name
        self.batch_size = batch_size
        self.iteration = 0
        self.epoch = 0
        self.layout = external.layouts[0]
        self._fed: deque[Data] = deque()
        self._last: Data | None = None
        self._iterator: Iterator[Any] | None = None
        self._ask = self._make_asker() if external.source is not None else None

    def use_workers(self, workers: SourceWorkers, number: int) -> None:
        """Have worker processes make the batches."""
        source = ParallelSource(workers, number, self.external, name=self.name, batch_size=self.batch_size)
        if self.external.per_sample:
            self._ask = lambda: self._grouped(source.samples(self.iteration, self.epoch))
        else:
            self._ask = lambda: source.samples(self.iteration, self.epoch)[0]

    @property
    def waiting(self) -> bool:
        """Whether there is nothing to take until somebody feeds it."""
        return self._ask is None and not self._fed and not (self.external.repeat_last and self._last is not None)

    @property
    def _begun(self) -> bool:
        return bool(self._fed) or self._last is not None

    def feed(self, data: Any, layout: str | None = None) -> None:
        """Take a batch for later."""
        if self._ask is not None:
            raise EngineError(f"feed_input: {self.name!r} has a source of its own and cannot be fed")
        batch = self._checked(data, 0)
        self._name(layout or _layout_of(data), batch[0].ndim)
        self._fed.append(batch)

    def _name(self, layout: str, ndim: int) -> None:
        """Let the first batch name the axes, where `external_source` did not."""
        if not layout or layout == self.layout:
            return
        if len(layout) != ndim:
            raise ArgumentError(f"feed_input: the layout {layout!r} of {self.name!r} does not fit {ndim} axes")
        if self.external.layouts[0] or self._begun:
            raise ArgumentError(f"feed_input: the layout of {self.name!r} was {self.layout!r}, now it is {layout!r}")
        self.layout = layout

    def take(self) -> list[Data]:
        """Give the next batch, one value for each output. StopIteration ends the epoch."""
        if self._ask is None:
            if self.waiting:
                raise EngineError(f"run: nothing was fed to {self.name!r}; call feed_input, or run({self.name}=...)")
            self._last = self._fed.popleft() if self._fed else self._last
            self.iteration += 1
            return [self._last]  # type: ignore[list-item]
        batch = self._ask()
        self.iteration += 1
        parts = batch if self.external.several else (batch,)
        if self.external.several and len(parts) != self.external.outputs:
            raise ArgumentError(f"external_source {self.name!r}: {len(parts)} outputs, not {self.external.outputs}")
        checked = [self._checked(part, index) for index, part in enumerate(parts)]
        if len({len(part) for part in checked}) > 1:
            raise ArgumentError(f"external_source {self.name!r}: its outputs have different numbers of samples")
        return checked

    def reset(self) -> None:
        """Begin the next epoch."""
        self.iteration = 0
        self.epoch += 1
        if self.external.cycle == "raise":
            self._iterator = None

    def _make_asker(self) -> Callable[[], Any]:
        source: Any = self.external.source
        if not self.external.is_callable:
            return self._samples_of_iterator if self.external.per_sample else self._next
        wants = int(self.external.wants_argument)
        if self.external.per_sample:
            return lambda: self._grouped(
                [source(*self._sample_info(place)[:wants]) for place in range(self.batch_size)]
            )
        info = (lambda: BatchInfo(self.iteration, self.epoch)) if self.external.wants_info else lambda: self.iteration
        return lambda: source(*(info(),)[:wants])

    def _sample_info(self, place: int) -> tuple[SampleInfo]:
        first = self.iteration * self.batch_size
        return (SampleInfo(first + place, place, self.iteration, self.epoch),)

    def _next(self) -> Any:
        source: Any = self.external.source
        make = source if self.external.makes_iterators else lambda: source
        if self._iterator is None:
            self._iterator = iter(make())
        try:
            return next(self._iterator)
        except StopIteration:
            if self.external.cycle != "quiet":
                raise
            self._iterator = iter(make())
            return next(self._iterator)

    def _samples_of_iterator(self) -> Any:
        return self._grouped([self._next() for _ in range(self.batch_size)])

    def _grouped(self, samples: list[Any]) -> Any:
        """Turn samples with several parts into parts with all samples."""
        if not self.external.several:
            return samples
        return [[sample[index] for sample in samples] for index in range(self.external.outputs)]

    def _checked(self, data: Any, index: int) -> Data:
        what = f"external_source {self.name!r}"
        batch = _arrays(data, what)
        if len(batch) > self.batch_size:
            raise ArgumentError(f"{what}: a batch of {len(batch)} samples is larger than batch_size {self.batch_size}")
        if len(batch) == 0:
            raise ArgumentError(f"{what}: an empty batch")
        kinds = {(sample.dtype, sample.ndim) for sample in batch}
        if len(kinds) > 1:
            raise ArgumentError(
                f"{what}: samples of one batch differ in type or number of axes: {sorted(map(str, kinds))}"
            )
        ((dtype, ndim),) = kinds
        wanted = self.external.dtypes[index]
        if wanted is not None and to_data_type(dtype) != to_data_type(wanted):
            raise ArgumentError(f"{what}: elements are {dtype}, but {to_data_type(wanted).name} was declared")
        if self.external.ndims[index] not in (None, ndim):
            raise ArgumentError(f"{what}: samples have {ndim} axes, but {self.external.ndims[index]} were declared")
        layout = self.external.layouts[index]
        if layout and len(layout) != ndim:
            raise ArgumentError(f"{what}: samples have {ndim} axes, but the layout {layout!r} has {len(layout)}")
        if ndim > MOST_AXES:
            raise ArgumentError(f"{what}: samples have {ndim} axes, more than {MOST_AXES}")
        to_data_type(dtype)
        return _kept(batch) if self.external.copies else batch


def _kept(batch: Data) -> Data:
    """Copy what its owner might change before the core has read it."""
    if isinstance(batch, np.ndarray):
        return batch.copy() if batch.flags.writeable else batch
    if all(sample.flags.writeable and sample.shape == batch[0].shape for sample in batch):
        return np.stack(batch)
    return [sample.copy() if sample.flags.writeable else sample for sample in batch]


def _arrays(data: Any, what: str) -> Data:
    """Give a batch as one array or a list of arrays, without copying what is an array already."""
    if isinstance(data, (list, tuple)):
        if any(isinstance(sample, (bool, int, float)) for sample in data):
            raise ArgumentError(f"{what}: samples must be arrays, not Python numbers; wrap them by numpy.array")
        return [_array(sample) for sample in data]
    samples = getattr(data, "_samples", None)  # a TensorList
    if samples is not None:
        return list(samples)
    array = _array(data)
    if array.ndim == 0:
        raise ArgumentError(f"{what}: a batch is a list of arrays, or an array with the samples along its first axis")
    return array


def _layout_of(data: Any) -> str:
    """Give the names of axes that a TensorList has."""
    layout = getattr(data, "layout", None)
    return str(layout()) if callable(layout) else ""


def _array(sample: Any) -> Array:
    if isinstance(sample, (bytes, bytearray, memoryview)):
        return np.frombuffer(sample, np.uint8)
    array = np.asarray(sample)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array
