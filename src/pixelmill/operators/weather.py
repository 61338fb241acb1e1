"""Weather, light and dirt, drawn into images."""

from __future__ import annotations

from typing import Annotated

from pixelmill.operators.color import check_layout
from pixelmill.operators.crop import image_layout
from pixelmill.operators.declare import PerSample, Range, Tensor, operator
from pixelmill.steps.effects import Effect, Weather
from pixelmill.steps.step import operator_key


def _drawn(data: Tensor, effect: Effect, *numbers: Tensor) -> Tensor:
    check_layout(effect, data.layout, ("HWC",))
    return Weather(image=data, numbers=numbers, effect=effect, key=operator_key()).value(image_layout(data.layout))


@operator("rain", draws=True, dali=None)
def rain(
    data: Tensor,
    *,
    amount: PerSample[Annotated[float, Range(0, 1)]] = 0.3,
    slant: PerSample[float] = 10.0,
    length: PerSample[Annotated[float, Range(0, 1)]] = 0.06,
) -> Tensor:
    """Draw streaks of rain, and darken the image a little.

    Args:
        data: Images of type uint8.
        amount: How many streaks, from 0 to 1.
        slant: Their angle to the vertical, in degrees.
        length: Their height as a fraction of that of the image.
    """
    return _drawn(data, "rain", amount, slant, length)


@operator("snow", draws=True, dali=None)
def snow(
    data: Tensor, *, amount: PerSample[Annotated[float, Range(0, 1)]] = 0.3, brightness: PerSample[float] = 2.0
) -> Tensor:
    """Cover dark parts with snow: what is darker than a threshold becomes brighter.

    Args:
        data: Images of type uint8.
        amount: How much is covered, from 0 to 1.
        brightness: How much brighter it becomes.
    """
    return _drawn(data, "snow", amount, brightness)


@operator("fog", draws=True, dali=None)
def fog(data: Tensor, *, density: PerSample[Annotated[float, Range(0, 1)]] = 0.5) -> Tensor:
    """Blend images with fog of varying density.

    Args:
        data: Images of type uint8.
        density: The share of the fog where it is densest.
    """
    return _drawn(data, "fog", density)


@operator("sun_flare", draws=True, dali=None)
def sun_flare(
    data: Tensor,
    *,
    x: PerSample[float] = 0.5,
    y: PerSample[float] = 0.2,
    radius: PerSample[Annotated[float, Range(0, 2)]] = 0.3,
) -> Tensor:
    """Draw the sun, and its reflections in the lens.

    Args:
        data: Images of type uint8.
        x: Place of the sun, as a fraction of the width.
        y: Place of the sun, as a fraction of the height.
        radius: Radius of its light, as a fraction of the longer side.
    """
    return _drawn(data, "sun_flare", x, y, radius)


@operator("shadow", draws=True, dali=None)
def shadow(data: Tensor, *, intensity: PerSample[Annotated[float, Range(0, 1)]] = 0.5) -> Tensor:
    """Darken a random polygon.

    Args:
        data: Images of type uint8.
        intensity: How dark: 1 is black.
    """
    return _drawn(data, "shadow", intensity)


@operator("spatter", draws=True, dali=None)
def spatter(
    data: Tensor,
    *,
    amount: PerSample[Annotated[float, Range(0, 1)]] = 0.4,
    lightness: PerSample[Annotated[float, Range(0, 1)]] = 0.2,
) -> Tensor:
    """Spatter the lens with drops.

    Args:
        data: Images of type uint8.
        amount: How much of the image is covered, from 0 to 1.
        lightness: Of the drops: 0 is mud, 1 is water in the sun.
    """
    return _drawn(data, "spatter", amount, lightness)
