"""What a pipeline gives: batches of samples in main memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError, EngineError
from pixelmill.types import DALIDataType, numpy_dtype, to_data_type

Array = np.ndarray[Any, Any]


class TensorCPU:
    """One array: a sample, or a batch whose samples agree in shape. NumPy, torch and JAX read it without a copy."""

    def __init__(self, data: Any, layout: str = "", source_info: str = "") -> None:
        self._array: Array = np.asarray(data)
        self._layout = layout
        self._source_info = source_info

    def shape(self) -> list[int]:
        """Give the extents."""
        return list(self._array.shape)

    def layout(self) -> str:
        """Give the names of the axes."""
        return self._layout

    def source_info(self) -> str:
        """Say where the sample came from."""
        return self._source_info

    @property
    def dtype(self) -> DALIDataType:
        """The type of the elements."""
        return to_data_type(self._array.dtype)

    def ndim(self) -> int:
        """Give the number of axes."""
        return self._array.ndim

    def set_layout(self, layout: str) -> None:
        """Name the axes."""
        self._layout = layout

    def reinterpret(self, new_type: DALIDataType) -> None:
        """Read the same bytes as elements of another type of the same size."""
        self._array = _reinterpreted(self._array, new_type)

    def get_property(self, key: str) -> str:
        """Give `"layout"` or `"source_info"`."""
        return {"layout": self._layout, "source_info": self._source_info}[key]

    def copy_to_external(self, target: int) -> None:
        """Copy the elements to an address."""
        _copy(self._array, target)

    def as_cpu(self) -> TensorCPU:
        """Give the tensor in main memory, where it is."""
        return self

    def data_ptr(self) -> int:
        """Give the address of the first element."""
        return int(self._array.ctypes.data)

    def squeeze(self, dim: int | None = None) -> bool:
        """Remove axes of extent 1; tell whether there were any."""
        before = self._array.ndim
        self._array = np.squeeze(self._array, dim)
        return self._array.ndim != before

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if dtype is not None and dtype != self._array.dtype:
            return self._array.astype(dtype)
        return self._array.copy() if copy else self._array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()

    def __getitem__(self, index: Any) -> Any:
        return self._array[index]

    def __len__(self) -> int:
        return len(self._array)

    def __repr__(self) -> str:
        return f"TensorCPU({self._array.dtype} {tuple(self._array.shape)}, layout={self._layout!r})"


class TensorListCPU:
    """A batch. Its samples share type and number of axes, but not always shape.

    Args:
        data: One array with the batch in front, or a sequence of arrays.
        layout: Names of the axes of a sample.
    """

    def __init__(self, data: Any, layout: str = "") -> None:
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
        """Give one sample as a NumPy array."""
        return self._samples[index]

    def as_array(self) -> Array:
        """Give the batch as one array. Samples of different shapes are an error."""
        if self._block is None:
            if not self.is_dense_tensor():
                shapes = sorted({sample.shape for sample in self._samples})
                raise EngineError(f"the samples of this batch differ in shape, so there is no one array: {shapes[:4]}")
            self._block = np.stack(list(self._samples)) if len(self) else np.empty(0)
        return self._block

    def as_tensor(self) -> TensorCPU:
        """Give the batch as one tensor. Samples of different shapes are an error."""
        return TensorCPU(self.as_array(), "N" + self._layout if self._layout else "")

    def as_reshaped_tensor(self, shape: Sequence[int]) -> TensorCPU:
        """Give the elements of the batch in another shape."""
        return TensorCPU(self.as_array().reshape(shape))

    def as_cpu(self) -> TensorListCPU:
        """Give the batch in main memory, where it is."""
        return self

    def shape(self) -> list[tuple[int, ...]]:
        """Give the shape of every sample."""
        return [tuple(sample.shape) for sample in self._samples]

    def layout(self) -> str:
        """Give the names of the axes of a sample."""
        return self._layout

    def set_layout(self, layout: str) -> None:
        """Name the axes of a sample."""
        self._layout = layout

    def is_dense_tensor(self) -> bool:
        """Tell whether all samples agree in shape."""
        return self._block is not None or len({sample.shape for sample in self._samples}) <= 1

    @property
    def dtype(self) -> DALIDataType:
        """The type of the elements."""
        return to_data_type(self._samples[0].dtype if len(self) else np.uint8)

    def ndim(self) -> int:
        """Give the number of axes of a sample."""
        return self._samples[0].ndim if len(self) else 0

    def reinterpret(self, new_type: DALIDataType) -> None:
        """Read the same bytes as elements of another type of the same size."""
        other = TensorListCPU([_reinterpreted(sample, new_type) for sample in self._samples])
        if self._block is not None:
            other = TensorListCPU(_reinterpreted(self._block, new_type))
        self._block, self._samples = other._block, other._samples

    @staticmethod
    def broadcast(sample: TensorCPU, num_samples: int) -> TensorListCPU:
        """Make a batch that holds one sample several times, without a copy."""
        return TensorListCPU([np.asarray(sample)] * num_samples, sample.layout())

    def copy_to_external(self, target: int) -> None:
        """Copy the batch to an address."""
        _copy(self.as_array(), target)

    def data_ptr(self) -> int:
        """Give the address of the first element of the batch."""
        return int(self.as_array().ctypes.data)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return TensorCPU(self.as_array()).__array__(dtype, copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self.as_array().__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.as_array().__dlpack_device__()

    def __repr__(self) -> str:
        shapes = sorted(set(self.shape()))
        what = str(shapes[0]) if len(shapes) == 1 else f"{len(shapes)} shapes"
        return f"TensorListCPU({len(self)} x {self.dtype.name} {what}, layout={self._layout!r})"


def _reinterpreted(array: Array, new_type: DALIDataType) -> Array:
    wanted = numpy_dtype(new_type)
    if wanted.itemsize != array.dtype.itemsize:
        raise ArgumentError(f"reinterpret: {array.dtype} and {wanted} differ in size")
    return array.view(wanted)


def _copy(array: Array, target: int) -> None:
    block = np.ascontiguousarray(array)
    ctypes.memmove(target, block.ctypes.data, block.nbytes)


class TensorGPU:
    """One array on a GPU: a sample, or a batch whose samples agree in shape. DLPack and CUDA's interface are DALI's.

    Args:
        tensor: A `TensorGPU` of DALI.
        layout: Names of the axes.
    """

    def __init__(self, tensor: Any, layout: str = "") -> None:
        self._tensor = tensor
        self._layout = layout

    def shape(self) -> list[int]:
        """Give the extents."""
        return list(self._tensor.shape())

    def layout(self) -> str:
        """Give the names of the axes."""
        return self._layout

    @property
    def dtype(self) -> DALIDataType:
        """The type of the elements."""
        return DALIDataType(int(self._tensor.dtype))

    def ndim(self) -> int:
        """Give the number of axes."""
        return len(self.shape())

    def as_cpu(self) -> TensorCPU:
        """Copy the tensor to main memory."""
        return TensorCPU(np.asarray(self._tensor.as_cpu()), self._layout)

    def data_ptr(self) -> int:
        """Give the address of the first element on the GPU."""
        return int(self._tensor.data_ptr())

    def copy_to_external(self, target: int, **options: Any) -> None:
        """Copy the elements to an address on the GPU; options are those of DALI."""
        self._tensor.copy_to_external(target, **options)

    @property
    def __cuda_array_interface__(self) -> Any:
        return self._tensor.__cuda_array_interface__

    def __dlpack__(self, **options: Any) -> Any:
        return self._tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()

    def __len__(self) -> int:
        return self.shape()[0]


class TensorListGPU:
    """A batch on a GPU, as DALI made it.

    Args:
        batch: A `TensorListGPU` of DALI.
        layout: Names of the axes of a sample.
    """

    def __init__(self, batch: Any, layout: str = "") -> None:
        self._batch = batch
        self._layout = layout

    def __len__(self) -> int:
        return len(self._batch)

    def __getitem__(self, index: int) -> TensorGPU:
        return TensorGPU(self._batch[index], self._layout)

    def __iter__(self) -> Iterator[TensorGPU]:
        return (self[index] for index in range(len(self)))

    def at(self, index: int) -> TensorGPU:
        """Give one sample."""
        return self[index]

    def as_tensor(self) -> TensorGPU:
        """Give the batch as one tensor. Samples of different shapes are an error."""
        return TensorGPU(self._batch.as_tensor(), "N" + self._layout if self._layout else "")

    def as_cpu(self) -> TensorListCPU:
        """Copy the batch to main memory."""
        batch = self._batch.as_cpu()
        return TensorListCPU([np.asarray(batch[place]) for place in range(len(batch))], self._layout)

    def shape(self) -> list[tuple[int, ...]]:
        """Give the shape of every sample."""
        return [tuple(shape) for shape in self._batch.shape()]

    def layout(self) -> str:
        """Give the names of the axes of a sample."""
        return self._layout

    def is_dense_tensor(self) -> bool:
        """Tell whether all samples agree in shape."""
        return bool(self._batch.is_dense_tensor())

    @property
    def dtype(self) -> DALIDataType:
        """The type of the elements."""
        return DALIDataType(int(self._batch.dtype))

    def ndim(self) -> int:
        """Give the number of axes of a sample."""
        return len(self.shape()[0]) if len(self) else 0

    def __repr__(self) -> str:
        return f"TensorListGPU({len(self)} x {self.dtype.name}, layout={self._layout!r})"
