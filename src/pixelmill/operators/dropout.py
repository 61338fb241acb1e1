"""Random rectangles that are filled, so that models do not rely on single parts of an image."""

from __future__ import annotations

from typing import Annotated

from pixelmill.operators.color import check_layout
from pixelmill.operators.crop import image_layout
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.steps.effects import Holes
from pixelmill.steps.sources import constant
from pixelmill.steps.step import operator_key


@operator("coarse_dropout", draws=True, dali=None)
def coarse_dropout(
    data: Tensor,
    *,
    holes: PerSample[Annotated[Ints, Range(0, 10000)]] = [1, 8],  # noqa: B006 - never changed
    height: PerSample[Annotated[Floats, Range(0, 1)]] = [0.05, 0.15],  # noqa: B006
    width: PerSample[Annotated[Floats, Range(0, 1)]] = [0.05, 0.15],  # noqa: B006
    fill_value: PerSample[Floats] = [0.0],  # noqa: B006
) -> Tensor:
    """Fill random rectangles; one of them is known as cutout.

    Args:
        data: Images.
        holes: How many: the smallest and the largest number, or one number.
        height: Height of each as a fraction of that of the image: the smallest and the largest, or one number.
        width: The same for the width.
        fill_value: Value of the filled pixels: one, or one per channel.
    """
    check_layout("coarse_dropout", data.layout, ("HWC",))
    made = Holes(
        image=data,
        count=holes,
        first=height,
        second=width,
        fill_value=fill_value,
        by_area=False,
        name="coarse_dropout",
        key=operator_key(),
    )
    return made.value(image_layout(data.layout))


@operator("random_erasing", draws=True, dali=None)
def random_erasing(
    data: Tensor,
    *,
    area: PerSample[Annotated[Floats, Range(0, 1)]] = [0.02, 0.33],  # noqa: B006 - never changed
    aspect_ratio: PerSample[Annotated[Floats, Range(0, low_open=True)]] = [0.3, 3.3],  # noqa: B006
    fill_value: PerSample[Floats] = [0.0],  # noqa: B006
) -> Tensor:
    """Fill one random rectangle (https://arxiv.org/abs/1708.04896).

    Args:
        data: Images.
        area: Its area as a fraction of the image: the smallest and the largest, or one number.
        aspect_ratio: Its width as a multiple of its height: the smallest and the largest, or one number.
        fill_value: Value of the filled pixels: one, or one per channel.
    """
    check_layout("random_erasing", data.layout, ("HWC",))
    made = Holes(
        image=data,
        count=constant([1], "int64"),
        first=area,
        second=aspect_ratio,
        fill_value=fill_value,
        by_area=True,
        name="random_erasing",
        key=operator_key(),
    )
    return made.value(image_layout(data.layout))
