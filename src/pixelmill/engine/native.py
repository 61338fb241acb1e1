"""Runs compiled graphs on the native core."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
import numpy.typing as npt

from pixelmill import _core
from pixelmill.engine.barriers import Array as Array
from pixelmill.engine.barriers import Barrier
from pixelmill.engine.barriers import Data as Data
from pixelmill.engine.compile import Key, Plan, Segment
from pixelmill.engine.worker_thread import CLOSED, WorkerThread, close
from pixelmill.errors import NOTES, EngineError
from pixelmill.graph.nodes import OperatorNode
from pixelmill.operators.sources import ExternalSource
from pixelmill.steps.batch import Callback
from pixelmill.steps.sources import Constant, ExternalInput
from pixelmill.steps.step import Expr
from pixelmill.types import Limits

POLL_SECONDS = 0.1  # how long Ctrl-C may have to wait


@dataclass(frozen=True, eq=False)
class Samples:
    """Who is in a batch: everything a sample's values depend on, beside the program.

    Attributes:
        epochs: The epoch of each sample.
        numbers: The number of each sample in its dataset.
        items: The item of every reader for each sample.
        inputs: What external sources gave, by the value it is for.
    """

    epochs: npt.NDArray[np.uint32]
    numbers: npt.NDArray[np.uint64]
    items: npt.NDArray[np.int64]
    inputs: dict[Key, Data]

    def __len__(self) -> int:
        return len(self.numbers)

    def submission(self) -> _core.Submission:
        """Give the part that the core has to know for every program."""
        return _core.Submission(self.epochs, self.numbers, _variants(len(self)), np.ascontiguousarray(self.items))


@lru_cache(8)
def _variants(count: int) -> npt.NDArray[np.uint16]:
    return np.zeros(count, np.uint16)


@dataclass(frozen=True)
class Trouble:
    """What a step said about one sample of a batch: a fault, or a note about a sample that is there all the same."""

    place: int
    kind: str
    message: str
    origin: OperatorNode | None
    fatal: bool


@dataclass(frozen=True, eq=False)
class Result:
    """The outputs of a batch, in the order of the graph's outputs, and what went wrong.

    The places of failed samples hold anything. There are no outputs where a failure kept a graph of several programs
    from going on.
    """

    outputs: list[Data]
    troubles: list[Trouble]


class Pending:
    """A batch under way."""

    def __init__(self, future: Future[Result] | None, finish: Callable[[], Result]) -> None:
        self._future = future
        self._finish = finish

    def result(self) -> Result:
        """Wait for the batch. Raises EngineError if the engine is closed meanwhile."""
        try:
            return self._finish() if self._future is None else self._future.result()
        except (CancelledError, _core.Closed):
            raise EngineError(CLOSED) from None


class NativeEngine:
    """Worker threads with a compiled graph.

    Args:
        plan: The graph.
        threads: How many samples are worked on at a time.
        limits: What a single input may cost.
        executor: Threads of somebody else to work on, who also closes them.
    """

    def __init__(self, plan: Plan, *, threads: int, limits: Limits, executor: _core.Executor | None = None) -> None:
        self.plan = plan
        self._own = executor is None
        self._executor = _core.Executor(threads) if executor is None else executor
        self._limits = _core.Limits(**vars(limits))
        self._process = os.getpid()
        # Barriers are worked on by one Python thread, so that the native work of the next batches goes on meanwhile.
        self._alone = all(map(_idle, plan.segments)) and not any(map(_calls, plan.segments))
        self._driver = WorkerThread("pixelmill") if len(plan.segments) > 1 and not self._alone else None

    def forked(self) -> bool:
        """Tell whether this is another process than the one that made the engine."""
        return self._process != os.getpid()

    def submit(self, samples: Samples, *, fill: bool = False) -> Pending:
        """Begin a batch."""
        if self._alone:
            return Pending(None, lambda: self._drive(None, samples, fill))
        begins = self._driver is None or not _idle(self.plan.segments[0])
        first = self._begin(self.plan.segments[0], samples, samples.inputs, fill) if begins else None
        if self._driver is None:
            assert first is not None
            return Pending(None, lambda: self._finish(self._collect(first), samples))
        return Pending(self._driver.submit(self._drive, first, samples, fill), lambda: Result([], []))

    @property
    def threads(self) -> tuple[WorkerThread, ...]:
        """The Python threads, which do not refer to the engine unless a batch is under way."""
        return () if self._driver is None else (self._driver,)

    def close(self) -> None:
        """Stop the threads and wait for them. Batches that were begun are lost."""
        if self.forked():  # the threads are the parent's, and they may have held a lock in the moment of the fork
            return
        if close(self.threads) and self._own:
            self._executor.close()

    def _begin(self, segment: Segment, samples: Samples, known: dict[Key, Data], fill: bool) -> _core.Batch:
        inputs = [_rows(known[key]) for key in segment.inputs]
        try:
            return self._executor.submit(segment.program, self._limits, samples.submission(), inputs, fill)
        except _core.Closed:
            raise EngineError(CLOSED) from None

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
                for index, data in enumerate(barrier.cross(values, samples, places)):
                    known[barrier.step, index] = data
        return Result(self._outputs(known, samples), troubles)

    def _finish(self, batch: _core.Batch, samples: Samples) -> Result:
        (segment,) = self.plan.segments
        known = {key: _data(batch, index) for index, key in enumerate(segment.outputs)}
        return Result(self._outputs(known, samples), _troubles(batch, segment))

    def _outputs(self, known: dict[Key, Data], samples: Samples) -> list[Data]:
        """List the outputs of the graph; an input that is one is handed on as it is."""
        return [_given(key, samples.inputs[key]) if key in samples.inputs else known[key] for key in self.plan.outputs]


def _idle(segment: Segment) -> bool:
    """Tell whether a program does nothing, and gives nothing."""
    return not segment.outputs and all(isinstance(step, (Constant, ExternalInput)) for step in segment.steps)


def _calls(segment: Segment) -> bool:
    """Tell whether functions of the user are called behind a program: they may take long, so not in his thread."""
    return any(isinstance(barrier.step, Callback) for barrier in segment.barriers)


def _given(key: Key, data: Data) -> Data:
    """Give what a source made for this batch; what others may hold as well, or hand in again, is copied."""
    source = key[0].source if isinstance(key[0], ExternalInput) else None
    assert isinstance(source, ExternalSource)
    own = source.source is not None and source.copies
    if isinstance(data, np.ndarray):
        return data if own and data.flags.writeable else data.copy()
    if len({sample.shape for sample in data}) == 1:
        return np.stack(data)
    return [sample if own and sample.flags.writeable else sample.copy() for sample in data]


def _rows(data: Data) -> list[Array]:
    """Give the samples of a value. All share its memory, single numbers too: the core reads them until it is done."""
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
            f"output {output}: the samples of a batch must agree in type and number of axes, but there are {found}; "
            "all branches of a condition must give the same kind of value"
        )
    return cast("list[Array]", values)  # None where a sample failed, which nothing looks at


def _troubles(batch: _core.Batch, segment: Segment) -> list[Trouble]:
    if batch.clean:
        return []
    troubles = []
    for place, fault, step, notes, message in batch.outcomes():
        origin = segment.steps[step].origin if fault and 0 <= step < len(segment.steps) else None
        if fault:
            troubles.append(Trouble(place, fault, message, origin, fatal=True))  # type: ignore[arg-type]
        else:
            kinds = [kind for bit, kind in NOTES.items() if notes & bit]
            troubles += [Trouble(place, kind, message, None, fatal=False) for kind in kinds]
    return troubles


def _places(barrier: Barrier, known: dict[Key, Data], count: int) -> list[int] | None:
    """List the samples that a step is to be run for; None for all."""
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
