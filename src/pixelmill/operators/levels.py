"""Levels of images of bytes, replaced by a table of 256."""

from __future__ import annotations

from typing import Annotated

from pixelmill.operators.crop import image_layout
from pixelmill.operators.declare import PerSample, Range, Tensor, operator
from pixelmill.steps.effects import Curve, Levels


def _levels(data: Tensor, curve: Curve, *numbers: Tensor) -> Tensor:
    return Levels(image=data, numbers=numbers, curve=curve).value(image_layout(data.layout))


@operator("gamma", dali=None)
def gamma(data: Tensor, *, gamma: PerSample[Annotated[float, Range(0)]] = 1.0) -> Tensor:
    """Apply a gamma curve: `255 * (x / 255) ** gamma`.

    Args:
        data: Images of type uint8.
        gamma: The exponent; below 1 is brighter, above 1 is darker.
    """
    return _levels(data, "gamma", gamma)


@operator("posterize", dali=None)
def posterize(data: Tensor, *, bits: PerSample[Annotated[int, Range(0, 8)]] = 4) -> Tensor:
    """Reduce the number of levels: keep the highest bits of each value.

    Args:
        data: Images of type uint8.
        bits: How many bits are kept, from 0 to 8.
    """
    return _levels(data, "posterize", bits)


@operator("solarize", dali=None)
def solarize(data: Tensor, *, threshold: PerSample[float] = 128.0) -> Tensor:
    """Invert the levels from a threshold on.

    Args:
        data: Images of type uint8.
        threshold: Levels from here on are inverted.
    """
    return _levels(data, "solarize", threshold)


@operator("invert", dali=None)
def invert(data: Tensor) -> Tensor:
    """Invert all levels: `255 - x`.

    Args:
        data: Images of type uint8.
    """
    return _levels(data, "invert")


@operator("tone_curve", dali=None)
def tone_curve(data: Tensor, *, low: PerSample[float] = 0.25, high: PerSample[float] = 0.75) -> Tensor:
    """Bend the levels along a cubic Bezier curve from black to white.

    Args:
        data: Images of type uint8.
        low: Height of the first control point; below 1/3 makes shadows darker.
        high: Height of the second control point; above 2/3 makes highlights brighter.
    """
    return _levels(data, "tone_curve", low, high)
