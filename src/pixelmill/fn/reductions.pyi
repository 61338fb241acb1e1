# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""fn.reductions: operators as functions."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.graph.nodes import DataNode
from pixelmill.types import ArrayConstant, DALIDataType, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]

def max(
    data: _Data | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Compute the maximum of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def mean(
    data: _Data | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Compute the mean of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        dtype: Type of the result; float if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def mean_square(
    data: _Data | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Compute the mean square of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        dtype: Type of the result; float if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def min(
    data: _Data | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Compute the minimum of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def rms(
    data: _Data | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Compute the root mean square of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        dtype: Type of the result; float if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def std_dev(
    data: _Data | _Constant,
    mean: DataNode | list[DataNode] | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Compute the standard deviation of elements around a given mean.

    Args:
        data: Numeric arrays of any shape.
        mean: The mean: one number, or one per element of the result.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        ddof: Delta degrees of freedom: the sum of squares is divided by N - ddof, where N is the number of elements.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def sum(
    data: _Data | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Compute the sum of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        dtype: Type of the result; if None, uint64 or int64 for integers and that of `data` for floats.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def variance(
    data: _Data | _Constant,
    mean: DataNode | list[DataNode] | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Compute the variance of elements around a given mean.

    Args:
        data: Numeric arrays of any shape.
        mean: The mean: one number, or one per element of the result.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        ddof: Delta degrees of freedom: the sum of squares is divided by N - ddof, where N is the number of elements.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
