# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""ops.reductions: operators as classes."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.graph.nodes import DataNode
from pixelmill.ops import OperatorClass
from pixelmill.types import ArrayConstant, DALIDataType, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]

class Max(OperatorClass):
    """Give the largest element.

    Args:
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        axes: _Ints | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Mean(OperatorClass):
    """Give the mean of elements.

    Args:
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        dtype: Type of the result, float when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class MeanSquare(OperatorClass):
    """Give the mean of the squares of elements.

    Args:
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        dtype: Type of the result, float when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Min(OperatorClass):
    """Give the smallest element.

    Args:
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        axes: _Ints | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class RMS(OperatorClass):
    """Give the square root of the mean of the squares of elements.

    Args:
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        dtype: Type of the result, float when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class StdDev(OperatorClass):
    """Give the standard deviation of elements from a mean.

    Args:
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        ddof: What is taken from the number of elements before the sum of squares is divided by it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        mean: DataNode | list[DataNode] | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Sum(OperatorClass):
    """Add up elements.

    Args:
        axes: The axes to add up along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        dtype: Type of the result; uint64 or int64 for integers and that of `data` for floats, when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Variance(OperatorClass):
    """Give the mean square of the distance of elements from a mean.

    Args:
        axes: The axes to go along, by number; all when left out, none when empty.
        axis_names: The same by name.
        keep_dims: Keep these axes, with extent 1.
        ddof: What is taken from the number of elements before the sum of squares is divided by it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        mean: DataNode | list[DataNode] | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...
