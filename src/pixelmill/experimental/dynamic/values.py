"""Tensors and batches that operators can be called on at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.types import DALIDataType, default_array, to_data_type, to_numpy_type

Array = np.ndarray[Any, Any]


class Tensor:
    """One array with names for its axes.

    Args:
        data: Anything NumPy takes for an array; bytes are taken for encoded data.
        layout: The names of the axes.
        dtype: A type to change the elements to.
    """

    __array_ufunc__ = None
    array: Array
    layout: str

    def __init__(self, data: Any, layout: str | None = None, dtype: Any = None) -> None:
        if isinstance(data, Tensor):
            layout = data.layout if layout is None else layout
            data = data.array
        if isinstance(data, (bytes, bytearray, memoryview)):
            data = np.frombuffer(data, np.uint8)
        self.array = default_array(data) if not hasattr(data, "__array__") else np.asarray(data)
        if dtype is not None:
            self.array = self.array.astype(to_numpy_type(to_data_type(dtype)))
        self.layout = layout or ""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> DALIDataType:
        """The type of the elements."""
        return to_data_type(self.array.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.array.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.array.size

    def item(self) -> Any:
        """Give the only element as a Python number."""
        return self.array.item()

    def cpu(self) -> Tensor:
        """Give the tensor in main memory, where it is."""
        return self

    def gpu(self) -> Tensor:
        """Accepted for compatibility; the tensor stays in main memory."""
        return self

    def evaluate(self) -> Tensor:
        """Give the tensor; its elements are there already."""
        return self

    def torch(self) -> Any:
        """Give the elements as a torch tensor, without a copy."""
        from pixelmill.plugin.pytorch import tensor_of

        return tensor_of(self.array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.array, dtype, copy=True if copy else None)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Tensor:
        return Tensor(self.array[index])

    def __repr__(self) -> str:
        return f"Tensor({self.array!r}, layout={self.layout!r})"


class Batch:
    """Several tensors of one type and number of axes.

    Args:
        tensors: Arrays, or one array with the samples along its first axis.
        layout: The names of the axes of a sample.
        dtype: A type to change the elements to.
    """

    __array_ufunc__ = None
    tensors: list[Tensor]

    def __init__(self, tensors: Any, layout: str | None = None, dtype: Any = None) -> None:
        source = tensors.tensors if isinstance(tensors, Batch) else tensors
        self.tensors = [Tensor(sample, layout, dtype) for sample in source]
        if not self.tensors:
            raise ArgumentError("a Batch needs at least one tensor")

    @property
    def layout(self) -> str:
        """The names of the axes of a sample."""
        return self.tensors[0].layout

    @property
    def batch_size(self) -> int:
        """The number of samples."""
        return len(self.tensors)

    @property
    def shape(self) -> list[tuple[int, ...]]:
        """The shapes of the samples."""
        return [tensor.shape for tensor in self.tensors]

    @property
    def dtype(self) -> DALIDataType:
        """The type of the elements."""
        return self.tensors[0].dtype

    @property
    def ndim(self) -> int:
        """The number of axes of a sample."""
        return self.tensors[0].ndim

    def select(self, indices: int | Sequence[int]) -> Any:
        """Give one sample, or a batch of some of them."""
        if isinstance(indices, int):
            return self.tensors[indices]
        return Batch([self.tensors[index] for index in indices])

    def cpu(self) -> Batch:
        """Give the batch in main memory, where it is."""
        return self

    def gpu(self) -> Batch:
        """Accepted for compatibility; the batch stays in main memory."""
        return self

    def evaluate(self) -> Batch:
        """Give the batch; its elements are there already."""
        return self

    def torch(self) -> Any:
        """Give the samples, which must agree in shape, as one torch tensor."""
        from pixelmill.plugin.pytorch import tensor_of

        return tensor_of(np.stack([tensor.array for tensor in self.tensors]))

    def __len__(self) -> int:
        return len(self.tensors)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.tensors)

    def __repr__(self) -> str:
        return f"Batch({len(self)} x {self.dtype.name}, shapes={sorted(set(self.shape))[:3]}, layout={self.layout!r})"


def as_tensor(data: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Tensor:
    """Make a tensor of anything NumPy takes for an array."""
    return Tensor(data, layout, dtype)


def as_batch(tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """Make a batch of several arrays, or of one along its first axis."""
    return Batch(tensors, layout, dtype)
