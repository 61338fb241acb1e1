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
    """Give the largest element.

    Args:
        data: Any array of numbers.
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
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
    """Give the mean of elements.

    Args:
        data: Any array of numbers.
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        dtype: Type of the result, float when left out.
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
    """Give the mean of the squares of elements.

    Args:
        data: Any array of numbers.
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        dtype: Type of the result, float when left out.
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
    """Give the smallest element.

    Args:
        data: Any array of numbers.
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
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
    """Give the square root of the mean of the squares of elements.

    Args:
        data: Any array of numbers.
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        dtype: Type of the result, float when left out.
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
    """Give the standard deviation of elements from a mean.

    Args:
        data: Any array of numbers.
        mean: The mean; one number, or one for each number of the result.
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        ddof: What is taken from the number of elements before the sum of squares is divided by it.
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
    """Add up elements.

    Args:
        data: Any array of numbers.
        axes: The axes to add up along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        dtype: Type of the result; uint64 or int64 for integers and that of `data` for floats, when left out.
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
    """Give the mean square of the distance of elements from a mean.

    Args:
        data: Any array of numbers.
        mean: The mean; one number, or one for each number of the result.
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        ddof: What is taken from the number of elements before the sum of squares is divided by it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
