# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""fn.random: operators as functions."""

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
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]
_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]

def beta(
    like: _Data | _Constant | None = None,
    /,
    *,
    alpha: float | _Node = 1.0,
    beta: float | _Node = 1.0,
    shape: _Ints | _Node | None = None,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Draw numbers between 0 and 1 from a beta distribution.

    Args:
        like: A value whose shape the result takes.
        alpha: Above 0; the larger it is, the closer to 1 are the numbers.
        beta: Above 0; the larger it is, the closer to 0 are the numbers.
        shape: The shape of the result; a single number when left out.
        dtype: Type of the result, float or double; float when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def choice(
    a: _Data | _Constant,
    like: DataNode | list[DataNode] | _Constant | None = None,
    /,
    *,
    p: _Floats | _Node | None = None,
    shape: _Ints | _Node | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Draw from a list, or from the numbers 0 to a - 1.

    Args:
        a: A number, or the list; of an array with several axes, its first is chosen from.
        like: A value whose shape the result takes.
        p: How likely each choice is; equally, when left out.
        shape: The shape of the result; a single choice when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def coin_flip(
    like: _Data | _Constant | None = None,
    /,
    *,
    probability: float | _Node = 0.5,
    shape: _Ints | _Node | None = None,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Draw ones and zeros.

    Args:
        like: A value whose shape the result takes.
        probability: How likely a one is.
        shape: The shape of the result; a single number when left out.
        dtype: Type of the result, int32 when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def normal(
    like: _Data | _Constant | None = None,
    /,
    *,
    mean: float | _Node = 0.0,
    stddev: float | _Node = 1.0,
    shape: _Ints | _Node | None = None,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Draw numbers from a normal distribution.

    Args:
        like: A value whose shape the result takes.
        mean: The centre of the distribution.
        stddev: Its standard deviation.
        shape: The shape of the result; a single number when left out.
        dtype: Type of the result, float when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def uniform(
    like: _Data | _Constant | None = None,
    /,
    *,
    range: _Floats | _Node | None = None,
    values: _Floats | _Node | None = None,
    shape: _Ints | _Node | None = None,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Draw numbers that are equally likely everywhere in a range, or among given values.

    Args:
        like: A value whose shape the result takes.
        range: The smallest number, and the number that is never reached; -1 and 1 when left out.
        values: Numbers to choose from, instead of a range.
        shape: The shape of the result; a single number when left out.
        dtype: Type of the result, float when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
