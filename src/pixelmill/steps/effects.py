"""Effects on images of bytes: tables of levels, mixed channels, kernels of filters, weather."""

from __future__ import annotations

from typing import Literal

from pixelmill.steps.random import RandomStep
from pixelmill.steps.step import Input, Step, declared

Curve = Literal["gamma", "posterize", "solarize", "invert", "tone_curve"]
KernelShape = Literal["motion", "disk", "sharpen", "emboss"]
Mix = Literal["to_gray", "sepia", "channel_shuffle", "channel_dropout", "rgb_shift", "pca_lighting"]
Effect = Literal["rain", "snow", "fog", "sun_flare", "shadow", "spatter"]


@declared
class Levels(Step):
    """Replace each level of an image of bytes by that of a table, which a curve and its numbers define."""

    image: Input
    numbers: tuple[Input, ...]
    curve: Curve


@declared
class ColorJitter(Step):
    """Change brightness, contrast, saturation and hue in the order that `order` lists, as one matrix."""

    image: Input
    brightness: Input
    contrast: Input
    saturation: Input
    hue: Input
    order: Input


@declared
class MixChannels(Step):
    """Multiply the colors of pixels by a 3 x 3 matrix and add three numbers, which a mix and its numbers define."""

    image: Input
    numbers: Input
    mix: Mix


@declared
class Holes(RandomStep):
    """Fill random rectangles. Their count, and height and width or area and aspect ratio, are ranges."""

    image: Input
    count: Input
    first: Input
    second: Input
    fill_value: Input
    by_area: bool
    name: str


@declared
class SensorNoise(RandomStep):
    """Add noise of a sensor: to the brightness of pixels in proportion to it, and to each color where one is given."""

    image: Input
    luma: Input
    name: str
    color: Input | None = None


@declared
class BoxBlur(Step):
    """Replace pixels by the mean of a square around them."""

    image: Input
    size: Input


@declared
class FilterKernel(Step):
    """Return the weights of a filter."""

    numbers: tuple[Input, ...]
    shape: KernelShape


@declared
class ZoomBlur(Step):
    """Average an image with copies of it that are zoomed in by up to a factor."""

    image: Input
    factor: Input
    samples: int


@declared
class ScatterPixels(RandomStep):
    """Take each pixel from a random neighbor."""

    image: Input
    distance: Input


@declared
class FillSuperpixels(RandomStep):
    """Fill random segments of similar pixels with their mean color."""

    image: Input
    segments: Input
    probability: Input


@declared
class Weather(RandomStep):
    """Draw an effect into an image of bytes."""

    image: Input
    numbers: tuple[Input, ...]
    effect: Effect
