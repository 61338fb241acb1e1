"""Take data from the user's program and check it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pixelmill.engine.native import Array, Data
from pixelmill.errors import ArgumentError, EngineError, UnknownNameError
from pixelmill.graph.nodes import DataNode
from pixelmill.operators.sources import ExternalSource
from pixelmill.steps.sources import ExternalInput
from pixelmill.types import BatchInfo, SampleInfo, to_data_type

if TYPE_CHECKING:
    from pixelmill.pipeline.source_workers import SourceWorkers

MAX_AXES = 6  # the limit of the native core


class Feed:
    """The state of one external source: its position, and the batches that were fed to it.

    Args:
        external: The source in the graph.
        name: Its name, for messages.
        batch_size: The largest number of samples in a batch.
    """

    def __init__(self, external: ExternalSource, name: str, batch_size: int) -> None:
        self.external = external
        self.name = name
        self.batch_size = batch_size
        self.iteration = 0
        self.epoch = 0
        self.layouts = external.layouts
        self._fed: deque[Data] = deque()
        self._last: Data | None = None
        self._is_first = True
        self._iterator: Iterator[object] | None = None
        self._call = self._make_call() if external.source is not None else None

    def use_workers(self, workers: SourceWorkers, number: int) -> None:
        """Have worker processes make the batches."""
        # Imported on use: multiprocessing and its sockets would slow down every worker of a job.
        from pixelmill.pipeline.parallel_source import ParallelSource

        source = ParallelSource(workers, number, self.external, name=self.name, batch_size=self.batch_size)
        if self.external.per_sample:
            self._call = lambda: self._grouped(source.samples(self.iteration, self.epoch))
        else:
            self._call = lambda: source.samples(self.iteration, self.epoch)[0]

    @property
    def waiting(self) -> bool:
        """Whether no batch is available until one is fed."""
        return self._call is None and not self._fed and not (self.external.repeat_last and self._last is not None)

    @property
    def _has_been_fed(self) -> bool:
        return bool(self._fed) or self._last is not None

    def feed(self, data: object, layout: str | None = None) -> None:
        """Check a batch and keep it for a later run."""
        if self._call is not None:
            raise EngineError(f"feed_input: {self.name!r} has a source of its own and cannot be fed")
        batch = self._checked(data, 0)
        self._set_layout(layout or _layout_of(data), batch[0].ndim, first=not self._has_been_fed)
        self._fed.append(batch)

    def _set_layout(self, layout: str, ndim: int, *, output: int = 0, first: bool) -> None:
        """Set the layout of an output from the first batch, if `external_source` did not set it."""
        known = self.layouts[output]
        if not layout or layout == known:
            return
        if len(layout) != ndim:
            raise ArgumentError(f"external_source: the layout {layout!r} of {self.name!r} does not name {ndim} axes")
        if self.external.layouts[output] or not first:
            raise ArgumentError(
                f"external_source: the layout of {self.name!r} is {known!r} and cannot change to {layout!r}"
            )
        self.layouts = (*self.layouts[:output], layout, *self.layouts[output + 1 :])

    def take(self) -> list[Data]:
        """Return the next batch, one value for each output. Raises StopIteration at the end of the epoch."""
        if self._call is None:
            if self.waiting:
                raise EngineError(f"run: nothing was fed to {self.name!r}; call feed_input, or run({self.name}=...)")
            self._last = self._fed.popleft() if self._fed else self._last
            self.iteration += 1
            return [self._last]  # type: ignore[list-item]
        batch = self._call()
        self.iteration += 1
        parts = cast("Sequence[object]", batch) if self.external.several else (batch,)
        if self.external.several and len(parts) != self.external.outputs:
            raise ArgumentError(
                f"external_source {self.name!r}: expected {self.external.outputs} outputs, got {len(parts)}"
            )
        checked = [self._checked(part, index) for index, part in enumerate(parts)]
        for index, (part, made) in enumerate(zip(parts, checked, strict=True)):
            if not self.external.layouts[index]:  # the declared layout replaces that of the data
                self._set_layout(_layout_of(part), made[0].ndim, output=index, first=self._is_first)
        self._is_first = False
        sizes = {len(part) for part in checked}
        if len(sizes) > 1:
            raise ArgumentError(
                f"external_source {self.name!r}: all outputs must have the same number of samples, got {sorted(sizes)}"
            )
        return checked

    def reset(self) -> None:
        """Start the next epoch."""
        self.iteration = 0
        self.epoch += 1
        if self.external.cycle == "raise":
            self._iterator = None

    def _make_call(self) -> Callable[[], object]:
        """Return the function that gets the next batch from the source, which may be one of six kinds."""
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

    def _next(self) -> object:
        if self._iterator is None:
            self._iterator = self._new_iterator()
        try:
            return next(self._iterator)
        except StopIteration:
            if self.external.cycle != "quiet":
                raise
            self._iterator = self._new_iterator()
            return next(self._iterator)

    def _new_iterator(self) -> Iterator[object]:
        source: Any = self.external.source
        return iter(cast("Iterable[object]", source() if self.external.makes_iterators else source))

    def _samples_of_iterator(self) -> object:
        return self._grouped([self._next() for _ in range(self.batch_size)])

    def _grouped(self, samples: list[Any]) -> object:
        """Transpose samples with several outputs to one list of samples for each output."""
        if not self.external.several:
            return samples
        return [[sample[index] for sample in samples] for index in range(self.external.outputs)]

    def _checked(self, data: object, index: int) -> Data:
        what = f"external_source {self.name!r}"
        batch = _arrays(data, what)
        if len(batch) > self.batch_size:
            raise ArgumentError(f"{what}: a batch must have 1 to {self.batch_size} samples, got {len(batch)}")
        if len(batch) == 0:
            raise ArgumentError(f"{what}: a batch must have 1 to {self.batch_size} samples, got an empty batch")
        kinds = {(sample.dtype, sample.ndim) for sample in batch}
        if len(kinds) > 1:
            raise ArgumentError(
                f"{what}: the samples of a batch must have one type and number of axes, got {sorted(map(str, kinds))}"
            )
        ((dtype, ndim),) = kinds
        wanted = self.external.dtypes[index]
        if wanted is not None and to_data_type(dtype) != to_data_type(wanted):
            raise ArgumentError(
                f"{what}: expected data of type {to_data_type(wanted).name}, as declared, and got: {dtype}"
            )
        if self.external.ndims[index] not in (None, ndim):
            raise ArgumentError(
                f"{what}: expected data with {self.external.ndims[index]} dimensions, as declared, and got {ndim}"
            )
        layout = self.external.layouts[index]
        if layout and len(layout) != ndim:
            raise ArgumentError(f"{what}: the layout {layout!r} names {len(layout)} axes, but samples have {ndim}")
        if ndim > MAX_AXES:
            raise ArgumentError(f"{what}: samples may have at most {MAX_AXES} axes, got {ndim}")
        to_data_type(dtype)  # raises for types that the core does not have
        return _copied(batch) if self.external.copies else batch


def find_feed(feeds: Sequence[Feed], data_node: DataNode | str) -> Feed:
    """Find an external source by its node or its name."""
    for feed in feeds:
        if isinstance(data_node, str):
            found = feed.name == data_node
        else:
            made = data_node.expr.step
            found = isinstance(made, ExternalInput) and made.source is feed.external
        if found:
            return feed
    name = data_node if isinstance(data_node, str) else data_node.name
    known = ", ".join(repr(feed.name) for feed in feeds) or "none"
    raise UnknownNameError(f"feed_input: {name!r} is not an external_source of this pipeline, which has: {known}")


def _copied(batch: Data) -> Data:
    """Copy writable arrays: their owner might change them before the core has read them."""
    if isinstance(batch, np.ndarray):
        return batch.copy() if batch.flags.writeable else batch
    if all(sample.flags.writeable and sample.shape == batch[0].shape for sample in batch):
        return np.stack(batch)
    return [sample.copy() if sample.flags.writeable else sample for sample in batch]


def _arrays(data: object, what: str) -> Data:
    """Return a batch as one array or a list of arrays, without copying arrays."""
    if isinstance(data, (list, tuple)):
        if any(isinstance(sample, (bool, int, float)) for sample in data):
            raise ArgumentError(f"{what}: samples must be arrays, got Python numbers; wrap them with numpy.array")
        return [_array(sample) for sample in data]
    samples = getattr(data, "_samples", None)  # a TensorList
    if samples is not None:
        return list(samples)
    array = _array(data)
    if array.ndim == 0:
        raise ArgumentError(
            f"{what}: a batch must be a list of arrays, or an array with the samples along its first axis, got {data!r}"
        )
    return array


def _layout_of(data: object) -> str:
    """Return the layout of a TensorList, or of the first of several tensors; "" for other data."""
    layout = getattr(data[0] if isinstance(data, (list, tuple)) and data else data, "layout", None)
    return str(layout()) if callable(layout) else ""


def _array(sample: object) -> Array:
    if isinstance(sample, (bytes, bytearray, memoryview)):
        return np.frombuffer(sample, np.uint8)
    array = np.asarray(sample)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array
