# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""fn.noise: operators as functions."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.graph.nodes import DataNode
from pixelmill.types import ArrayConstant, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant

def gaussian(
    data: _Data | _Constant,
    /,
    *,
    mean: float | _Node = 0.0,
    stddev: float | _Node = 1.0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Add noise with a normal distribution; whole numbers are rounded and cut to their range.

    Args:
        data: Pictures or other arrays of whole numbers or of type float.
        mean: The centre of the distribution.
        stddev: Its standard deviation, in units of the elements.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def salt_and_pepper(
    data: _Data | _Constant,
    /,
    *,
    prob: float | _Node = 0.05,
    salt_vs_pepper: float | _Node = 0.5,
    salt_val: float | _Node | None = None,
    pepper_val: float | _Node | None = None,
    per_channel: bool = False,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Replace some pixels by a bright or a dark value.

    Args:
        data: Pictures or other arrays of whole numbers or of type float.
        prob: How likely it is that a pixel is replaced.
        salt_vs_pepper: How likely it is that such a pixel becomes bright.
        salt_val: The bright value; the largest of whole numbers, or 1, when left out.
        pepper_val: The dark value; the smallest of whole numbers, or -1, when left out.
        per_channel: Draw for every channel by itself, not for a pixel with all its channels. Without a layout, the last
            axis has the channels.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def shot(
    data: _Data | _Constant,
    /,
    *,
    factor: float | _Node = 20.0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Make of every value what a sensor would see if light came in grains: `poisson(x / factor) * factor`.

    Args:
        data: Pictures or other arrays of whole numbers or of type float.
        factor: What one grain adds to a value; the larger it is, the more noise there is. 0 gives none.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
