"""DALI's iterators and Python functions for PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError, MissingDependency
from pixelmill.graph.nodes import DataNode
from pixelmill.pipeline import Pipeline
from pixelmill.plugin.base_iterator import BaseIterator, LastBatchPolicy
from pixelmill.tensors import Array, TensorCPU, TensorGPU, TensorListCPU, TensorListGPU
from pixelmill.types import DALIDataType

try:
    import torch
except ImportError:
    raise MissingDependency("torch", "torch") from None

from pixelmill.plugin.pytorch.fn import torch_python_function

to_torch_type = {
    DALIDataType.UINT8: torch.uint8,
    DALIDataType.UINT16: torch.uint16,
    DALIDataType.UINT32: torch.uint32,
    DALIDataType.UINT64: torch.uint64,
    DALIDataType.INT8: torch.int8,
    DALIDataType.INT16: torch.int16,
    DALIDataType.INT32: torch.int32,
    DALIDataType.INT64: torch.int64,
    DALIDataType.FLOAT16: torch.float16,
    DALIDataType.FLOAT: torch.float32,
    DALIDataType.FLOAT64: torch.float64,
    DALIDataType.BOOL: torch.bool,
}


class DALIGenericIterator(BaseIterator):
    """Returns batches as a list with one dict of tensors per pipeline. The tensors share the memory of the batches.

    With `reader_name` all ranks take the same number of steps. DROP returns no copies. If the reader has
    `pad_last_batch=True`, or with `exact`, PARTIAL returns each sample exactly once per epoch and no empty batch; a
    rank with one sample less divides its last samples differently. Otherwise batches continue into the next epoch, as
    on DALI: on one rank, PARTIAL returns as many samples as there are, but those that it cuts off the last batch are
    missing at the start of the next epoch.

    Args:
        pipelines: One pipeline, or several that run together.
        output_map: A name for each output.
        size: Samples of an epoch, over all pipelines; use it only if there is no reader. Without `size` and
            `reader_name`, an epoch lasts until the pipeline raises StopIteration.
        reader_name: The reader that determines the length of an epoch.
        auto_reset: Whether the next epoch starts automatically; otherwise `reset` or a new loop starts it.
        fill_last_batch: Deprecated; True is `last_batch_policy=FILL`, False is PARTIAL.
        dynamic_shape: Accepted for compatibility.
        last_batch_padded: With `size`: whether the reader fills its last batch by repeating the last sample, instead of
            continuing with the next epoch.
        last_batch_policy: How to handle an incomplete last batch.
        prepare_first_batch: Whether to make the first batch when the iterator is created.
        exact: With `reader_name`: start each epoch with its own first sample, as with `pad_last_batch=True`.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        exact: bool = False,
    ) -> None:
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            exact=exact,
        )

    def _tensor(self, number: int, output: TensorListCPU, size: int) -> torch.Tensor:
        return _dense(self.output_map[number], output, size)


