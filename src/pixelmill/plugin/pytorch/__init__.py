"""DALI's iterators and Python functions for PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError, MissingDependency
from pixelmill.pipeline import Pipeline
from pixelmill.plugin.base_iterator import BaseIterator, LastBatchPolicy
from pixelmill.tensors import Array, TensorCPU, TensorGPU, TensorListCPU, TensorListGPU
from pixelmill.types import DALIDataType

try:
    import torch
except ImportError:
    raise MissingDependency("torch", "torch") from None

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
    """Gives batches as a list with one dict of tensors for each pipeline. The tensors are the batches, not copies.

    With `reader_name` all ranks take the same number of steps. PARTIAL gives each sample exactly once in an epoch and
    no empty batch; a rank that is one sample short divides its last samples otherwise. DROP gives no copies.

    Args:
        pipelines: One pipeline, or several that are run together.
        output_map: A name for each output.
        size: Samples of an epoch, over all pipelines; only where there is no reader to ask. Without both an epoch lasts
            until the pipeline raises StopIteration.
        reader_name: The reader that says how long an epoch is.
        auto_reset: Whether the next epoch begins by itself; otherwise `reset` or a new loop begins it.
        fill_last_batch: Deprecated; True is `last_batch_policy=FILL`, False is PARTIAL.
        dynamic_shape: Accepted for compatibility.
        last_batch_padded: With `size`: whether the reader fills its last batch by repeating the last sample, instead of
            going on with the next epoch.
        last_batch_policy: What becomes of an incomplete last batch.
        prepare_first_batch: Whether to make the first batch when the iterator is made.
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
        )

    def _tensor(self, number: int, output: TensorListCPU, size: int) -> Any:
        return _dense(self.output_map[number], output, size)


class DALIClassificationIterator(DALIGenericIterator):
    """The same for pipelines with two outputs, named `data` and `label`.

    Args:
        pipelines: As for DALIGenericIterator, like all that follow.
        size: Samples of an epoch.
        reader_name: The reader that says how long an epoch is.
        auto_reset: Whether the next epoch begins by itself.
        fill_last_batch: Deprecated.
        dynamic_shape: Accepted for compatibility.
        last_batch_padded: Whether the reader fills the last batch.
        last_batch_policy: What becomes of an incomplete last batch.
        prepare_first_batch: Whether to make the first batch now.
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
        )


class DALIRaggedIterator(BaseIterator):
    """Gives outputs whose samples differ in shape as well.

    Args:
        pipelines: As for DALIGenericIterator, like all others but `output_types`.
        output_map: A name for each output.
        size: Samples of an epoch.
        reader_name: The reader that says how long an epoch is.
        output_types: For each output `DENSE_TAG` (one tensor), `SPARSE_LIST_TAG` (a list of tensors) or
            `SPARSE_COO_TAG` (a sparse tensor, of samples with one axis); all dense when left out.
        auto_reset: Whether the next epoch begins by itself.
        fill_last_batch: Deprecated.
        dynamic_shape: Accepted for compatibility.
        last_batch_padded: Whether the reader fills the last batch.
        last_batch_policy: What becomes of an incomplete last batch.
        prepare_first_batch: Whether to make the first batch now.
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
        )

    def _tensor(self, number: int, output: TensorListCPU, size: int) -> Any:
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
        raise ArgumentError(f"output {name!r}: samples of shapes {shapes} make no tensor; see DALIRaggedIterator")
    return tensor_of(output.as_tensor() if isinstance(output, TensorListGPU) else output.as_array())[:size]


def tensor_of(array: Array | TensorGPU) -> torch.Tensor:
    """Give an array as a tensor, in the same memory unless the array may not be written to."""
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
    dali_tensor: TensorCPU | TensorListCPU, arr: torch.Tensor, cuda_stream: Any = None, non_blocking: bool = False
) -> torch.Tensor:
    """Copy a batch into a tensor of the same shape and type.

    Args:
        dali_tensor: What a pipeline gave.
        arr: Where to copy it.
        cuda_stream: Accepted for compatibility.
        non_blocking: Accepted for compatibility.
    """
    source = torch.from_numpy(np.asarray(dali_tensor))
    if source.shape != arr.shape or source.dtype != arr.dtype:
        what = f"{source.dtype} {tuple(source.shape)}"
        raise ArgumentError(f"feed_ndarray: the batch is {what}, the tensor is {arr.dtype} {tuple(arr.shape)}")
    return arr.copy_(source)


class TorchPythonFunction:
    """A function of tensors in the middle of a graph, to be called with its inputs.

    Args:
        function: Gets and gives tensors.
        num_outputs: How many tensors it gives.
        device: Where it should run; the native engine runs everything on the CPU.
        batch_processing: Call it once with lists of tensors, instead of for every sample.
        options: `output_layouts` and `name`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        num_outputs: int = 1,
        device: str = "cpu",
        batch_processing: bool = False,
        **options: Any,
    ) -> None:
        self._options = {"device": device, "batch_processing": batch_processing, **options}
        self._options |= {"function": function, "num_outputs": num_outputs}

    def __call__(self, *inputs: Any) -> Any:
        """Add the function to the graph."""
        from pixelmill.plugin.pytorch.fn import torch_python_function

        return torch_python_function(*inputs, **self._options)


__all__ = [
    "DALIClassificationIterator",
    "DALIGenericIterator",
    "DALIRaggedIterator",
    "LastBatchPolicy",
    "TorchPythonFunction",
    "feed_ndarray",
    "to_torch_type",
]
