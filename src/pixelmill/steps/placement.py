"""Geometry as one composition: moves add up to a placement, and one step makes the image that it describes.

A placement is a vector of float64: the 3 x 3 matrix from places of the source to places of the canvas, the height and
width of the canvas and of the source, and the polygon of the canvas that holds pixels of the source.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pixelmill.steps.step import Input, Step, declared

MoveName = Literal[
    "resize",
    "rescale",
    "letterbox",
    "pad",
    "pad_to",
    "crop",
    "crop_part",
    "window",
    "flip",
    "rotate90",
    "transpose",
    "rotate",
    "affine",
    "zoom",
    "expand",
    "perspective",
]


@declared
class StartPlacement(Step):
    """Return the placement of an image that nothing has moved."""

    shape: Input


@declared
class MovePlacement(Step):
    """Add a move to a placement unless `active` is 0; also return the move: its matrix and the size of its canvas."""

    output_counts: ClassVar[range] = range(2, 3)

    placement: Input
    active: Input | None = None
    numbers: tuple[Input, ...]
    move: MoveName


@declared
class PlacementShape(Step):
    """Return the height and width of the canvas of a placement."""

    placement: Input


@declared
class PlacementGeometry(Step):
    """Return the part of the source that a placement needs, and its scale, as the geometry of a decode."""

    placement: Input
    field: Input | None = None


@declared
class Place(Step):
    """Make the image that a placement describes, with one interpolation.

    `field` displaces places of the canvas, by its nodes. If `image` is only a part of its source, or scaled, `geometry`
    is what was asked of the decode and `decoded` what it answered.
    """

    image: Input
    placement: Input
    field: Input | None = None
    geometry: Input | None = None
    decoded: Input | None = None
    linear: bool
    fill_value: float
    smooth: bool
