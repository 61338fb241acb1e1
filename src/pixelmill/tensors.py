"""Batches of samples: what a pipeline returns, in main memory or on a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, SupportsInt

import numpy as np
import numpy.typing as npt

from pixelmill.errors import ArgumentError, EngineError, IndexOutOfRangeError
from pixelmill.types import Array as Array
from pixelmill.types import DALIDataType, numpy_dtype, to_data_type


class DaliTensor(Protocol):
    """A `TensorGPU` of DALI, as far as it is used here."""

    @property
    def dtype(self) -> SupportsInt: ...

    @property
    def __cuda_array_interface__(self) -> dict[str, object]: ...

    def shape(self) -> Sequence[int]: ...

    def as_cpu(self) -> npt.ArrayLike: ...

    def data_ptr(self) -> int: ...

    def copy_to_external(self, target: int, **options: object) -> None: ...

    def __dlpack__(self, **options: object) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


class DaliBatch(Protocol):
    """A `TensorListGPU` of DALI, or its counterpart in main memory, as far as they are used here."""

    @property
    def dtype(self) -> SupportsInt: ...

    def shape(self) -> Sequence[Sequence[int]]: ...

    def is_dense_tensor(self) -> bool: ...

    def as_tensor(self) -> Any: ...  # a DaliTensor, or one that NumPy reads

    def as_cpu(self) -> DaliBatch: ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Any: ...  # a DaliTensor, or one that NumPy reads


class TensorCPU:
    """One array: a sample, or a batch whose samples agree in shape. NumPy, torch and JAX read it without a copy."""

    def __init__(self, data: npt.ArrayLike, layout: str = "", source_info: str = "") -> None:
        self._array: Array = np.asarray(data)
        self._layout = layout
        self._source_info = source_info

    def shape(self) -> list[int]:
        """Return the extents of the axes."""
        return list(self._array.shape)

    def layout(self) -> str:
        """Return the names of the axes."""
        return self._layout

    def source_info(self) -> str:
        """Return where the sample came from."""
        return self._source_info

    @property
    def dtype(self) -> DALIDataType:
        """The type of the elements."""
        return to_data_type(self._array.dtype)

    def ndim(self) -> int:
        """Return the number of axes."""
        return self._array.ndim

    def set_layout(self, layout: str) -> None:
        """Set the names of the axes."""
        self._layout = layout

    def reinterpret(self, new_type: DALIDataType) -> None:
        """Read the same bytes as elements of another type of the same size."""
        self._array = _reinterpreted(self._array, new_type)

    def get_property(self, key: str) -> str:
        """Return a property: `"layout"` or `"source_info"`."""
        return {"layout": self._layout, "source_info": self._source_info}[key]

    def copy_to_external(self, target: int) -> None:
        """Copy the elements to a memory address."""
        _copy(self._array, target)

    def as_cpu(self) -> TensorCPU:
        """Return the tensor itself; it is in main memory already."""
        return self

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return int(self._array.ctypes.data)

    def squeeze(self, dim: int | None = None) -> bool:
        """Remove axes of extent 1; return whether there were any."""
        before = self._array.ndim
        self._array = np.squeeze(self._array, dim)
        return self._array.ndim != before

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        if dtype is not None and dtype != self._array.dtype:
            return self._array.astype(dtype)
        return self._array.copy() if copy else self._array

    def __dlpack__(self, **options: Any) -> object:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __getitem__(self, index: Any) -> Any:  # the index and the result are whatever NumPy accepts and returns
        return self._array[index]

    def __len__(self) -> int:
        return len(self._array)

    def __repr__(self) -> str:
        return f"TensorCPU({self._array.dtype} {tuple(self._array.shape)}, layout={self._layout!r})"


class TensorListCPU:
    """A batch. Its samples have the same type and number of axes, but may differ in shape.

    Args:
        data: One array whose first axis is the batch, or a sequence of arrays.
        layout: Names of the axes of a sample.
    """

    def __init__(self, data: Array | Iterable[npt.ArrayLike], layout: str = "") -> None:
        if isinstance(data, np.ndarray):
            self._block: Array | None = data
            self._samples: Array | list[Array] = data
        else:
            self._block = None
            self._samples = [np.asarray(sample) for sample in data]
        self._layout = layout

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> TensorCPU:
        return TensorCPU(self._samples[index], self._layout)

    def __iter__(self) -> Iterator[TensorCPU]:
        return (self[index] for index in range(len(self)))

    def at(self, index: int) -> Array:
        """Return one sample as a NumPy array."""
        if not -len(self) <= index < len(self):
            raise IndexOutOfRangeError(f"at: the index {index} is out of range for a batch of {len(self)} samples")
        return self._samples[index]

    def as_array(self) -> Array:
        """Return the batch as one array. Raises EngineError if samples differ in shape."""
        if self._block is None:
            if not self.is_dense_tensor():
                shapes = sorted({sample.shape for sample in self._samples})
                raise EngineError(f"samples of different shapes cannot form one array: {shapes[:4]}")
            self._block = np.stack(list(self._samples)) if len(self) else np.empty(0)
        return self._block

    def as_tensor(self) -> TensorCPU:
        """Return the batch as one tensor. Raises EngineError if samples differ in shape."""
        return TensorCPU(self.as_array(), "N" + self._layout if self._layout else "")

    def as_reshaped_tensor(self, shape: Sequence[int]) -> TensorCPU:
        """Return the elements of the batch as one tensor of another shape."""
        return TensorCPU(self.as_array().reshape(shape))

    def as_cpu(self) -> TensorListCPU:
        """Return the batch itself; it is in main memory already."""
        return self

    def shape(self) -> list[tuple[int, ...]]:
        """Return the shape of every sample."""
        return [tuple(sample.shape) for sample in self._samples]

    def layout(self) -> str:
        """Return the names of the axes of a sample."""
        return self._layout

    def set_layout(self, layout: str) -> None:
        """Set the names of the axes of a sample."""
        self._layout = layout

    def is_dense_tensor(self) -> bool:
        """Whether all samples agree in shape."""
        return self._block is not None or len({sample.shape for sample in self._samples}) <= 1

    @property
    def dtype(self) -> DALIDataType:
        """The type of the elements."""
        return to_data_type(self._samples[0].dtype if len(self) else np.uint8)

    def ndim(self) -> int:
        """Return the number of axes of a sample."""
        return self._samples[0].ndim if len(self) else 0

    def reinterpret(self, new_type: DALIDataType) -> None:
        """Read the same bytes as elements of another type of the same size."""
        other = TensorListCPU([_reinterpreted(sample, new_type) for sample in self._samples])
        if self._block is not None:
            other = TensorListCPU(_reinterpreted(self._block, new_type))
        self._block, self._samples = other._block, other._samples

    @staticmethod
    def broadcast(sample: TensorCPU, num_samples: int) -> TensorListCPU:
        """Return a batch that contains one sample several times, without copying it."""
        return TensorListCPU([np.asarray(sample)] * num_samples, sample.layout())

    def copy_to_external(self, target: int) -> None:
        """Copy the batch to a memory address."""
        _copy(self.as_array(), target)

    def data_ptr(self) -> int:
        """Return the address of the first element of the batch."""
        return int(self.as_array().ctypes.data)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return TensorCPU(self.as_array()).__array__(dtype, copy)

    def __dlpack__(self, **options: Any) -> object:
        return self.as_array().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.as_array().__dlpack_device__()

    def __repr__(self) -> str:
        shapes = sorted(set(self.shape()))
        what = str(shapes[0]) if len(shapes) == 1 else f"{len(shapes)} shapes"
        return f"TensorListCPU({len(self)} x {self.dtype.name} {what}, layout={self._layout!r})"


def _reinterpreted(array: Array, new_type: DALIDataType) -> Array:
    wanted = numpy_dtype(new_type)
    if wanted.itemsize != array.dtype.itemsize:
        raise ArgumentError(
            f"reinterpret: elements of {array.dtype} have {array.dtype.itemsize} bytes, those of {wanted} have "
            f"{wanted.itemsize}; the sizes must be equal"
        )
    return array.view(wanted)


def _copy(array: Array, target: int) -> None:
    block = np.ascontiguousarray(array)
    ctypes.memmove(target, block.ctypes.data, block.nbytes)


class TensorGPU:
    """One array on a GPU: a sample, or a batch whose samples agree in shape. It supports DLPack as DALI's tensor does.

    Args:
        tensor: A `TensorGPU` of DALI.
        layout: Names of the axes.
    """

    def __init__(self, tensor: DaliTensor, layout: str = "") -> None:
        self._tensor = tensor
        self._layout = layout

    def shape(self) -> list[int]:
        """Return the extents of the axes."""
        return list(self._tensor.shape())

    def layout(self) -> str:
        """Return the names of the axes."""
        return self._layout

    @property
    def dtype(self) -> DALIDataType:
        """The type of the elements."""
        return DALIDataType(int(self._tensor.dtype))

    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape())

    def as_cpu(self) -> TensorCPU:
        """Copy the tensor to main memory."""
        return TensorCPU(np.asarray(self._tensor.as_cpu()), self._layout)

    def data_ptr(self) -> int:
        """Return the address of the first element on the GPU."""
        return int(self._tensor.data_ptr())

    def copy_to_external(self, target: int, **options: object) -> None:
        """Copy the elements to an address on the GPU; the options are DALI's."""
        self._tensor.copy_to_external(target, **options)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return self._tensor.__cuda_array_interface__

    def __dlpack__(self, **options: object) -> object:
        return self._tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._tensor.__dlpack_device__()

    def __len__(self) -> int:
        return self.shape()[0]


