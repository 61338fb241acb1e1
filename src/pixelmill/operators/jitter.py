"""Pixels moved by random amounts."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated

import numpy as np
import numpy.typing as npt

from pixelmill.operators.color import check_layout
from pixelmill.operators.crop import image_layout
from pixelmill.operators.declare import PerSample, Range, Tensor, operator
from pixelmill.operators.effects import check_interpolation
from pixelmill.steps.batch import callback
from pixelmill.steps.random import Uniform
from pixelmill.steps.shapes import Join, Shape, SpatialShape
from pixelmill.steps.sources import constant
from pixelmill.steps.step import operator_key
from pixelmill.types import INTERP_NN, DALIInterpType

Image = npt.NDArray[np.generic]


@operator("jitter", draws=True, dali=None)
def jitter(
    data: Tensor,
    *,
    nDegree: Annotated[int, Range(1)] = 2,  # noqa: N803 - DALI's name
    mask: PerSample[int] = 1,
    interp_type: DALIInterpType = INTERP_NN,
    fill_value: float = 0.0,
) -> Tensor:
    """Move every pixel by a random number of pixels, along x and along y.

    Args:
        data: Images.
        nDegree: How many offsets there are to choose from, along each axis; they lie between `-nDegree / 2` and
            `nDegree / 2`.
        mask: Whether to apply the effect; 0 leaves the image unchanged.
        interp_type: INTERP_NN or INTERP_LINEAR. Offsets are whole numbers, so both give the same result.
        fill_value: The value of pixels that would come from outside the image.
    """
    check_layout("jitter", data.layout, ("HWC",))
    check_interpolation("jitter", interp_type)
    layout = image_layout(data.layout)
    size = SpatialShape(shape=Shape(data=data).value(), layout=layout).value()
    shape = Join(parts=(size, constant([2], np.int64))).value()
    bounds = constant([0.0, float(nDegree)])
    offsets = Uniform(range=bounds, shape=shape, key=operator_key(), wide=False).value()
    (moved,) = callback(_mover(nDegree // 2, fill_value), data, offsets, mask, layouts=(layout,), batch=False)
    return moved


# Cached, because operators with equal arguments share their steps only if they share their function.
@lru_cache
def _mover(half: int, fill_value: float) -> Callable[..., Image]:
    def move(image: Image, draws: npt.NDArray[np.float32], mask: npt.NDArray[np.int64]) -> Image:
        if not mask.item():
            return image
        height, width = image.shape[:2]
        columns, rows = np.moveaxis(np.floor(draws).astype(np.int64) - half, -1, 0)
        rows, columns = rows + np.arange(height)[:, None], columns + np.arange(width)
        outside = (rows < 0) | (rows >= height) | (columns < 0) | (columns >= width)
        moved = image[np.where(outside, 0, rows), np.where(outside, 0, columns)]
        moved[outside] = fill_value
        return moved

    return move
