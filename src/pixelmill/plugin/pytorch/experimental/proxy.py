"""A pipeline as a transform of a PyTorch dataset: workers collect its inputs, and the main process runs it.

Workers pass references that hold the inputs of their batch. The main process feeds them to the pipeline in the order in
which the batches arrive, so results do not depend on the timing of workers.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Self

import torch
from torch.utils import data as torch_data
from torch.utils.data._utils.collate import default_collate_fn_map

from pixelmill.errors import ArgumentError, EngineError
from pixelmill.pipeline import Pipeline
from pixelmill.plugin.pytorch import tensor_of
from pixelmill.tensors import TensorListGPU

Batch = Any  # a batch of a DataLoader: tensors and references, nested in lists, tuples and dicts


class DALIPipelineRunRef:
    """One run of the pipeline: the inputs of its samples, and its outputs once it ran.

    Attributes:
        call_args: The inputs of the samples so far, by name.
        is_complete: Whether the samples were collated, so that the next sample belongs to another run.
        outputs: One tensor for each output; None before the run.
    """

    def __init__(self) -> None:
        self.call_args: dict[str, list[object]] = {}
        self.is_complete = False
        self.outputs: list[torch.Tensor] | None = None

    def add(self, inputs: dict[str, object]) -> int:
        """Add a sample and return its place in the batch."""
        for name, value in inputs.items():
            self.call_args.setdefault(name, []).append(value)
        return len(next(iter(self.call_args.values()))) - 1


class DALIOutputSampleRef:
    """One output of one sample, to be replaced by data in the main process."""

    def __init__(self, pipe_run_ref: DALIPipelineRunRef, output_idx: int, sample_idx: int) -> None:
        self.pipe_run_ref = pipe_run_ref
        self.output_idx = output_idx
        self.sample_idx = sample_idx


class DALIOutputBatchRef:
    """One output of all samples of a batch."""

    def __init__(self, pipe_run_ref: DALIPipelineRunRef, output_idx: int) -> None:
        self.pipe_run_ref = pipe_run_ref
        self.output_idx = output_idx


def _collate(samples: Sequence[DALIOutputSampleRef], *, collate_fn_map: object = None) -> DALIOutputBatchRef:
    run, output = samples[0].pipe_run_ref, samples[0].output_idx
    if any(sample.pipe_run_ref is not run or sample.output_idx != output for sample in samples):
        raise EngineError("proxy: samples of different batches cannot be collated; is the batch larger than usual?")
    if [sample.sample_idx for sample in samples] != list(range(len(samples))):
        raise EngineError("proxy: samples must be collated in the order in which the dataset returned them")
    run.is_complete = True
    return DALIOutputBatchRef(run, output)


default_collate_fn_map[DALIOutputSampleRef] = _collate


class DALIProxy:
    """What a dataset calls instead of a transform. It takes the inputs of one sample and returns references.

    Args:
        inputs: The names of the external sources of the pipeline.
        outputs: The number of its outputs.
    """

    def __init__(self, inputs: Sequence[str], outputs: int) -> None:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if len(inputs) == 1 else inspect.Parameter.KEYWORD_ONLY
        self._signature = inspect.Signature([inspect.Parameter(name, kind) for name in inputs])
        self._outputs = outputs
        self._run = DALIPipelineRunRef()

    def __call__(self, *args: object, **kwargs: object) -> DALIOutputSampleRef | tuple[DALIOutputSampleRef, ...]:
        """Add a sample to the batch that is being collected."""
        try:
            inputs = self._signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise ArgumentError(f"proxy: expected the inputs {self._signature}: {error}") from None
        if self._run.is_complete:
            self._run = DALIPipelineRunRef()
        place = self._run.add(inputs)
        made = tuple(DALIOutputSampleRef(self._run, output, place) for output in range(self._outputs))
        return made[0] if len(made) == 1 else made


class DALIServer:
    """Runs a pipeline on batches whose inputs a proxy collected.

    Args:
        pipeline: A pipeline with external sources that have no source of their own.
        deterministic: Accepted for compatibility: runs always happen in the order of the batches.
    """

    def __init__(self, pipeline: Pipeline, deterministic: bool = False) -> None:
        if not isinstance(pipeline, Pipeline):
            raise TypeError(f"DALIServer: expected a pipeline, got {pipeline!r}")
        self._pipe = pipeline
        feeds = [feed.name for feed in pipeline._ready().feeds if feed.external.source is None]
        if not feeds:
            raise EngineError("DALIServer: the pipeline has no inputs; add fn.external_source(name=...) to it")
        self.proxy = DALIProxy(feeds, pipeline.num_outputs)
        self._begun: deque[DALIPipelineRunRef] = deque()

    @property
    def depth(self) -> int:
        """How many batches should be in progress at the same time."""
        return int(self._pipe.prefetch_queue_depth)

    def begin(self, batch: Batch) -> None:
        """Begin the runs that a batch refers to, in their order."""
        for reference in _references(batch):
            run = reference.pipe_run_ref
            if run.call_args and run.outputs is None:
                inputs, run.call_args = run.call_args, {}
                for name, samples in inputs.items():
                    self._pipe.feed_input(name, samples)
                self._pipe.schedule_run()
                self._begun.append(run)

    def produce_data(self, obj: Batch) -> Batch:
        """Return the batch with data in place of its references."""
        self.begin(obj)
        return _replaced(obj, self._output)

    def _output(self, reference: DALIOutputBatchRef) -> torch.Tensor:
        run = reference.pipe_run_ref
        while run.outputs is None:
            if not self._begun:
                raise EngineError("proxy: the reference does not belong to this server, or its run failed")
            oldest = self._begun.popleft()
            oldest.outputs = [
                tensor_of(output.as_tensor() if isinstance(output, TensorListGPU) else output.as_array())
                for output in self._pipe.share_outputs()
            ]
        return run.outputs[reference.output_idx]

    def start_thread(self) -> None:
        """Accepted for compatibility: the pipeline has its own threads."""

    def stop_thread(self) -> None:
        """Stop the threads of the pipeline."""
        self._pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_thread()


def _references(batch: Batch) -> Iterator[DALIOutputBatchRef]:
    if isinstance(batch, DALIOutputBatchRef):
        yield batch
    elif isinstance(batch, dict):
        for value in batch.values():
            yield from _references(value)
    elif isinstance(batch, (list, tuple)):
        for value in batch:
            yield from _references(value)


def _replaced(batch: Batch, output: Any) -> Batch:
    if isinstance(batch, DALIOutputSampleRef):
        raise EngineError("produce_data: collate samples first, with torch.utils.data.default_collate")
    if isinstance(batch, DALIOutputBatchRef):
        return output(batch)
    if isinstance(batch, dict):
        return {key: _replaced(value, output) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_replaced(value, output) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(_replaced(value, output) for value in batch)
    return batch


class DataLoader(torch_data.DataLoader[Any]):
    """PyTorch's DataLoader for datasets whose transform is `dali_server.proxy`.

    Batches that workers have ready are begun ahead, up to the `prefetch_queue_depth` of the pipeline.

    Args:
        dali_server: The server.
        args: As for PyTorch's DataLoader, like `kwargs`.
        kwargs: Its other arguments.
    """

    def __init__(self, dali_server: DALIServer, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dali_server = dali_server

    def __iter__(self) -> Any:
        """Yield batches with data in place of references."""
        ahead: deque[Batch] = deque()
        for batch in super().__iter__():
            self.dali_server.begin(batch)
            ahead.append(batch)
            if len(ahead) >= self.dali_server.depth:
                yield self.dali_server.produce_data(ahead.popleft())
        while ahead:
            yield self.dali_server.produce_data(ahead.popleft())


__all__ = [
    "DALIOutputBatchRef",
    "DALIOutputSampleRef",
    "DALIPipelineRunRef",
    "DALIProxy",
    "DALIServer",
    "DataLoader",
]
