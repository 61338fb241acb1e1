"""The vocabulary of pipelines: element types, colour orders, filters, constants, limits."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError


class DALIDataType(enum.IntEnum):
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
    NO_TYPE = -1


class DALIImageType(enum.IntEnum):
    """The colours of a decoded picture, and their order."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4


class DALIInterpType(enum.IntEnum):
    """How pixels between pixels are found."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5


class PipelineAPIType(enum.Enum):
    """Which of the ways to run a pipeline is in use."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


UINT8, UINT16, UINT32, UINT64 = DALIDataType.UINT8, DALIDataType.UINT16, DALIDataType.UINT32, DALIDataType.UINT64
INT8, INT16, INT32, INT64 = DALIDataType.INT8, DALIDataType.INT16, DALIDataType.INT32, DALIDataType.INT64
FLOAT16, FLOAT, FLOAT64 = DALIDataType.FLOAT16, DALIDataType.FLOAT, DALIDataType.FLOAT64
BOOL, STRING, NO_TYPE = DALIDataType.BOOL, DALIDataType.STRING, DALIDataType.NO_TYPE
RGB, BGR, GRAY = DALIImageType.RGB, DALIImageType.BGR, DALIImageType.GRAY
YCbCr, ANY_DATA = DALIImageType.YCbCr, DALIImageType.ANY_DATA
INTERP_NN, INTERP_LINEAR = DALIInterpType.INTERP_NN, DALIInterpType.INTERP_LINEAR
INTERP_CUBIC, INTERP_LANCZOS3 = DALIInterpType.INTERP_CUBIC, DALIInterpType.INTERP_LANCZOS3
INTERP_TRIANGULAR, INTERP_GAUSSIAN = DALIInterpType.INTERP_TRIANGULAR, DALIInterpType.INTERP_GAUSSIAN

_NUMPY: dict[DALIDataType, np.dtype[Any]] = {
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


def to_numpy_type(dtype: DALIDataType) -> np.dtype[Any]:
    """Give the NumPy type for `dtype`."""
    try:
        return _NUMPY[DALIDataType(dtype)]
    except (KeyError, ValueError):
        raise ArgumentError(f"{dtype!r} is not the type of an array") from None


def to_data_type(dtype: object) -> DALIDataType:
    """Give the data type for a NumPy type (or anything NumPy takes for one)."""
    if isinstance(dtype, DALIDataType):
        return dtype
    try:
        return _FROM_NUMPY[np.dtype(dtype).newbyteorder("=")]  # type: ignore[call-overload]
    except (KeyError, TypeError):
        allowed = ", ".join(str(known) for known in _FROM_NUMPY)
        raise ArgumentError(f"elements of type {dtype} are not supported; use one of {allowed}") from None


@dataclass(frozen=True)
class SampleInfo:
    """What a source that makes single samples is told.

    Attributes:
        idx_in_epoch: Number of the sample since the epoch began.
        idx_in_batch: Its place in the batch.
        iteration: Number of the batch since the epoch began.
        epoch_idx: Number of the epoch.
    """

    idx_in_epoch: int
    idx_in_batch: int
    iteration: int
    epoch_idx: int = 0


@dataclass(frozen=True)
class BatchInfo:
    """What a source that makes whole batches is told when it asks with `batch_info=True`."""

    iteration: int
    epoch_idx: int = 0


@dataclass(frozen=True)
class Limits:
    """What one input may cost before it is refused. A refused image never moves the memory.

    Attributes:
        pixels: Width times height of a picture.
        side: Its longer side.
        scans: Scans of a progressive JPEG.
        scan_pixels: Scans times pixels.
        encoded_bytes: Bytes of one compressed image.
    """

    pixels: int = 1 << 27
    side: int = 65535
    scans: int = 256
    scan_pixels: int = 1 << 32
    encoded_bytes: int = 256 << 20

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ArgumentError(f"Limits: {name} must be at least 1, got {value}")


class ScalarConstant:
    """A number of a given type, for arithmetic with nodes."""

    def __init__(self, value: bool | int | float, dtype: DALIDataType | None = None) -> None:
        if dtype is None:
            dtype = BOOL if isinstance(value, bool) else INT32 if isinstance(value, int) else FLOAT
        self.dtype = dtype
        self.value = value
        self.shape: list[int] = []

    def __repr__(self) -> str:
        return f"ScalarConstant({self.value!r}, {self.dtype.name})"


class ArrayConstant:
    """An array of a given type that is the same for every sample."""

    def __init__(self, value: np.ndarray[Any, Any], layout: str = "") -> None:
        self.value = value
        self.layout = layout

    def __repr__(self) -> str:
        return f"ArrayConstant({self.value.dtype} {self.value.shape}, layout={self.layout!r})"


def Constant(  # noqa: N802 - DALI's name
    value: object,
    dtype: DALIDataType | None = None,
    shape: tuple[int, ...] | list[int] | None = None,
    layout: str | None = None,
    device: str | None = None,
) -> ScalarConstant | ArrayConstant:
    """Make a constant that can stand wherever a node can.

    Args:
        value: A number, a list, or an array.
        dtype: The type of its elements; by default int32 for integers, float32 for floats, and an array's own type.
        shape: A shape to bring the value into; a single number is repeated.
        layout: The names of the axes, such as `"HWC"`.
        device: Accepted for compatibility.
    """
    if isinstance(value, (bool, int, float)) and shape is None and layout is None:
        return ScalarConstant(value, dtype)
    array = value if isinstance(value, np.ndarray) else default_array(value)
    if dtype is not None:
        array = array.astype(to_numpy_type(dtype))
    if shape is not None:
        array = np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)
    return ArrayConstant(np.array(array, order="C"), layout or "")


def default_array(value: object) -> np.ndarray[Any, Any]:
    """Give numbers the types they have in a graph: int32, float32, bool; arrays keep theirs."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    array = np.asarray(value)
    if array.dtype == np.float64:
        return array.astype(np.float32)
    return array.astype(np.int32) if array.dtype == np.int64 else array
