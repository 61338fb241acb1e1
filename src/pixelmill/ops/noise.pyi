# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""ops.noise: operators as classes."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.graph.nodes import DataNode
from pixelmill.ops import OperatorClass
from pixelmill.types import ArrayConstant, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant

class Gaussian(OperatorClass):
    """Add noise with a normal distribution; whole numbers are rounded and cut to their range.

    Args:
        mean: The centre of the distribution.
        stddev: Its standard deviation, in units of the elements.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        mean: float = 0.0,
        stddev: float = 1.0,
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
        mean: float | _Node | None = None,
        stddev: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class SaltAndPepper(OperatorClass):
    """Replace some pixels by a bright or a dark value.

    Args:
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

    def __init__(
        self,
        *,
        prob: float = 0.05,
        salt_vs_pepper: float = 0.5,
        salt_val: float | None = None,
        pepper_val: float | None = None,
        per_channel: bool = False,
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
        prob: float | _Node | None = None,
        salt_vs_pepper: float | _Node | None = None,
        salt_val: float | _Node | None = None,
        pepper_val: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Shot(OperatorClass):
    """Make of every value what a sensor would see if light came in grains: `poisson(x / factor) * factor`.

    Args:
        factor: What one grain adds to a value; the larger it is, the more noise there is. 0 gives none.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        factor: float = 20.0,
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
        factor: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...
