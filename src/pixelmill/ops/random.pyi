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
    """Draw numbers between 0 and 1 from a beta distribution.

    Args:
        alpha: Above 0; the larger it is, the closer to 1 are the numbers.
        beta: Above 0; the larger it is, the closer to 0 are the numbers.
        shape: The shape of the result; a single number when left out.
        dtype: Type of the result, float or double; float when left out.
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
    """Draw from a list, or from the numbers 0 to a - 1.

    Args:
        p: How likely each choice is; equally, when left out.
        shape: The shape of the result; a single choice when left out.
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
    """Draw ones and zeros.

    Args:
        probability: How likely a one is.
        shape: The shape of the result; a single number when left out.
        dtype: Type of the result, int32 when left out.
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
    """Draw numbers from a normal distribution.

    Args:
        mean: The centre of the distribution.
        stddev: Its standard deviation.
        shape: The shape of the result; a single number when left out.
        dtype: Type of the result, float when left out.
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
    """Draw numbers that are equally likely everywhere in a range, or among given values.

    Args:
        range: The smallest number, and the number that is never reached; -1 and 1 when left out.
        values: Numbers to choose from, instead of a range.
        shape: The shape of the result; a single number when left out.
        dtype: Type of the result, float when left out.
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
