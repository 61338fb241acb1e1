"""Runs compiled graphs on the native core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from pixelmill import _core
from pixelmill.engine.barriers import Barrier
from pixelmill.engine.barriers import Data as Data
from pixelmill.engine.compile import Key, Plan, Segment
from pixelmill.engine.worker_thread import CLOSED, WorkerThread, close
from pixelmill.errors import NOTES, EngineError
from pixelmill.graph.nodes import OperatorNode
from pixelmill.operators.sources import ExternalSource
from pixelmill.steps.batch import Callback
from pixelmill.steps.sources import Constant, ExternalInput, reader_of
from pixelmill.steps.step import Expr
from pixelmill.types import Array as Array
from pixelmill.types import Limits

# A buffer with the bytes of an item, the kind and message of a fault, or None for a file of this machine.
FetchedItems: TypeAlias = Sequence[Sequence[memoryview | tuple[str, str] | None]]

POLL_SECONDS = 0.1  # the longest that Ctrl-C may have to wait


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a batch: everything that their values depend on besides the program.

    Attributes:
        epochs: The epoch of each sample.
        numbers: The number of each sample in its dataset.
        items: The item of every reader for each sample.
        inputs: The data of external sources, by the value it is for.
        fetched: For each of the plan's ranges that are fetched: what came for each sample.
    """

    epochs: npt.NDArray[np.uint32]
    numbers: npt.NDArray[np.uint64]
    items: npt.NDArray[np.int64]
    inputs: dict[Key, Data]
    fetched: FetchedItems = ()

    def __len__(self) -> int:
        return len(self.numbers)

    def submission(self) -> _core.Submission:
        """Return the part that the core needs for every program."""
        return _core.Submission(self.epochs, self.numbers, _variants(len(self)), np.ascontiguousarray(self.items))


@lru_cache(8)
def _variants(count: int) -> npt.NDArray[np.uint16]:
    return np.zeros(count, np.uint16)


@dataclass(frozen=True)
class Trouble:
    """A problem with one sample of a batch: a fault, or a note about a sample that was delivered nevertheless.

    Attributes:
        place: The place of the sample in the batch.
        kind: The kind of fault or note; see `pixelmill.errors.Event`.
        message: What exactly is wrong.
        origin: The operator that found it.
        fatal: Whether the sample failed.
        partner: What names the reader of other samples that it is about; None if it is about the sample itself.
    """

    place: int
    kind: str
    message: str
    origin: OperatorNode | None
    fatal: bool
    partner: int | None = None


def sort_troubles(
    troubles: Iterable[Trouble], *, refused: Iterable[str]
) -> tuple[dict[int, Trouble], dict[int, set[str]]]:
    """Return why samples of a batch failed, and the kinds of notes about the others; both by place in the batch.

    Args:
        troubles: What the engine reports.
        refused: Kinds of notes that count as failures.
    """
    failures: dict[int, Trouble] = {}
    notes: dict[int, set[str]] = {}
    for trouble in troubles:
        if trouble.fatal or trouble.kind in set(refused):
            failures.setdefault(trouble.place, replace(trouble, fatal=True))
        else:
            notes.setdefault(trouble.place, set()).add(trouble.kind)
    return failures, {place: kinds for place, kinds in notes.items() if place not in failures}


@dataclass(frozen=True, eq=False)
class Result:
    """The outputs of a batch, in the order of the graph's outputs, and its problems.

    The values of failed samples are undefined. `outputs` is empty if a sample failed in a graph of several programs,
    which then stops after the program it failed in.
    """

    outputs: list[Data]
    troubles: list[Trouble]


class Pending:
    """A batch in progress."""

    def __init__(self, future: Future[Result] | None, finish: Callable[[], Result]) -> None:
        self._future = future
        self._finish = finish

    def result(self) -> Result:
        """Wait for the batch and return it. Raises EngineError if the engine is closed in the meantime."""
        try:
            return self._finish() if self._future is None else self._future.result()
        except (CancelledError, _core.Closed):
            raise EngineError(CLOSED) from None


