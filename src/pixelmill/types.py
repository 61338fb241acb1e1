"""The types of pipelines: element types, color spaces, interpolation filters, constants and limits."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np

from pixelmill.errors import ArgumentError, ArgumentTypeError
from pixelmill.node_operators import NodeOperators


class _Named(enum.IntEnum):
    """An integer that prints as its name."""

    __str__ = enum.Enum.__str__


class DALIDataType(_Named):
    """The type of the elements of a sample."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11
    STRING = 12
    FEATURE = 17
    IMAGE_TYPE = 20
    DATA_TYPE = 21
    INTERP_TYPE = 22
    TENSOR_LAYOUT = 23
    PYTHON_OBJECT = 24
    NO_TYPE = -1


class DALIImageType(_Named):
    """The color space of a decoded image, and the order of its channels."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4


class DALIInterpType(_Named):
    """The interpolation of pixels."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5


class PipelineAPIType(enum.Enum):
    """How a pipeline is being run. Kept for compatibility with DALI."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


@dataclass(frozen=True)
class CUDAStream:
    """The address of a CUDA stream. Accepted for compatibility."""

    ptr: int = 0


UINT8, UINT16, UINT32, UINT64 = DALIDataType.UINT8, DALIDataType.UINT16, DALIDataType.UINT32, DALIDataType.UINT64
INT8, INT16, INT32, INT64 = DALIDataType.INT8, DALIDataType.INT16, DALIDataType.INT32, DALIDataType.INT64
FLOAT16, FLOAT, FLOAT64 = DALIDataType.FLOAT16, DALIDataType.FLOAT, DALIDataType.FLOAT64
BOOL, STRING, NO_TYPE = DALIDataType.BOOL, DALIDataType.STRING, DALIDataType.NO_TYPE
FEATURE, IMAGE_TYPE, DATA_TYPE = DALIDataType.FEATURE, DALIDataType.IMAGE_TYPE, DALIDataType.DATA_TYPE
INTERP_TYPE, TENSOR_LAYOUT, PYTHON_OBJECT = map(DALIDataType, (22, 23, 24))
RGB, BGR, GRAY = DALIImageType.RGB, DALIImageType.BGR, DALIImageType.GRAY
YCbCr, ANY_DATA = DALIImageType.YCbCr, DALIImageType.ANY_DATA
INTERP_NN, INTERP_LINEAR = DALIInterpType.INTERP_NN, DALIInterpType.INTERP_LINEAR
INTERP_CUBIC, INTERP_LANCZOS3 = DALIInterpType.INTERP_CUBIC, DALIInterpType.INTERP_LANCZOS3
INTERP_TRIANGULAR, INTERP_GAUSSIAN = DALIInterpType.INTERP_TRIANGULAR, DALIInterpType.INTERP_GAUSSIAN

# The one alias for arrays of any shape and dtype. NumPy cannot name a dtype that is known only at run time.
Array = np.ndarray[Any, np.dtype[Any]]
DType = np.dtype[Any]
TensorLayout = str  # one letter for each axis

_NUMPY: dict[DALIDataType, DType] = {
    UINT8: np.dtype(np.uint8),
    UINT16: np.dtype(np.uint16),
    UINT32: np.dtype(np.uint32),
    UINT64: np.dtype(np.uint64),
    INT8: np.dtype(np.int8),
    INT16: np.dtype(np.int16),
    INT32: np.dtype(np.int32),
    INT64: np.dtype(np.int64),
    FLOAT16: np.dtype(np.float16),
    FLOAT: np.dtype(np.float32),
    FLOAT64: np.dtype(np.float64),
    BOOL: np.dtype(np.bool_),
}
_FROM_NUMPY = {dtype: code for code, dtype in _NUMPY.items()}


def numpy_dtype(dtype: DALIDataType) -> DType:
    """Return the NumPy dtype for `dtype`."""
    try:
        return _NUMPY[DALIDataType(dtype)]
    except (KeyError, ValueError):
        raise ArgumentError(f"there is no NumPy dtype for {dtype!r}") from None


def to_numpy_type(dali_type: DALIDataType) -> type[np.generic]:
    """Return the NumPy scalar type for `dali_type`, such as `numpy.float32`."""
    scalar: type[np.generic] = numpy_dtype(dali_type).type
    return scalar


# Names that NumPy, PyTorch and Python use for types, as DALI reads them: `float` is its own 32-bit type.
_OTHER_NAMES = {
    "bool_": BOOL,
    "boolean": BOOL,
    "sbyte": INT8,
    "byte": UINT8,
    "ubyte": UINT8,
    "short": INT16,
    "ushort": UINT16,
    "long": INT64,
    "ulong": UINT64,
    "half": FLOAT16,
    "float": FLOAT,
    "double": FLOAT64,
}
_BY_NAME = {dtype.name: code for code, dtype in _NUMPY.items()} | _OTHER_NAMES


def to_dali_type(framework_type: object) -> DALIDataType:
    """Return the data type for a type of NumPy, PyTorch or Python, or for its name."""
    name = framework_type.__qualname__ if isinstance(framework_type, type) else str(framework_type)
    found = _BY_NAME.get(name.removeprefix("torch."))
    if found is None:
        raise TypeError(f"'{framework_type}' could not be converted into any known DALIDataType.")
    return found


def to_data_type(dtype: object) -> DALIDataType:
    """Return the data type for a NumPy dtype, or anything that NumPy accepts as one."""
    if isinstance(dtype, DALIDataType):
        return dtype
    try:
        return _FROM_NUMPY[np.dtype(dtype).newbyteorder("=")]  # type: ignore[call-overload]
    except (KeyError, TypeError):
        allowed = ", ".join(str(known) for known in _FROM_NUMPY)
        raise ArgumentError(f"elements of type {dtype} are not supported; use one of {allowed}") from None


@dataclass(frozen=True)
class SampleInfo:
    """The argument of a source that returns single samples.

    Attributes:
        idx_in_epoch: The number of the sample in the epoch.
        idx_in_batch: Its place in the batch.
        iteration: The number of the batch in the epoch.
        epoch_idx: The number of the epoch.
    """

    idx_in_epoch: int
    idx_in_batch: int
    iteration: int
    epoch_idx: int = 0


@dataclass(frozen=True)
class BatchInfo:
    """The argument of a source that returns batches, with `batch_info=True`."""

    iteration: int
    epoch_idx: int = 0


@dataclass(frozen=True)
class Limits:
    """The largest inputs to accept. They are checked before memory is allocated.

    Attributes:
        pixels: Width times height of an image.
        side: The longer side of an image.
        scans: Scans of a progressive JPEG.
        scan_pixels: Scans times pixels of a progressive JPEG.
        encoded_bytes: Size of an encoded image.
        record_bytes: Size of a record of a container.
    """

    pixels: int = 1 << 27
    side: int = 65535
    scans: int = 256
    scan_pixels: int = 1 << 32
    encoded_bytes: int = 256 << 20
    record_bytes: int = 1 << 30

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ArgumentError(f"Limits: {name} must be at least 1, got {value}")


# DALI's older names for layouts. They name the batch axis; the layout of a sample does not contain it.
NHWC, NCHW, NFHWC, NFCHW, SAME = "HWC", "CHW", "FHWC", "FCHW", ""

CPU_ONLY_DEVICE_ID = -99999


class ScalarConstant:
    """A number of a given type, for arithmetic with nodes.

    Args:
        value: A Python or NumPy number, or a zero-dimensional array.
        dtype: Its type. By default that of a NumPy number; bool, int32 or float32 for Python numbers.
    """

    def __init__(self, value: object, dtype: DALIDataType | None = None) -> None:
        number = value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value
        if not isinstance(number, (bool, int, float)):
            raise ArgumentTypeError(f"Constant: expected a number, got {value!r}")
        self.dtype = to_data_type(default_array(value).dtype) if dtype is None else DALIDataType(dtype)
        kind = numpy_dtype(self.dtype).kind
        self.value: bool | int | float = {"b": bool, "f": float}.get(kind, int)(number)
        self.shape: list[int] = []
        if kind in "iu":
            _check_range(np.asarray(self.value), numpy_dtype(self.dtype))

    def array(self) -> Array:
        """Return the number as a zero-dimensional array."""
        return np.asarray(self.value, numpy_dtype(self.dtype))

    def bool(self) -> ScalarConstant:
        """Return the number as a boolean."""
        return ScalarConstant(self.value, BOOL)

    def int8(self) -> ScalarConstant:
        """Return the number as an int8."""
        return ScalarConstant(self.value, INT8)

    def int16(self) -> ScalarConstant:
        """Return the number as an int16."""
        return ScalarConstant(self.value, INT16)

    def int32(self) -> ScalarConstant:
        """Return the number as an int32."""
        return ScalarConstant(self.value, INT32)

    def int64(self) -> ScalarConstant:
        """Return the number as an int64."""
        return ScalarConstant(self.value, INT64)

    def uint8(self) -> ScalarConstant:
        """Return the number as a uint8."""
        return ScalarConstant(self.value, UINT8)

    def uint16(self) -> ScalarConstant:
        """Return the number as a uint16."""
        return ScalarConstant(self.value, UINT16)

    def uint32(self) -> ScalarConstant:
        """Return the number as a uint32."""
        return ScalarConstant(self.value, UINT32)

    def uint64(self) -> ScalarConstant:
        """Return the number as a uint64."""
        return ScalarConstant(self.value, UINT64)

    def float16(self) -> ScalarConstant:
        """Return the number as a float16."""
        return ScalarConstant(self.value, FLOAT16)

    def float32(self) -> ScalarConstant:
        """Return the number as a float32."""
        return ScalarConstant(self.value, FLOAT)

    def float64(self) -> ScalarConstant:
        """Return the number as a float64."""
        return ScalarConstant(self.value, FLOAT64)

    def __repr__(self) -> str:
        return f"ScalarConstant({self.value!r}, {self.dtype.name})"


class ArrayConstant(NodeOperators):
    """An array of a given type that is the same for every sample. Arithmetic with it returns nodes.

    Attributes:
        add_operator: Adds an operator to a graph, by name. Set by `pixelmill.graph.calls`, which imports this module.
    """

    add_operator: ClassVar[Callable[..., object]]

    def __init__(self, value: Array, layout: str = "", device: str = "cpu") -> None:
        self.value = value
        self.layout = layout
        self.device = device

    def gpu(self) -> ArrayConstant:
        """Request the value on the GPU; on the native engine it stays in main memory."""
        return ArrayConstant(self.value, self.layout, "gpu")

    def cpu(self) -> ArrayConstant:
        """Request the value in main memory."""
        return ArrayConstant(self.value, self.layout, "cpu")

    def _operate(self, operation: str, *operands: object, **arguments: object) -> Self:
        # Nodes have the operators of NodeOperators like constants do, but types cannot import the class of nodes.
        return cast("Self", ArrayConstant.add_operator(operation, *operands, **arguments))

    def __repr__(self) -> str:
        return f"ArrayConstant({self.value.dtype} {self.value.shape}, layout={self.layout!r})"


def Constant(  # noqa: N802 - DALI's name
    value: object,
    dtype: DALIDataType | None = None,
    shape: tuple[int, ...] | list[int] | None = None,
    layout: str | None = None,
    device: str | None = None,
) -> ScalarConstant | ArrayConstant:
    """Return a constant that can be used wherever a node can.

    Args:
        value: A number, a list, or an array.
        dtype: The type of its elements; by default int32 for integers, float32 for floats, and an array's own type.
        shape: The shape of the constant; a single number is repeated.
        layout: The names of the axes, such as `"HWC"`.
        device: The device to request the value on. With a device, a number also has the operators of a node.
    """
    if np.ndim(value) == 0 and shape is None and layout is None and device is None:  # type: ignore[arg-type]
        return ScalarConstant(value, dtype)
    array = np.asarray(value) if dtype is not None else default_array(value)
    if dtype is not None:
        array = saturated(array, numpy_dtype(dtype))
    if shape is not None:
        if array.size not in (1, int(np.prod(shape))):
            raise ArgumentError(f"Constant: {array.size} elements do not fill the shape {shape}")
        array = np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)
    if layout and len(layout) != array.ndim:
        raise ArgumentError(
            f"Constant: the layout {layout!r} names {len(layout)} axes, but the value has {array.ndim}: {array.shape}"
        )
    return ArrayConstant(np.array(array, order="C"), layout or "", device or "cpu")


def default_array(value: object) -> Array:
    """Return a value as an array of the type it has in a graph: int32, float32, bool.

    Arrays of 64-bit elements become 32-bit ones; NumPy numbers and zero-dimensional arrays keep their type.
    """
    array = np.asarray(value)
    if hasattr(value, "dtype") and array.ndim == 0:
        return array
    narrower = {"f8": np.float32, "i8": np.int32, "u8": np.uint32}.get(array.dtype.str[1:])
    if narrower is None:
        return array
    if array.dtype.kind in "iu":
        _check_range(array, np.dtype(narrower))
    return array.astype(narrower)


def _check_range(array: Array, dtype: DType) -> None:
    limits = np.iinfo(dtype)
    if array.size and not limits.min <= array.min() <= array.max() <= limits.max:
        wrong = array.min() if array.min() < limits.min else array.max()
        raise ArgumentError(f"the constant {wrong} does not fit into {dtype}; use types.Constant(value, dtype)")


def saturated(array: Array, dtype: DType) -> Array:
    """Convert an array as `cast` does: round half away from zero and clip to the range of the type."""
    if dtype.kind == "b":
        return np.abs(array) >= 0.5
    if dtype.kind == "f":
        if dtype.itemsize == 2 and array.dtype.kind in "iu":
            # NumPy rounds ties to even. The smallest step away from zero makes ties round away from zero, as cast does.
            array = np.nextafter(array.astype(np.float32), np.copysign(np.float32(np.inf), array), dtype=np.float32)
        with np.errstate(over="ignore"):
            return array.astype(dtype)
    limits = np.iinfo(dtype)
    if array.dtype.kind == "f":
        array = np.trunc(array + np.copysign(0.5, array))
    return np.clip(array, limits.min, limits.max).astype(dtype)