class DALIClassificationIterator(DALIGenericIterator):
    """A `DALIGenericIterator` for pipelines with two outputs, named `data` and `label`.

    Args:
        pipelines: As for DALIGenericIterator, like all other arguments.
        size: Samples of an epoch.
        reader_name: The reader that determines the length of an epoch.
        auto_reset: Whether the next epoch starts automatically.
        fill_last_batch: Deprecated.
        dynamic_shape: Accepted for compatibility.
        last_batch_padded: Whether the reader fills the last batch.
        last_batch_policy: How to handle an incomplete last batch.
        prepare_first_batch: Whether to make the first batch when the iterator is created.
        exact: With `reader_name`: start each epoch with its own first sample, as with `pad_last_batch=True`.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        exact: bool = False,
    ) -> None:
        super().__init__(
            pipelines,
            ["data", "label"],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            exact=exact,
        )


class DALIRaggedIterator(BaseIterator):
    """A `DALIGenericIterator` that also supports outputs whose samples differ in shape.

    Args:
        pipelines: As for DALIGenericIterator, like all other arguments except `output_types`.
        output_map: A name for each output.
        size: Samples of an epoch.
        reader_name: The reader that determines the length of an epoch.
        output_types: For each output `DENSE_TAG` (one tensor), `SPARSE_LIST_TAG` (a list of tensors) or
            `SPARSE_COO_TAG` (a sparse tensor, for samples with one axis); all dense if omitted.
        auto_reset: Whether the next epoch starts automatically.
        fill_last_batch: Deprecated.
        dynamic_shape: Accepted for compatibility.
        last_batch_padded: Whether the reader fills the last batch.
        last_batch_policy: How to handle an incomplete last batch.
        prepare_first_batch: Whether to make the first batch when the iterator is created.
        exact: With `reader_name`: start each epoch with its own first sample, as with `pad_last_batch=True`.
    """

    DENSE_TAG = "dense"
    SPARSE_LIST_TAG = "sparse_list"
    SPARSE_COO_TAG = "sparse_coo"

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        output_types: Sequence[str] | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        exact: bool = False,
    ) -> None:
        self._types = [self.DENSE_TAG] * len(output_map) if output_types is None else list(output_types)
        known = {self.DENSE_TAG, self.SPARSE_LIST_TAG, self.SPARSE_COO_TAG}
        if len(self._types) != len(output_map) or not known.issuperset(self._types):
            raise ArgumentError(f"output_types: one of {sorted(known)} for each output, got {output_types}")
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            exact=exact,
        )

    def _tensor(self, number: int, output: TensorListCPU, size: int) -> torch.Tensor | list[torch.Tensor]:
        if self._types[number] == self.DENSE_TAG:
            return _dense(self.output_map[number], output, size)
        samples = [output.at(place) for place in range(size)]
        if self._types[number] == self.SPARSE_LIST_TAG:
            return [tensor_of(sample) for sample in samples]
        if output.ndim() != 1:
            raise ArgumentError(f"output {self.output_map[number]!r}: sparse_coo is for samples with one axis")
        return _sparse(samples)


def _dense(name: str, output: TensorListCPU | TensorListGPU, size: int) -> torch.Tensor:
    if not output.is_dense_tensor():
        shapes = ", ".join(str(shape) for shape in sorted(set(output.shape()))[:3])
        raise ArgumentError(f"output {name!r}: shapes {shapes} cannot form one tensor; see DALIRaggedIterator")
    return tensor_of(output.as_tensor() if isinstance(output, TensorListGPU) else output.as_array())[:size]


def tensor_of(array: Array | TensorGPU) -> torch.Tensor:
    """Return an array as a tensor that shares its memory, or a copy if the array is read-only."""
    if isinstance(array, TensorGPU):
        return torch.utils.dlpack.from_dlpack(array)
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def _sparse(samples: list[Array]) -> torch.Tensor:
    lengths = [len(sample) for sample in samples]
    rows = np.repeat(np.arange(len(samples)), lengths)
    columns = np.concatenate([np.arange(length) for length in lengths])
    indices = torch.from_numpy(np.stack([rows, columns]))
    shape = (len(samples), max(lengths))
    return torch.sparse_coo_tensor(indices, torch.from_numpy(np.concatenate(samples)), shape, check_invariants=False)


def feed_ndarray(
    dali_tensor: TensorCPU | TensorListCPU, arr: torch.Tensor, cuda_stream: object = None, non_blocking: bool = False
) -> torch.Tensor:
    """Copy a batch into a tensor of the same shape and type.

    Args:
        dali_tensor: An output of a pipeline.
        arr: The tensor to copy it into.
        cuda_stream: Accepted for compatibility.
        non_blocking: Accepted for compatibility.
    """
    source = torch.from_numpy(np.asarray(dali_tensor))
    if source.shape != arr.shape or source.dtype != arr.dtype:
        what = f"{source.dtype} {tuple(source.shape)}"
        raise ArgumentError(f"feed_ndarray: the batch is {what}, the tensor is {arr.dtype} {tuple(arr.shape)}")
    return arr.copy_(source)


class TorchPythonFunction:
    """A function of tensors as an operator of a graph. Call the object with the inputs of the function.

    Args:
        function: Takes and returns tensors.
        num_outputs: How many tensors it returns.
        device: Where it should run; the native engine runs everything on the CPU.
        batch_processing: Call it once per batch with lists of tensors, instead of once per sample.
        options: `output_layouts` and `name`.
    """

    def __init__(
        self,
        function: Callable[..., object],
        num_outputs: int = 1,
        device: str = "cpu",
        batch_processing: bool = False,
        **options: Any,
    ) -> None:
        self._add = functools.partial(
            torch_python_function,
            function=function,
            num_outputs=num_outputs,
            device=device,
            batch_processing=batch_processing,
            **options,
        )

    def __call__(self, *inputs: DataNode) -> DataNode | list[DataNode]:
        """Add the function to the graph."""
        return self._add(*inputs)


__all__ = [
    "DALIClassificationIterator",
    "DALIGenericIterator",
    "DALIRaggedIterator",
    "LastBatchPolicy",
    "TorchPythonFunction",
    "feed_ndarray",
    "to_torch_type",
]