class NativeEngine:
    """Runs a compiled graph on native worker threads.

    Args:
        plan: The compiled graph.
        threads: How many samples are processed at the same time.
        limits: The largest inputs to accept.
        executor: Worker threads to use instead of new ones; their owner closes them.
    """

    def __init__(self, plan: Plan, *, threads: int, limits: Limits, executor: _core.Executor | None = None) -> None:
        self.plan = plan
        self._owns_executor = executor is None
        self._executor = _core.Executor(threads) if executor is None else executor
        self._limits = _core.Limits(**vars(limits))
        self._process = os.getpid()
        # A graph with barriers is driven by a Python thread of its own, so that its batches progress while the caller
        # does something else. A graph without native work and without functions of the user is not worth a thread: it
        # runs in the caller, when the result is requested.
        self._inline = all(map(_idle, plan.segments)) and not any(map(_calls, plan.segments))
        self._driver = WorkerThread("pixelmill") if len(plan.segments) > 1 and not self._inline else None

    def forked(self) -> bool:
        """Whether this process is a fork of the one that created the engine."""
        return self._process != os.getpid()

    def submit(self, samples: Samples, *, fill: bool = False) -> Pending:
        """Start a batch. With `fill`, samples that fail become gray images instead of errors."""
        if self._inline:
            return Pending(None, lambda: self._drive(None, samples, fill))
        # The first program starts here, not in the driver: the driver may still wait for an earlier batch.
        starts = self._driver is None or not _idle(self.plan.segments[0])
        first = self._begin(self.plan.segments[0], samples, samples.inputs, fill) if starts else None
        if self._driver is None:
            assert first is not None
            return Pending(None, lambda: self._finish(self._collect(first), samples))
        return Pending(self._driver.submit(self._drive, first, samples, fill), lambda: Result([], []))

    @property
    def threads(self) -> tuple[WorkerThread, ...]:
        """The Python threads. They refer to the engine only while a batch is running."""
        return () if self._driver is None else (self._driver,)

    def close(self) -> None:
        """Stop the threads and wait for them. Batches in progress are lost."""
        if self.forked():  # the threads belong to the parent, and may have held a lock at the moment of the fork
            return
        if close(self.threads) and self._owns_executor:
            self._executor.close()

    def _begin(self, segment: Segment, samples: Samples, known: dict[Key, Data], fill: bool) -> _core.Batch:
        inputs = [_rows(known[key]) for key in segment.inputs]
        try:
            who, fetched = samples.submission(), samples.fetched
            return self._executor.submit(segment.program, self._limits, who, inputs, fill, fetched)
        except _core.Closed:
            raise EngineError(CLOSED) from None
        except _core.NoThreads as error:
            raise EngineError(f"{error}; use fewer num_threads or raise the limit of processes (ulimit -u)") from None

    def _collect(self, batch: _core.Batch) -> _core.Batch:
        while not self._executor.wait(batch, POLL_SECONDS):
            pass
        return batch

    def _drive(self, batch: _core.Batch | None, samples: Samples, fill: bool) -> Result:
        known = dict(samples.inputs)
        troubles: list[Trouble] = []
        for number, segment in enumerate(self.plan.segments):
            if number > 0:
                batch = None if _idle(segment) else self._begin(segment, samples, known, fill)
            if batch is not None:
                self._collect(batch)
                troubles += _troubles(batch, segment)
                if any(trouble.fatal for trouble in troubles):
                    return Result([], troubles)
                for index, key in enumerate(segment.outputs):
                    known[key] = _data(batch, index)
            for barrier in segment.barriers:
                count = len(samples)
                values = [None if value is None else _looked_up(value, known, count) for value in barrier.inputs]
                places = _places(barrier, known, count)
                for index, data in enumerate(barrier.run(values, samples, places)):
                    known[barrier.step, index] = data
        return Result(self._outputs(known, samples), troubles)

    def _finish(self, batch: _core.Batch, samples: Samples) -> Result:
        (segment,) = self.plan.segments
        known = {key: _data(batch, index) for index, key in enumerate(segment.outputs)}
        return Result(self._outputs(known, samples), _troubles(batch, segment))

    def _outputs(self, known: dict[Key, Data], samples: Samples) -> list[Data]:
        """List the outputs of the graph. External inputs may be outputs as well."""
        inputs = samples.inputs
        return [_external_output(key, inputs[key]) if key in inputs else known[key] for key in self.plan.outputs]


