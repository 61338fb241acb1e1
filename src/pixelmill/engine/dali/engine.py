"""Run a graph that was split for DALI: the native stages and DALI work on different batches at the same time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import cast

import numpy as np

from pixelmill import _core
from pixelmill.engine.compile import InputKey, Key, Plan
from pixelmill.engine.dali import versions
from pixelmill.engine.dali.pipeline_builder import build_pipeline, input_name
from pixelmill.engine.dali.split import Crossing, SplitPlan, as_dali_input
from pixelmill.engine.dali.upload import Upload
from pixelmill.engine.dali.versions import DaliPipeline
from pixelmill.engine.native import Data, NativeEngine, Pending, Result, Samples
from pixelmill.engine.worker_thread import CLOSED, WorkerThread, close
from pixelmill.errors import EngineError
from pixelmill.log import log
from pixelmill.steps.sources import BatchSource
from pixelmill.tensors import DaliBatch, TensorListGPU
from pixelmill.types import Limits


class _RefusedError(Exception):
    """DALI refused the input of a batch."""


class _DaliPipes:
    """DALI's pipelines of an engine.

    When a pipeline is freed, DALI waits for its threads, which a finalizer must not do (see WorkerThread). So the
    engine never drops the last reference; the thread that takes batches does, when it ends.

    Args:
        pipe: Runs the graph.
        upload: Copies other outputs to the GPU.
    """

    def __init__(self, pipe: DaliPipeline, upload: Upload) -> None:
        self._pipes: tuple[DaliPipeline, Upload] | None = pipe, upload

    @property
    def pipe(self) -> DaliPipeline:
        """The pipeline that runs the graph."""
        return self._open()[0]

    @property
    def upload(self) -> Upload:
        """Copies other outputs to the GPU."""
        return self._open()[1]

    def _open(self) -> tuple[DaliPipeline, Upload]:
        if self._pipes is None:
            raise EngineError(CLOSED)
        return self._pipes

    def free(self, feeder: WorkerThread) -> None:
        """Free the pipelines, after the other thread that uses them has ended."""
        feeder.close()
        self._pipes = None


class DaliEngine:
    """DALI with native threads around it; accepts batches and returns results like the native engine.

    One thread feeds batches to DALI as soon as they are read and another one takes them from DALI, so DALI has the next
    batch before it finishes the current one.

    Attributes:
        retries: How many batches DALI failed on and the native engine ran instead.

    Args:
        plan: The compiled and split graph.
        threads: The number of DALI's threads, and of native threads in addition.
        limits: The largest inputs to accept.
        batch_size: The largest number of samples in a batch.
        device_id: The GPU; with None, DALI's CPU operators are used.
    """

    def __init__(
        self, plan: SplitPlan, *, threads: int, limits: Limits, batch_size: int, device_id: int | None
    ) -> None:
        self.plan = plan
        self._executor = _core.Executor(threads)
        self._batch_size = batch_size
        self._process = os.getpid()
        # `_whole` runs the entire graph natively: for batches that DALI fails on, and to name bad samples.
        self._before, self._whole = (self._native(part, threads, limits) for part in (plan.before, plan))
        self._after = None if plan.after is None else self._native(plan.after, threads, limits)
        pipe = build_pipeline(plan, batch_size=batch_size, threads=threads, device_id=device_id)
        with versions.quiet():
            pipe.build()
        self._dali = _DaliPipes(pipe, Upload(batch_size=batch_size, device_id=device_id))
        self._feeder = WorkerThread("pixelmill-feed")
        self._taker = WorkerThread("pixelmill-take", last=partial(self._dali.free, self._feeder))
        self._taker.start()  # at once, because it frees the pipelines even if no batch is ever run
        self._refused: _RefusedError | None = None
        self.retries = 0

    def _native(self, plan: Plan, threads: int, limits: Limits) -> NativeEngine:
        return NativeEngine(plan, threads=threads, limits=limits, executor=self._executor)

    def forked(self) -> bool:
        """Whether this process is a fork of the one that created the engine."""
        return self._process != os.getpid()

    def submit(self, samples: Samples, *, fill: bool = False) -> Pending:
        """Start a batch. With `fill`, or if the batch is empty or too large for DALI, it runs natively."""
        if fill or not 0 < len(samples) <= self._batch_size:
            pending = self._whole.submit(samples, fill=fill)
            return Pending(None, lambda: self._on_devices(pending.result()))
        pending = self._before.submit(_with_inputs(samples, self.plan, self.plan.before))
        fed = self._feeder.submit(self._feed, pending)
        return Pending(self._taker.submit(self._take, fed, samples), lambda: Result([], []))

    @property
    def threads(self) -> tuple[WorkerThread, ...]:
        """The Python threads. They refer to the engine only while a batch is running."""
        parts = (part.threads for part in (self._before, self._whole, self._after) if part is not None)
        return (self._feeder, self._taker, *chain.from_iterable(parts))

    def close(self) -> None:
        """Stop the threads and wait for them. Batches in progress are lost."""
        if not self.forked() and close(self.threads):
            self._executor.close()

    def _feed(self, pending: Pending) -> Result:
        """Feed a batch to DALI, unless one of its samples is known to be bad."""
        before = pending.result()
        if _failed(before):
            return before
        if self._refused is not None:
            raise self._refused
        pipe = self._dali.pipe
        try:
            for number, ((_, _, dtype), output) in enumerate(self.plan.dali_inputs.items()):
                data = as_dali_input(before.outputs[output], dtype)
                layout = _fitting(self.plan.before.layouts[output], data)
                pipe.feed_input(input_name(number), data, layout=layout or None)
            pipe.schedule_run()
        except (RuntimeError, TypeError, ValueError, KeyError) as error:
            # DALI may hold some inputs of this batch and would combine them with inputs of the next. It gets no more.
            self._refused = _RefusedError(str(error))
            raise self._refused from error
        return before

    def _take(self, fed: Future[Result], samples: Samples) -> Result:
        # `before` stays alive until DALI is done: DALI may read the arrays without copying them.
        try:
            before = fed.result()
        except _RefusedError as error:
            return self._retried(samples, error)
        if _failed(before):
            return self._examined(samples)
        pipe = self._dali.pipe
        try:
            lists = pipe.share_outputs()
        except RuntimeError as error:
            return self._retried(samples, error)
        finally:
            pipe.release_outputs()
        inside = [_arrays(batch, device) for batch, (_, _, device) in zip(lists, self.plan.dali_outputs, strict=True)]
        last: Sequence[Data] = []
        troubles = before.troubles
        if self._after is not None:
            after = self._after.submit(self._after_samples(samples, before.outputs, inside)).result()
            troubles = [*troubles, *after.troubles]
            if _failed(after):
                return Result([], troubles)
            last = after.outputs
        parts = {"before": before.outputs, "inside": inside, "after": last}
        return self._on_devices(Result([parts[name][number] for name, number in self.plan.results], troubles))

    def _after_samples(self, samples: Samples, before: Sequence[Data], inside: Sequence[Data]) -> Samples:
        assert self.plan.after is not None
        inputs: dict[Key, Data] = {}
        for key in self.plan.after.inputs:
            crossing = key[0].source
            assert isinstance(crossing, Crossing)
            inputs[key] = (inside if crossing.inside else before)[crossing.number]
        return replace(samples, inputs=inputs)

    def _retried(self, samples: Samples, error: Exception) -> Result:
        """Run a batch natively that DALI failed on."""
        result = self._examined(samples)
        self.retries += 1
        if result.outputs and self.retries == 1:
            log.warning("pixelmill: DALI failed on a batch, which was run natively instead; its error: %s", error)
        return result

    def _examined(self, samples: Samples) -> Result:
        """Run a batch natively to find out which samples are bad.

        If there are any, the result has no outputs: after the bad samples were replaced, the batch runs on DALI again,
        so that all of its samples come from the same engine.
        """
        result = self._whole.submit(samples).result()
        return Result([], result.troubles) if _failed(result) else self._on_devices(result)

    def _on_devices(self, result: Result) -> Result:
        """Copy outputs that were computed natively to the GPU if they are requested there."""
        if "gpu" not in self.plan.devices or not result.outputs:
            return result
        moved: list[Data] = []
        for data, device, layout in zip(result.outputs, self.plan.devices, self.plan.layouts, strict=True):
            away = device == "gpu" and not isinstance(data, TensorListGPU)
            moved.append(_on_gpu(self._dali.upload(data, _fitting(layout, data))) if away else data)
        return Result(moved, result.troubles)


def _fitting(layout: str, data: Data) -> str:
    return layout if len(layout) == np.ndim(data[0]) else ""


def _failed(result: Result) -> bool:
    return any(trouble.fatal for trouble in result.troubles)


def _with_inputs(samples: Samples, whole: Plan, part: Plan) -> Samples:
    """Return the samples for a part of a graph, which has inputs of its own for the sources of the whole."""
    known = {_source(key): samples.inputs[key] for key in whole.inputs if key in samples.inputs}
    return replace(samples, inputs={key: known[_source(key)] for key in part.inputs})


def _source(key: InputKey) -> tuple[BatchSource, int]:
    return key[0].source, key[0].output


def _arrays(batch: DaliBatch, device: str) -> Data:
    """Return a batch of DALI without a copy: its memory lives as long as the arrays."""
    if device == "gpu":
        return _on_gpu(batch)
    if batch.is_dense_tensor():
        return np.asarray(batch.as_tensor())
    return [np.asarray(batch[place]) for place in range(len(batch))]


def _on_gpu(batch: DaliBatch) -> Data:
    # `Data` means arrays. Outputs on a GPU take its place only after the last native program, and the pipeline tells
    # them apart (pipeline/outputs.py).
    return cast("Data", TensorListGPU(batch))
