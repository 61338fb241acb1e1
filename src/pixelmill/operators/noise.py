"""Random noise."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import CLOSE, DaliCall
from pixelmill.operators.declare import PerSample, Range, Tensor, operator
from pixelmill.steps.effects import SensorNoise
from pixelmill.steps.elements import Full
from pixelmill.steps.random import GaussianNoise, SaltAndPepper, ShotNoise
from pixelmill.steps.shapes import Shape
from pixelmill.steps.sources import constant
from pixelmill.steps.step import Expr, operator_key

NO_AXIS, LAST_AXIS = -1, -2  # values of the core for "no channel axis" and "channels last"


def _drawn_noise(noisy: Expr) -> dict[str, Expr]:
    """Return the noise alone: that of an image of zeros."""
    made = noisy.step
    assert isinstance(made, GaussianNoise)
    shape = Shape(data=made.data).value()
    zeros = Full(fill_value=constant(0, np.float32), shape=shape, name="full", dtype=None, like=False, names=None)
    return {"noise": GaussianNoise(data=zeros.value(), mean=made.mean, stddev=made.stddev, key=made.key).value()}


@operator("noise.gaussian", draws=True, dali=DaliCall("cast_like", drawn=_drawn_noise, adds=True), tolerance=CLOSE)
def gaussian(data: Tensor, *, mean: PerSample[float] = 0.0, stddev: PerSample[float] = 1.0) -> Tensor:
    """Add Gaussian noise. Integers are rounded and clamped to the range of their type.

    Args:
        data: Images or other arrays of an integer type or float.
        mean: Mean of the distribution.
        stddev: Standard deviation of the distribution, in units of the elements.
    """
    return GaussianNoise(data=data, mean=mean, stddev=stddev, key=operator_key()).value(data.layout)


@operator("noise.salt_and_pepper", draws=True, dali=None)
def salt_and_pepper(
    data: Tensor,
    *,
    prob: PerSample[Annotated[float, Range(0, 1)]] = 0.05,
    salt_vs_pepper: PerSample[Annotated[float, Range(0, 1)]] = 0.5,
    salt_val: PerSample[float] | None = None,
    pepper_val: PerSample[float] | None = None,
    per_channel: bool = False,
) -> Tensor:
    """Replace random pixels with a bright (salt) or a dark (pepper) value.

    Args:
        data: Images or other arrays of an integer type or float.
        prob: Probability that a pixel is replaced.
        salt_vs_pepper: Probability that a replaced pixel becomes bright.
        salt_val: The bright value; if None, the largest value of an integer type, or 1 for floats.
        pepper_val: The dark value; if None, the smallest value of an integer type, or -1 for floats.
        per_channel: Whether to draw for every channel separately instead of for whole pixels. Without a layout, the
            last axis is the channels.
    """
    if not per_channel and data.layout and "C" not in data.layout:
        raise ArgumentError(f"noise.salt_and_pepper: the layout {data.layout} has no channels; use per_channel=True")
    channel = LAST_AXIS if not data.layout else data.layout.index("C") if "C" in data.layout else NO_AXIS
    return SaltAndPepper(
        data=data,
        prob=prob,
        salt_vs_pepper=salt_vs_pepper,
        salt_val=salt_val,
        pepper_val=pepper_val,
        channel=NO_AXIS if per_channel else channel,
        key=operator_key(),
    ).value(data.layout)


@operator("noise.shot", draws=True, dali=None)
def shot(data: Tensor, *, factor: PerSample[float] = 20.0) -> Tensor:
    """Add shot noise, as of a sensor that counts photons: `poisson(x / factor) * factor`.

    Args:
        data: Images or other arrays of an integer type or float.
        factor: The value of one photon; larger factors mean more noise, 0 means none.
    """
    return ShotNoise(data=data, factor=factor, key=operator_key()).value(data.layout)


@operator("noise.speckle", draws=True, dali=None)
def speckle(data: Tensor, *, stddev: PerSample[Annotated[float, Range(0)]] = 0.1) -> Tensor:
    """Add noise in proportion to the brightness of each pixel: `x * (1 + noise)`, with one number for all channels.

    Args:
        data: Images of type uint8, HWC, with up to three channels.
        stddev: Standard deviation of the noise.
    """
    return SensorNoise(image=data, luma=stddev, name="noise.speckle", key=operator_key()).value(data.layout)


@operator("noise.iso", draws=True, dali=None)
def iso(
    data: Tensor,
    *,
    luma: PerSample[Annotated[float, Range(0)]] = 0.1,
    color: PerSample[Annotated[float, Range(0)]] = 0.03,
) -> Tensor:
    """Add the noise of a sensor at high sensitivity: of the brightness, and of the color of each pixel.

    Args:
        data: Images of type uint8, HWC, with up to three channels.
        luma: Standard deviation of the brightness, as a fraction of it.
        color: Standard deviation of each channel, as a fraction of the whole range.
    """
    return SensorNoise(image=data, luma=luma, color=color, name="noise.iso", key=operator_key()).value(data.layout)
