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
    """Add Gaussian noise. Integers are rounded and clamped to the range of their type.

    Args:
        data: Images or other arrays of an integer type or float.
        mean: Mean of the distribution.
        stddev: Standard deviation of the distribution, in units of the elements.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def iso(
    data: _Data | _Constant,
    /,
    *,
    luma: float | _Node = 0.1,
    color: float | _Node = 0.03,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Add the noise of a sensor at high sensitivity: of the brightness, and of the color of each pixel.

    Args:
        data: Images of type uint8, HWC, with up to three channels.
        luma: Standard deviation of the brightness, as a fraction of it.
        color: Standard deviation of each channel, as a fraction of the whole range.
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
    """Replace random pixels with a bright (salt) or a dark (pepper) value.

    Args:
        data: Images or other arrays of an integer type or float.
        prob: Probability that a pixel is replaced.
        salt_vs_pepper: Probability that a replaced pixel becomes bright.
        salt_val: The bright value; if None, the largest value of an integer type, or 1 for floats.
        pepper_val: The dark value; if None, the smallest value of an integer type, or -1 for floats.
        per_channel: Whether to draw for every channel separately instead of for whole pixels. Without a layout, the
            last axis is the channels.
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
    """Add shot noise, as of a sensor that counts photons: `poisson(x / factor) * factor`.

    Args:
        data: Images or other arrays of an integer type or float.
        factor: The value of one photon; larger factors mean more noise, 0 means none.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def speckle(
    data: _Data | _Constant,
    /,
    *,
    stddev: float | _Node = 0.1,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Add noise in proportion to the brightness of each pixel: `x * (1 + noise)`, with one number for all channels.

    Args:
        data: Images of type uint8, HWC, with up to three channels.
        stddev: Standard deviation of the noise.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
