"""Noise."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import CLOSE, DaliCall
from pixelmill.operators.declare import PerSample, Range, Tensor, operator
from pixelmill.steps.elements import Full
from pixelmill.steps.random import GaussianNoise, SaltAndPepper, ShotNoise
from pixelmill.steps.shapes import Shape
from pixelmill.steps.sources import constant
from pixelmill.steps.step import Expr, operator_key

NO_AXIS, LAST_AXIS = -1, -2  # where the channels are, for the core


def _drawn_noise(noisy: Expr) -> dict[str, Expr]:
    """Give the noise alone: that of a picture of zeros."""
    made = noisy.step
    assert isinstance(made, GaussianNoise)
    shape = Shape(data=made.data).value()
    zeros = Full(fill_value=constant(0, np.float32), shape=shape, name="full", dtype=None, like=False, names=None)
    return {"noise": GaussianNoise(data=zeros.value(), mean=made.mean, stddev=made.stddev, key=made.key).value()}


@operator("noise.gaussian", draws=True, dali=DaliCall("cast_like", drawn=_drawn_noise, adds=True), tolerance=CLOSE)
def gaussian(data: Tensor, *, mean: PerSample[float] = 0.0, stddev: PerSample[float] = 1.0) -> Tensor:
    """Add noise with a normal distribution; whole numbers are rounded and cut to their range.

    Args:
        data: Pictures or other arrays of whole numbers or of type float.
        mean: The centre of the distribution.
        stddev: Its standard deviation, in units of the elements.
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
    """Replace some pixels by a bright or a dark value.

    Args:
        data: Pictures or other arrays of whole numbers or of type float.
        prob: How likely it is that a pixel is replaced.
        salt_vs_pepper: How likely it is that such a pixel becomes bright.
        salt_val: The bright value; the largest of whole numbers, or 1, when left out.
        pepper_val: The dark value; the smallest of whole numbers, or -1, when left out.
        per_channel: Draw for every channel by itself, not for a pixel with all its channels. Without a layout, the
            last axis has the channels.
    """
    if not per_channel and data.layout and "C" not in data.layout:
        raise ArgumentError(
            f"noise.salt_and_pepper: there are no channels among the axes {data.layout}; per_channel=True needs none"
        )
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
    """Make of every value what a sensor would see if light came in grains: `poisson(x / factor) * factor`.

    Args:
        data: Pictures or other arrays of whole numbers or of type float.
        factor: What one grain adds to a value; the larger it is, the more noise there is. 0 gives none.
    """
    return ShotNoise(data=data, factor=factor, key=operator_key()).value(data.layout)
