"""DALI's iterators for PaddlePaddle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError, MissingDependency
from pixelmill.pipeline import Pipeline
from pixelmill.plugin.base_iterator import BaseIterator, LastBatchPolicy
from pixelmill.tensors import Array, TensorListCPU, TensorListGPU

try:
    import paddle
except ImportError:
    raise MissingDependency("paddle", "paddle") from None

LoDTensor = Any  # paddle.framework.core.LoDTensor, an untyped class


class DALIGenericIterator(BaseIterator):
    """Returns batches as a list with one dict of LoDTensors per pipeline.

    Args:
        pipelines: One pipeline, or several that run together.
        output_map: For each output a name, or a tuple of a name and a LoD level. The samples of an output with a level
            above 0 may differ in shape; they are concatenated, and the tensor has their lengths.
        size: As for the iterator of PyTorch, like all other arguments.
        reader_name: The reader that determines the length of an epoch.
        auto_reset: Whether the next epoch starts automatically.
        fill_last_batch: Deprecated.
        dynamic_shape: Accepted for compatibility.
        last_batch_padded: Whether the reader fills the last batch.
        last_batch_policy: How to handle an incomplete last batch.
        prepare_first_batch: Whether to make the first batch when the iterator is created.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str | tuple[str, int]],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ) -> None:
        self.normalized_map = dict((entry, 0) if isinstance(entry, str) else entry for entry in output_map)
        super().__init__(
            pipelines,
            [entry if isinstance(entry, str) else entry[0] for entry in output_map],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )

    def _tensor(self, number: int, output: TensorListCPU | TensorListGPU, size: int) -> LoDTensor:
        batch = output.as_cpu() if isinstance(output, TensorListGPU) else output
        name = self.output_map[number]
        level = self.normalized_map[name]
        if level == 0 and not batch.is_dense_tensor():
            raise ArgumentError(f"output {name!r}: its samples differ in shape; use ({name!r}, 1) in output_map")
        if level > batch.ndim():
            raise ArgumentError(f"output {name!r}: samples with {batch.ndim()} axes have no LoD level {level}")
        if level == 0:
            return _lod_tensor(batch.as_array()[:size], [])
        samples = [batch.at(place) for place in range(size)]
        return _lod_tensor(
            np.concatenate([sample.reshape(-1, *sample.shape[level:]) for sample in samples]),
            [_lengths(samples, depth) for depth in range(level)],
        )


class DALIClassificationIterator(DALIGenericIterator):
    """A `DALIGenericIterator` for pipelines with two outputs, named `data` and `label`.

    Args:
        pipelines: As for DALIGenericIterator, like all other arguments.
        size: Samples of an epoch.
        reader_name: The reader that determines the length of an epoch.
        options: The other arguments.
    """

    def __init__(
        self, pipelines: Pipeline | Sequence[Pipeline], size: int = -1, reader_name: str | None = None, **options: Any
    ) -> None:
        super().__init__(pipelines, ["data", "label"], size, reader_name, **options)


def _lengths(samples: list[Array], depth: int) -> list[int]:
    """Return the extents along an axis: one for each element along the axes before it."""
    return [extent for s in samples for extent in [s.shape[depth]] * math.prod(s.shape[:depth])]


def _lod_tensor(array: Array, lengths: list[list[int]]) -> LoDTensor:
    tensor = paddle.framework.core.LoDTensor()
    tensor.set(np.ascontiguousarray(array), paddle.CPUPlace())
    if lengths:
        tensor.set_recursive_sequence_lengths(lengths)
    return tensor


__all__ = ["DALIClassificationIterator", "DALIGenericIterator", "LastBatchPolicy"]
