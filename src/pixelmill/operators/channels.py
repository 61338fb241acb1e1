"""Colors as one matrix: jitter in any order, gray, sepia, and channels that are shuffled, dropped or shifted."""

from __future__ import annotations

from typing import Annotated

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import image_layout
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.steps.effects import ColorJitter, Mix, MixChannels
from pixelmill.steps.sources import constant_numbers


def _mixed(data: Tensor, mix: Mix, numbers: Tensor) -> Tensor:
    return MixChannels(image=data, numbers=numbers, mix=mix).value(image_layout(data.layout))


def _three(name: str, argument: str, given: Tensor) -> Tensor:
    numbers = constant_numbers(given)
    if numbers is not None and len(numbers) != 3:
        raise ArgumentError(f"{name}: {argument} must be three numbers, got {len(numbers)}")
    return given


@operator("color_jitter", dali=None)
def color_jitter(
    data: Tensor,
    *,
    brightness: PerSample[float] = 1.0,
    contrast: PerSample[float] = 1.0,
    saturation: PerSample[float] = 1.0,
    hue: PerSample[float] = 0.0,
    order: PerSample[Ints] = [0, 1, 2, 3],  # noqa: B006 - never changed
) -> Tensor:
    """Change brightness, contrast, saturation and hue in any order, in one pass without rounding in between.

    Args:
        data: RGB images.
        brightness: Factor that every value is multiplied by.
        contrast: Factor for the distance from the center, which is 128, or 0.5 for floats.
        saturation: Factor for the distance from gray; 0 produces grayscale.
        hue: Rotation about the gray axis, in degrees.
        order: The order of the changes: 0 is brightness, 1 contrast, 2 saturation, 3 hue.
    """
    numbers = constant_numbers(order)
    if numbers is not None and sorted(numbers) != [0, 1, 2, 3]:
        raise ArgumentError(f"color_jitter: order must hold 0, 1, 2 and 3, got {numbers}")
    made = ColorJitter(
        image=data, brightness=brightness, contrast=contrast, saturation=saturation, hue=hue, order=order
    )
    return made.value(image_layout(data.layout))


@operator("to_gray", dali=None)
def to_gray(data: Tensor, *, amount: PerSample[Annotated[float, Range(0, 1)]] = 1.0) -> Tensor:
    """Make images gray; all three channels stay.

    Args:
        data: RGB images.
        amount: How much: 0 changes nothing, 1 leaves no color.
    """
    return _mixed(data, "to_gray", amount)


@operator("sepia", dali=None)
def sepia(data: Tensor, *, amount: PerSample[Annotated[float, Range(0, 1)]] = 1.0) -> Tensor:
    """Tint images like old photographs.

    Args:
        data: RGB images.
        amount: How much: 0 changes nothing.
    """
    return _mixed(data, "sepia", amount)


@operator("channel_shuffle", dali=None)
def channel_shuffle(data: Tensor, *, order: PerSample[Ints] = [2, 1, 0]) -> Tensor:  # noqa: B006 - never changed
    """Take the channels in another order.

    Args:
        data: Images of three channels.
        order: For each channel of the result, the number of the one it is taken from.
    """
    return _mixed(data, "channel_shuffle", _three("channel_shuffle", "order", order))


@operator("channel_dropout", dali=None)
def channel_dropout(data: Tensor, *, drop: PerSample[Ints] = [0, 0, 1]) -> Tensor:  # noqa: B006 - never changed
    """Set channels to 0.

    Args:
        data: Images of three channels.
        drop: Whether each channel is dropped.
    """
    return _mixed(data, "channel_dropout", _three("channel_dropout", "drop", drop))


@operator("rgb_shift", dali=None)
def rgb_shift(data: Tensor, *, shift: PerSample[Floats] = [0.0, 0.0, 0.0]) -> Tensor:  # noqa: B006 - never changed
    """Add a number to each channel.

    Args:
        data: RGB images.
        shift: What is added to red, green and blue.
    """
    return _mixed(data, "rgb_shift", _three("rgb_shift", "shift", shift))


@operator("pca_lighting", dali=None)
def pca_lighting(data: Tensor, *, alpha: PerSample[Floats] = [0.0, 0.0, 0.0]) -> Tensor:  # noqa: B006 - never changed
    """Change the light along the principal axes of the colors of natural images (AlexNet).

    Args:
        data: RGB images with levels from 0 to 255.
        alpha: How far along each axis; usually drawn with a standard deviation of 0.1.
    """
    return _mixed(data, "pca_lighting", _three("pca_lighting", "alpha", alpha))
