"""Runs a graph that was cut for DALI: native threads before it, DALI, and native threads behind it, all at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from pixelmill import _core
from pixelmill.engine.compile import InputKey, Key, Plan
from pixelmill.engine.dali import versions
from pixelmill.engine.dali.emission import emitted, input_name
from pixelmill.engine.dali.split import Crossing, SplitPlan, handed_array
from pixelmill.engine.dali.upload import Upload
from pixelmill.engine.native import Data, NativeEngine, Pending, Result, Samples
from pixelmill.engine.worker_thread import WorkerThread, close
from pixelmill.log import log
from pixelmill.steps.sources import BatchSource
from pixelmill.tensors import TensorListGPU
from pixelmill.types import Limits


class _RefusedError(Exception):
    """DALI did not take a batch."""


class _DaliPipes:
    """DALI's pipelines of an engine. DALI waits for its threads when a pipeline is freed, which no finalizer may do.

    Args:
        pipe: What runs the graph.
        upload: What brings other outputs to the GPU.
    """

    def __init__(self, pipe: Any, upload: Upload) -> None:
        self.pipe = pipe
        self.upload: Any = upload

    def free(self, feeder: WorkerThread) -> None:
        """Free the pipelines, after the other thread that uses them has ended."""
        feeder.close()
        self.pipe = self.upload = None


class DaliEngine:
    """DALI with native threads around it; takes batches and gives results as the native engine does.

    One thread hands batches to DALI as soon as they are read, another takes them from it, so that DALI has the next
    batch before it is done with one.

    Attributes:
        retries: How many batches DALI gave up, so that they were run natively.

    Args:
        plan: The graph.
        threads: The threads of DALI, and native ones beside them.
        limits: What a single input may cost.
        batch_size: The most samples in a batch.
        device_id: The GPU; with None all of DALI's operators are those for the CPU.
    """

    def __init__(
        self, plan: SplitPlan, *, threads: int, limits: Limits, batch_size: int, device_id: int | None
    ) -> None:
        self.plan = plan
        self._executor = _core.Executor(threads)
        self._batch_size = batch_size
        self._process = os.getpid()
        self._front, self._whole = (self._native(part, threads, limits) for part in (plan.front, plan))
        self._behind = None if plan.behind is None else self._native(plan.behind, threads, limits)
        pipe = emitted(plan, batch_size=batch_size, threads=threads, device_id=device_id)
        with versions.quiet():
            pipe.build()
        self._dali = _DaliPipes(pipe, Upload(batch_size=batch_size, device_id=device_id))
        self._feeder = WorkerThread("pixelmill-feed")
        self._taker = WorkerThread("pixelmill-take", last=partial(self._dali.free, self._feeder))
        self._taker.start()  # now, as there is something to free
        self._refused: _RefusedError | None = None
        self.retries = 0

    def _native(self, plan: Plan, threads: int, limits: Limits) -> NativeEngine:
        return NativeEngine(plan, threads=threads, limits=limits, executor=self._executor)

    def forked(self) -> bool:
        """Tell whether this is another process than the one that made the engine."""
        return self._process != os.getpid()

    def submit(self, samples: Samples, *, fill: bool = False) -> Pending:
        """Begin a batch. One that has to be filled with gray, or that DALI could not hold, runs natively."""
        if fill or not 0 < len(samples) <= self._batch_size:
            pending = self._whole.submit(samples, fill=fill)
            return Pending(None, lambda: self._on_devices(pending.result()))
        pending = self._front.submit(_with_inputs(samples, self.plan, self.plan.front))
        fed = self._feeder.submit(self._feed, pending)
        return Pending(self._taker.submit(self._take, fed, samples), lambda: Result([], []))

    @property
    def threads(self) -> tuple[WorkerThread, ...]:
        """The Python threads, which do not refer to the engine unless a batch is under way."""
        parts = (part.threads for part in (self._front, self._whole, self._behind) if part is not None)
        return (self._feeder, self._taker, *chain.from_iterable(parts))

    def close(self) -> None:
        """Stop the threads and wait for them. Batches that were begun are lost."""
        if not self.forked() and close(self.threads):
            self._executor.close()

    def _feed(self, pending: Pending) -> Result:
        """Hand a batch to DALI, unless a sample of it is known to be bad."""
        front = pending.result()
        if _failed(front):
            return front
        if self._refused is not None:
            raise self._refused
        pipe = self._dali.pipe
        try:
            for number, ((_, _, dtype), output) in enumerate(self.plan.handed.items()):
                data = handed_array(front.outputs[output], dtype)
                layout = _fitting(self.plan.front.layouts[output], data)
                pipe.feed_input(input_name(number), data, layout=layout or None)
            pipe.schedule_run()
        except (RuntimeError, TypeError, ValueError, KeyError) as error:
            # DALI may have a part of this batch, which must not meet parts of the next: it gets no more.
            self._refused = _RefusedError(str(error))
            raise self._refused from error
        return front

    def _take(self, fed: Future[Result], samples: Samples) -> Result:
        # What was fed is kept until here: DALI may read it where it is.
        try:
            front = fed.result()
        except _RefusedError as error:
            return self._retried(samples, error)
        if _failed(front):
            return self._examined(samples)
        pipe = self._dali.pipe
        try:
            lists = pipe.share_outputs()
        except RuntimeError as error:
            return self._retried(samples, error)
        finally:
            pipe.release_outputs()
        given = [_arrays(batch, device) for batch, (_, _, device) in zip(lists, self.plan.given, strict=True)]
        last: Sequence[Data] = []
        troubles = front.troubles
        if self._behind is not None:
            behind = self._behind.submit(self._behind_samples(samples, front.outputs, given)).result()
            troubles = [*troubles, *behind.troubles]
            if _failed(behind):
                return Result([], troubles)
            last = behind.outputs
        parts = {"front": front.outputs, "inside": given, "behind": last}
        return self._on_devices(Result([parts[name][number] for name, number in self.plan.results], troubles))

    def _behind_samples(self, samples: Samples, front: Sequence[Data], given: Sequence[Data]) -> Samples:
        assert self.plan.behind is not None
        inputs: dict[Key, Data] = {}
        for key in self.plan.behind.inputs:
            crossing = key[0].source
            assert isinstance(crossing, Crossing)
            inputs[key] = (given if crossing.inside else front)[crossing.number]
        return replace(samples, inputs=inputs)

    def _retried(self, samples: Samples, error: Exception) -> Result:
        """Run a batch natively that DALI gave up."""
        result = self._examined(samples)
        self.retries += 1
        if result.outputs and self.retries == 1:
            log.warning("pixelmill: DALI could not make a batch, which was made natively; it said: %s", error)
        return result

    def _examined(self, samples: Samples) -> Result:
        """Run a batch natively to learn which samples are bad. It has no outputs then, so that DALI makes it again."""
        result = self._whole.submit(samples).result()
        return Result([], result.troubles) if _failed(result) else self._on_devices(result)

    def _on_devices(self, result: Result) -> Result:
        """Move outputs that were made natively to where they are wanted."""
        if "gpu" not in self.plan.devices or not result.outputs:
            return result
        moved: list[Any] = []
        for data, device, layout in zip(result.outputs, self.plan.devices, self.plan.layouts, strict=True):
            away = device == "gpu" and not isinstance(data, TensorListGPU)
            moved.append(TensorListGPU(self._dali.upload(data, _fitting(layout, data))) if away else data)
        return Result(moved, result.troubles)


def _fitting(layout: str, data: Data) -> str:
    return layout if len(layout) == np.ndim(data[0]) else ""


def _failed(result: Result) -> bool:
    return any(trouble.fatal for trouble in result.troubles)


def _with_inputs(samples: Samples, whole: Plan, part: Plan) -> Samples:
    """Give the samples to a part of a graph, which has inputs of its own for the sources of the whole."""
    known = {_source(key): samples.inputs[key] for key in whole.inputs if key in samples.inputs}
    return replace(samples, inputs={key: known[_source(key)] for key in part.inputs})


def _source(key: InputKey) -> tuple[BatchSource, int]:
    return key[0].source, key[0].output


def _arrays(batch: Any, device: str) -> Any:
    """Give a batch of DALI without a copy: its memory lives as long as the arrays."""
    if device == "gpu":
        return TensorListGPU(batch)
    if batch.is_dense_tensor():
        return np.asarray(batch.as_tensor())
    return [np.asarray(batch[place]) for place in range(len(batch))]
