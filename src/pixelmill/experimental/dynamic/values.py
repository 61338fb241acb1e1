"""Tensors and batches that operators can be called on at once."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.node_operators import Arithmetic
from pixelmill.types import DALIDataType, default_array, to_data_type, to_numpy_type

Array = np.ndarray[Any, Any]


class _Value(Arithmetic):
    """What tensors and batches have in common: arithmetic at once, and the memory they are in."""

    @property
    def device(self) -> str:
        """Where the elements are."""
        return "cpu"

    def cpu(self) -> Self:
        """Give the value in main memory, where it is."""
        return self

    def gpu(self, index: int | None = None) -> Self:
        """Accepted for compatibility; the value stays in main memory."""
        return self

    def to_device(self, device: Any, force_copy: bool = False) -> Self:
        """Accepted for compatibility; the value stays in main memory."""
        return self

    def evaluate(self) -> Self:
        """Give the value; its elements are there already."""
        return self

    def _operate(self, operation: str, *operands: Any, **arguments: Any) -> Self:
        from pixelmill.experimental.dynamic.run import operate

        made: Self = operate(operation, *operands)
        return made


class Tensor(_Value):
    """One array with names for its axes.

    Args:
        data: Anything NumPy takes for an array; bytes are taken for encoded data.
        layout: The names of the axes.
        dtype: A type to change the elements to.
    """

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

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self.array.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.array.nbytes

    def item(self) -> Any:
        """Give the only element as a Python number."""
        return self.array.item()

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

    def __getitem__(self, key: Any) -> Tensor:
        """Take a part: numbers, tensors of one number, and slices for axes."""
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
    """Several tensors of one type and number of axes.

    Args:
        tensors: Arrays, or one array with the samples along its first axis.
        layout: The names of the axes of a sample.
        dtype: A type to change the elements to.
    """

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

    @staticmethod
    def broadcast(sample: Any, batch_size: int, device: Any = None, dtype: Any = None) -> Batch:
        """Make a batch that holds one sample several times."""
        return Batch([Tensor(sample, dtype=dtype)] * batch_size)

    def select(self, indices: int | slice | Sequence[int]) -> Any:
        """Give one sample, or a batch of some of them."""
        if isinstance(indices, int):
            return self.tensors[indices]
        chosen = range(len(self))[indices] if isinstance(indices, slice) else indices
        return Batch([self.tensors[index] for index in chosen])

    @property
    def slice(self) -> BatchSlice:
        """Parts of each sample: `batch.slice[1:3, start]`, where numbers may be batches, one for each sample."""
        return BatchSlice(self)

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


class BatchSlice:
    """Gives parts of each sample of a batch."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def __getitem__(self, key: Any) -> Batch:
        return self._batch._operate("subscript", self._batch, _without_dots(key, self._batch.ndim))


def _without_dots(key: Any, ndim: int) -> tuple[Any, ...]:
    """Write `...` in a subscript out as whole axes."""
    items = key if isinstance(key, tuple) else (key,)
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise ArgumentError("a subscript may have one `...`")
    if not dots:
        return items
    return (*items[: dots[0]], *[slice(None)] * (ndim - len(items) + 1), *items[dots[0] + 1 :])


def as_tensor(data: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Tensor:
    """Make a tensor of anything NumPy takes for an array."""
    return Tensor(data, layout, dtype)


def as_batch(tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """Make a batch of several arrays, or of one along its first axis."""
    return Batch(tensors, layout, dtype)
