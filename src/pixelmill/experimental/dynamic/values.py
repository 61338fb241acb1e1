"""Tensors and batches for operators that run immediately."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt

from pixelmill.errors import ArgumentError
from pixelmill.experimental.dynamic.devices import CPU, Device
from pixelmill.node_operators import Arithmetic
from pixelmill.types import Array, DALIDataType, default_array, numpy_dtype, to_data_type


class _Value(Arithmetic):
    """Common base of tensors and batches: immediate arithmetic, and methods for devices."""

    @property
    def device(self) -> Device:
        """The device that holds the elements."""
        return CPU

    def cpu(self) -> Self:
        """Return the value itself, which is always in main memory."""
        return self

    def gpu(self, index: int | None = None) -> Self:
        """Accepted for compatibility; the value stays in main memory."""
        return self

    def to_device(self, device: object, force_copy: bool = False) -> Self:
        """Accepted for compatibility; the value stays in main memory."""
        return self

    def evaluate(self) -> Self:
        """Return the value itself, which is already computed."""
        return self

    def _operate(self, operation: str, *operands: object, **arguments: object) -> Self:
        from pixelmill.experimental.dynamic.run import operate

        return cast("Self", operate(operation, *operands))


class Tensor(_Value):
    """An array with a layout.

    Args:
        data: Anything NumPy can convert to an array; bytes become uint8 vectors of encoded data.
        layout: One letter per axis, such as `"HWC"`.
        dtype: The element type to convert to.
    """

    array: Array
    layout: str

    def __init__(self, data: object, layout: str | None = None, dtype: object = None) -> None:
        if isinstance(data, Tensor):
            layout = data.layout if layout is None else layout
            data = data.array
        if isinstance(data, (bytes, bytearray, memoryview)):
            data = np.frombuffer(data, np.uint8)
        self.array = default_array(data) if not hasattr(data, "__array__") else np.asarray(data)
        if dtype is not None:
            self.array = self.array.astype(numpy_dtype(to_data_type(dtype)))
        self.layout = layout or ""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> DALIDataType:
        """The element type."""
        return to_data_type(self.array.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.array.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.array.size

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self.array.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes."""
        return self.array.nbytes

    def item(self) -> int | float | bool:
        """Return the only element as a Python number."""
        number: int | float | bool = self.array.item()
        return number

    def torch(self) -> Any:  # torch.Tensor; only plugins import frameworks
        """Return the elements as a torch tensor, without a copy."""
        from pixelmill.plugin.pytorch import tensor_of

        return tensor_of(self.array)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.array, dtype) if copy else np.asarray(self.array, dtype)

    def __dlpack__(self, **options: Any) -> object:  # NumPy checks the options
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: object) -> Tensor:
        """Index or slice the tensor with integers, tensors of one integer, and slices."""
        return self._operate("subscript", self, _without_dots(key, self.ndim))

    def __bool__(self) -> bool:
        return bool(self.array)

    def __int__(self) -> int:
        return int(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def __index__(self) -> int:
        return operator.index(self.array)

    def __repr__(self) -> str:
        return f"Tensor({self.array!r}, layout={self.layout!r})"


class Batch(_Value):
    """Several tensors of the same type and number of axes.

    Args:
        tensors: Arrays, or one array with the samples along its first axis.
        layout: The layout of a sample.
        dtype: The element type to convert to.
    """

    tensors: list[Tensor]

    def __init__(
        self, tensors: Batch | Array | Iterable[object], layout: str | None = None, dtype: object = None
    ) -> None:
        source = tensors.tensors if isinstance(tensors, Batch) else tensors
        self.tensors = [Tensor(sample, layout, dtype) for sample in source]
        if not self.tensors:
            raise ArgumentError("a Batch needs at least one tensor")

    @property
    def layout(self) -> str:
        """The layout of a sample."""
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
        """The element type."""
        return self.tensors[0].dtype

    @property
    def ndim(self) -> int:
        """The number of axes of a sample."""
        return self.tensors[0].ndim

    @staticmethod
    def broadcast(sample: object, batch_size: int, device: object = None, dtype: object = None) -> Batch:
        """Create a batch that repeats one sample."""
        return Batch([Tensor(sample, dtype=dtype)] * batch_size)

    def select(self, indices: int | slice | Sequence[int]) -> Tensor | Batch:
        """Return one sample, or a batch of several."""
        if isinstance(indices, int):
            return self.tensors[indices]
        chosen = range(len(self))[indices] if isinstance(indices, slice) else indices
        return Batch([self.tensors[index] for index in chosen])

    @property
    def slice(self) -> BatchSlice:
        """Indexes each sample: `batch.slice[1:3, start]`, where integers may be batches with one per sample."""
        return BatchSlice(self)

    def torch(self) -> Any:
        """Return the samples, which must have the same shape, as one torch tensor."""
        from pixelmill.plugin.pytorch import tensor_of

        return tensor_of(np.stack([tensor.array for tensor in self.tensors]))

    def __len__(self) -> int:
        return len(self.tensors)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.tensors)

    def __repr__(self) -> str:
        return f"Batch({len(self)} x {self.dtype.name}, shapes={sorted(set(self.shape))[:3]}, layout={self.layout!r})"


class BatchSlice:
    """Indexes each sample of a batch."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def __getitem__(self, key: object) -> Batch:
        return self._batch._operate("subscript", self._batch, _without_dots(key, self._batch.ndim))


def _without_dots(key: object, ndim: int) -> tuple[object, ...]:
    """Expand `...` in a subscript to full slices."""
    items = key if isinstance(key, tuple) else (key,)
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise ArgumentError("a subscript may contain `...` only once")
    if not dots:
        return items
    return (*items[: dots[0]], *[slice(None)] * (ndim - len(items) + 1), *items[dots[0] + 1 :])


def as_tensor(data: object, dtype: object = None, device: object = None, layout: str | None = None) -> Tensor:
    """Create a tensor from anything NumPy can convert to an array."""
    return Tensor(data, layout, dtype)


def as_batch(
    tensors: Batch | Array | Iterable[object],
    dtype: object = None,
    device: object = None,
    layout: str | None = None,
) -> Batch:
    """Create a batch from several arrays, or from one along its first axis."""
    return Batch(tensors, layout, dtype)
