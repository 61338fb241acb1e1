# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""ops.random: operators as classes."""

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
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]
_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]

class Beta(OperatorClass):
    """Draw random numbers between 0 and 1 from a beta distribution.

    Args:
        alpha: First shape parameter, above 0; larger values move the distribution toward 1.
        beta: Second shape parameter, above 0; larger values move the distribution toward 0.
        shape: The shape of the result; a scalar if None.
        dtype: Type of the result: FLOAT (the default) or FLOAT64.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        shape: _Ints | None = None,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        like: _Data | _Constant | None = None,
        /,
        *,
        alpha: float | _Node | None = None,
        beta: float | _Node | None = None,
        shape: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Choice(OperatorClass):
    """Draw random elements of a list, or integers from 0 to a - 1.

    Args:
        p: The probability of each element; uniform if None.
        shape: The shape of the result; a single element if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        p: _Floats | None = None,
        shape: _Ints | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        a: _Data | _Constant,
        like: DataNode | list[DataNode] | _Constant | None = None,
        /,
        *,
        p: _Floats | _Node | None = None,
        shape: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class CoinFlip(OperatorClass):
    """Draw 1 with a given probability, 0 otherwise.

    Args:
        probability: Probability of a 1.
        shape: The shape of the result; a scalar if None.
        dtype: Type of the result; int32 if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        probability: float = 0.5,
        shape: _Ints | None = None,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        like: _Data | _Constant | None = None,
        /,
        *,
        probability: float | _Node | None = None,
        shape: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Normal(OperatorClass):
    """Draw random numbers from a normal distribution.

    Args:
        mean: Mean of the distribution.
        stddev: Standard deviation of the distribution.
        shape: The shape of the result; a scalar if None.
        dtype: Type of the result; float if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        mean: float = 0.0,
        stddev: float = 1.0,
        shape: _Ints | None = None,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        like: _Data | _Constant | None = None,
        /,
        *,
        mean: float | _Node | None = None,
        stddev: float | _Node | None = None,
        shape: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Uniform(OperatorClass):
    """Draw random numbers uniformly from a range or from a list of values.

    Args:
        range: Lower bound (inclusive) and upper bound (exclusive); -1 and 1 if None.
        values: Numbers to choose from, as an alternative to `range`.
        shape: The shape of the result; a scalar if None.
        dtype: Type of the result; float if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        range: _Floats | None = None,
        values: _Floats | None = None,
        shape: _Ints | None = None,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        like: _Data | _Constant | None = None,
        /,
        *,
        range: _Floats | _Node | None = None,
        values: _Floats | _Node | None = None,
        shape: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...