class TensorListGPU:
    """A batch on a GPU.

    Args:
        batch: A `TensorListGPU` of DALI.
        layout: Names of the axes of a sample.
    """

    def __init__(self, batch: DaliBatch, layout: str = "") -> None:
        self._batch = batch
        self._layout = layout

    def __len__(self) -> int:
        return len(self._batch)

    def __getitem__(self, index: int) -> TensorGPU:
        return TensorGPU(self._batch[index], self._layout)

    def __iter__(self) -> Iterator[TensorGPU]:
        return (self[index] for index in range(len(self)))

    def at(self, index: int) -> TensorGPU:
        """Return one sample."""
        return self[index]

    def as_tensor(self) -> TensorGPU:
        """Return the batch as one tensor. Raises an error if samples differ in shape."""
        return TensorGPU(self._batch.as_tensor(), "N" + self._layout if self._layout else "")

    def as_cpu(self) -> TensorListCPU:
        """Copy the batch to main memory."""
        batch = self._batch.as_cpu()
        return TensorListCPU([np.asarray(batch[place]) for place in range(len(batch))], self._layout)

    def shape(self) -> list[tuple[int, ...]]:
        """Return the shape of every sample."""
        return [tuple(shape) for shape in self._batch.shape()]

    def layout(self) -> str:
        """Return the names of the axes of a sample."""
        return self._layout

    def is_dense_tensor(self) -> bool:
        """Whether all samples agree in shape."""
        return bool(self._batch.is_dense_tensor())

    @property
    def dtype(self) -> DALIDataType:
        """The type of the elements."""
        return DALIDataType(int(self._batch.dtype))

    def ndim(self) -> int:
        """Return the number of axes of a sample."""
        return len(self.shape()[0]) if len(self) else 0

    def __repr__(self) -> str:
        return f"TensorListGPU({len(self)} x {self.dtype.name}, layout={self._layout!r})"
