"""Pipelines that are fed by `tf.data` datasets."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import tensorflow as tf

from pixelmill.errors import ArgumentError
from pixelmill.pipeline import Pipeline
from pixelmill.plugin.tf.dataset import Inputs, PipelineDataset, overrides_iter_setup, unfed_sources
from pixelmill.tensors import Array

Sample = Array | bytes


class Input:
    """A dataset that feeds an `external_source`, and how to read it.

    Args:
        dataset: A dataset of single tensors.
        layout: Layout of a sample; if omitted, that of the `external_source`.
        batch: Whether the tensors are batches instead of samples; None uses the setting of the `external_source`.
    """

    def __init__(self, dataset: tf.data.Dataset, *, layout: str | None = None, batch: bool | None = False) -> None:
        if not isinstance(dataset, tf.data.Dataset):
            raise ArgumentError(f"Input: expected a tf.data.Dataset, got {type(dataset).__name__}")
        if not isinstance(dataset.element_spec, tf.TensorSpec):
            raise ArgumentError(f"Input: elements of the dataset must be single tensors, got {dataset.element_spec}")
        self.dataset = dataset
        self.layout = layout
        self.batch = batch


class DALIDatasetWithInputs(PipelineDataset):
    """A `DALIDataset` whose pipeline is fed by other datasets. It ends when the first of them ends.

    Samples are collected into batches; those that do not fill the last batch are dropped, as in DALI. The tensors of
    the other datasets are not copied.

    Args:
        pipeline: As for `DALIDataset`, like all other arguments except `input_datasets`.
        output_dtypes: Types of the outputs.
        output_shapes: Shapes of the outputs.
        fail_on_device_mismatch: Accepted for compatibility.
        batch_size: Samples in a batch.
        num_threads: Number of samples to process at the same time.
        device_id: The GPU to use.
        exec_separated: Accepted for compatibility.
        exec_dynamic: Accepted for compatibility.
        prefetch_queue_depth: Number of batches to prepare ahead.
        cpu_prefetch_queue_depth: Accepted for compatibility.
        gpu_prefetch_queue_depth: Accepted for compatibility.
        dtypes: Deprecated name of `output_dtypes`.
        shapes: Deprecated name of `output_shapes`.
        input_datasets: A dataset of samples, or an `Input`, for every `external_source` without a source, by name.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        input_datasets: Mapping[str, tf.data.Dataset | Input] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(pipeline, inputs=_DatasetInputs(_as_inputs(input_datasets or {})), **options)


def _as_inputs(given: object) -> dict[str, Input]:
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ArgumentError(f"input_datasets: a dict from names of external sources to datasets, got {given!r}")
    return {name: value if isinstance(value, Input) else Input(value) for name, value in given.items()}


class _DatasetInputs(Inputs):
    """Datasets that feed the external sources of a pipeline."""

    def __init__(self, inputs: dict[str, Input]) -> None:
        self._inputs = inputs

    def check(self, pipe: Pipeline) -> None:
        waiting = unfed_sources(pipe)
        for name in self._inputs:
            if name not in waiting:
                known = ", ".join(map(repr, waiting)) or "none"
                raise ArgumentError(f"input_datasets: no external_source {name!r} needs input; those that do: {known}")
        missing = [name for name in waiting if name not in self._inputs]
        if missing and not overrides_iter_setup(pipe):
            raise ArgumentError(f"input_datasets: nothing feeds the external_source {missing[0]!r}")

    def attach(self, pipe: Pipeline) -> None:
        sources = {feed.name: feed.external for feed in pipe._ready().feeds}
        batches = {
            name: _batches(one, batch_size=pipe.max_batch_size, per_sample=sources[name].per_sample)
            for name, one in self._inputs.items()
        }
        weak = weakref.ref(pipe)  # a cycle would keep its threads alive until the next garbage collection

        def feed_all() -> None:
            fed = weak()
            assert fed is not None
            for name, batch in {name: next(values) for name, values in batches.items()}.items():
                fed.feed_input(name, batch, self._inputs[name].layout)
            type(fed).iter_setup(fed)

        pipe.iter_setup = feed_all  # type: ignore[method-assign]


def _batches(one: Input, *, batch_size: int, per_sample: bool) -> Iterator[Sample | list[Sample]]:
    values = iter(one.dataset.as_numpy_iterator())
    if one.batch or (one.batch is None and not per_sample):
        yield from (_array(value) for value in values)
        return
    while True:
        samples = [_array(value) for value in islice(values, batch_size)]
        if len(samples) < batch_size:
            return
        yield samples


def _array(value: Any) -> Sample:
    """Return bytes unchanged, since they become the elements of a sample, and scalars as arrays without axes."""
    return value if isinstance(value, bytes) else np.asarray(value)


__all__ = ["DALIDatasetWithInputs", "Input"]
