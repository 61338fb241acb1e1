"""Images whose pixels come from other places of their source: perspective warps, maps, extremes of neighborhoods."""

from __future__ import annotations

from pixelmill.steps.pixels import Border
from pixelmill.steps.step import Input, Step, declared, family
from pixelmill.types import DALIInterpType


@declared
class WarpPerspective(Step):
    """Warp an image by a 3 x 3 matrix, which maps places of the result to places of the source if `inverse`.

    `centered` tells whether (0, 0) is the center of the first pixel, or its corner.
    """

    image: Input
    matrix: Input
    size: Input | None = None
    layout: str
    interp_type: DALIInterpType
    border: Border
    fill_value: tuple[float, ...]
    inverse: bool
    centered: bool


@declared
class Remap(Step):
    """Take each pixel of the result from the place that two maps name."""

    image: Input
    map_x: Input
    map_y: Input
    layout: str
    interp_type: DALIInterpType
    centered: bool


@family
class ExtremeStep(Step):
    """A step that looks at a rectangle around each pixel."""

    image: Input
    mask_size: Input
    anchor: Input
    layout: str
    iterations: int
    border: Border


@declared
class Dilate(ExtremeStep):
    """Replace pixels by the largest of their neighborhood."""


@declared
class Erode(ExtremeStep):
    """Replace pixels by the smallest of their neighborhood."""


@declared
class RearrangeFrames(Step):
    """Take the frames of a sequence in another order."""

    data: Input
    new_order: Input
