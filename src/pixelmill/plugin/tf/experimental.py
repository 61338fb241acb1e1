"""Datasets that feed a pipeline."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import tensorflow as tf

from pixelmill.errors import ArgumentError
from pixelmill.pipeline import Pipeline
from pixelmill.plugin.tf.dataset import Inputs, PipelineDataset, feeds_itself, waiting_sources


class Input:
    """A dataset that feeds an `external_source`, and how it is to be read.

    Args:
        dataset: Gives one tensor after the other.
        layout: Names of the axes of a sample; those of the `external_source` count where this is left out.
        batch: Whether the tensors are batches instead of samples; the `external_source` says it where this is None.
    """

    def __init__(self, dataset: tf.data.Dataset, *, layout: str | None = None, batch: bool | None = False) -> None:
        if not isinstance(dataset, tf.data.Dataset):
            raise ArgumentError(f"Input: expected a tf.data.Dataset, got {type(dataset).__name__}")
        if not isinstance(dataset.element_spec, tf.TensorSpec):
            raise ArgumentError(f"Input: the dataset must give single tensors, it gives {dataset.element_spec}")
        self.dataset = dataset
        self.layout = layout
        self.batch = batch


class DALIDatasetWithInputs(PipelineDataset):
    """A `DALIDataset` whose pipeline is fed by other datasets. It ends where the first of them ends.

    Samples are gathered into batches; those that do not fill the last one are left out, as in DALI. What the other
    datasets give is not copied.

    Args:
        pipeline: As for `DALIDataset`, like all that follow but the last.
        output_dtypes: Types of the outputs.
        output_shapes: Shapes of the outputs.
        fail_on_device_mismatch: Accepted for compatibility.
        batch_size: Samples in a batch.
        num_threads: Samples that are worked on at a time.
        device_id: The GPU to use.
        exec_separated: Accepted for compatibility.
        exec_dynamic: Accepted for compatibility.
        prefetch_queue_depth: Batches that are under way at a time.
        cpu_prefetch_queue_depth: Accepted for compatibility.
        gpu_prefetch_queue_depth: Accepted for compatibility.
        dtypes: Deprecated name of `output_dtypes`.
        shapes: Deprecated name of `output_shapes`.
        input_datasets: A dataset of samples, or an `Input`, for every `external_source` without a source, by its name.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        input_datasets: Mapping[str, tf.data.Dataset | Input] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(pipeline, inputs=_Fed(_as_inputs(input_datasets or {})), **options)


def _as_inputs(given: Any) -> dict[str, Input]:
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ArgumentError(f"input_datasets: a dict from names of external sources to datasets, got {given!r}")
    return {name: value if isinstance(value, Input) else Input(value) for name, value in given.items()}


class _Fed(Inputs):
    """Datasets that feed the external sources of a pipeline."""

    def __init__(self, inputs: dict[str, Input]) -> None:
        self._inputs = inputs

    def check(self, pipe: Pipeline) -> None:
        waiting = waiting_sources(pipe)
        for name in self._inputs:
            if name not in waiting:
                known = ", ".join(map(repr, waiting)) or "none"
                raise ArgumentError(f"input_datasets: no external_source {name!r} waits to be fed; there are: {known}")
        missing = [name for name in waiting if name not in self._inputs]
        if missing and not feeds_itself(pipe):
            raise ArgumentError(f"input_datasets: nothing feeds the external_source {missing[0]!r}")

    def attach(self, pipe: Pipeline) -> None:
        sources = {feed.name: feed.external for feed in pipe._ready().feeds}
        batches = {
            name: _batches(one, batch_size=pipe.max_batch_size, per_sample=sources[name].per_sample)
            for name, one in self._inputs.items()
        }
        weak = weakref.ref(pipe)  # else its threads would live until somebody collects garbage

        def feed_all() -> None:
            fed = weak()
            assert fed is not None
            for name, batch in {name: next(values) for name, values in batches.items()}.items():
                fed.feed_input(name, batch, self._inputs[name].layout)
            type(fed).iter_setup(fed)

        pipe.iter_setup = feed_all  # type: ignore[method-assign]


def _batches(one: Input, *, batch_size: int, per_sample: bool) -> Iterator[Any]:
    values = iter(one.dataset.as_numpy_iterator())
    if one.batch or (one.batch is None and not per_sample):
        yield from (_array(value) for value in values)
        return
    while True:
        samples = [_array(value) for value in islice(values, batch_size)]
        if len(samples) < batch_size:
            return
        yield samples


def _array(value: Any) -> Any:
    """Give bytes as they are, which become the samples' elements, and scalars as arrays without axes."""
    return value if isinstance(value, bytes) else np.asarray(value)


__all__ = ["DALIDatasetWithInputs", "Input"]