def _idle(segment: Segment) -> bool:
    """Whether a native program has no work to do and no outputs."""
    return not segment.outputs and all(isinstance(step, (Constant, ExternalInput)) for step in segment.steps)


def _calls(segment: Segment) -> bool:
    """Whether functions of the user are called after a program; these may be slow, so they get a thread."""
    return any(isinstance(barrier.step, Callback) for barrier in segment.barriers)


def _external_output(key: Key, data: Data) -> Data:
    """Return the data of a source as an output; copy it unless it belongs to this batch alone.

    A batch that was fed may be fed again, and a source may keep a reference to its arrays. Changing an output in place
    must not change those.
    """
    source = key[0].source if isinstance(key[0], ExternalInput) else None
    assert isinstance(source, ExternalSource)
    own = source.source is not None and source.copies
    if isinstance(data, np.ndarray):
        return data if own and data.flags.writeable else data.copy()
    if len({sample.shape for sample in data}) == 1:
        return np.stack(data)
    return [sample if own and sample.flags.writeable else sample.copy() for sample in data]


def _rows(data: Data) -> list[Array]:
    """Return the samples of a value as views."""
    # With the ellipsis even a single number is a view, not a copy that could be freed before the core has read it.
    return [data[place, ...] for place in range(len(data))] if isinstance(data, np.ndarray) else data


def _data(batch: _core.Batch, output: int) -> Data:
    block: Array | None = batch.block(output)
    if block is not None:
        return block
    values = [batch.value(output, index) for index in range(len(batch))]
    kinds = {(value.dtype, value.ndim) for value in values if value is not None}
    if len(kinds) > 1:
        found = " and ".join(sorted(f"{dtype} with {ndim} axes" for dtype, ndim in kinds))
        raise EngineError(
            f"output {output}: the samples of a batch must agree in type and number of axes, got {found}; "
            "all branches of a condition must return the same kind of value"
        )
    return cast("list[Array]", values)  # None for samples that failed, whose values are never read


def _troubles(batch: _core.Batch, segment: Segment) -> list[Trouble]:
    if batch.clean:
        return []
    troubles = []
    for place, fault, step, notes, message in batch.outcomes():
        failed = segment.steps[step] if fault and 0 <= step < len(segment.steps) else None
        if fault:
            reader = None if failed is None else reader_of(Expr(failed))
            origin, partner = failed and failed.origin, reader and reader.partner
            troubles.append(Trouble(place, fault, message, origin, True, partner))  # type: ignore[arg-type]
        else:
            kinds = [kind for bit, kind in NOTES.items() if notes & bit]
            troubles += [Trouble(place, kind, message, None, fatal=False) for kind in kinds]
    return troubles


def _places(barrier: Barrier, known: dict[Key, Data], count: int) -> list[int] | None:
    """List the samples that a step runs for; None for all."""
    if not barrier.guards:
        return None
    conditions = [(_looked_up(value, known, count), number, equal) for value, number, equal in barrier.guards]

    def taken(place: int) -> bool:
        found = ((data[place], number, equal) for data, number, equal in conditions)
        return all(value is not None and (float(value) == number) == equal for value, number, equal in found)

    return [place for place in range(count) if taken(place)]


def _looked_up(value: Expr, known: dict[Key, Data], count: int) -> Data:
    if isinstance(value.step, Constant):
        return [value.step.array] * count
    return known[value.step, value.index]
