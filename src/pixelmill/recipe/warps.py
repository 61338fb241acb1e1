"""Geometric steps that turn, stretch and tilt an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode
from pixelmill.recipe.direct import Number
from pixelmill.recipe.distortions import Distortions


class Warps(Distortions):
    """The affine and projective steps of a scene."""

    if TYPE_CHECKING:

        def _moved(
            self,
            move: str,
            *numbers: Number | Sequence[float],
            fill: tuple[float | None, float | None] = (None, None),
        ) -> Self: ...

    def affine(
        self,
        *,
        angle: Number = 0.0,
        scale: Number = 1.0,
        scale_y: Number | None = None,
        shear_x: Number = 0.0,
        shear_y: Number = 0.0,
        shift_x: Number = 0.0,
        shift_y: Number = 0.0,
        fill_value: float | None = None,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Scale, shear and rotate about the center, in this order, and shift.

        Args:
            angle: Rotation in degrees, counterclockwise.
            scale: Factor above 0, of the height too unless `scale_y` is given.
            scale_y: Factor of the height.
            shear_x: Shear of x along y, in degrees.
            shear_y: Shear of y along x, in degrees.
            shift_x: Shift to the right, as a fraction of the width.
            shift_y: Shift down, as a fraction of the height.
            fill_value: The value of pixels from outside of the image.
            mask_fill_value: The same for masks.
        """
        numbers = (angle, scale, scale if scale_y is None else scale_y, shear_x, shear_y, shift_x, shift_y)
        return self._moved("affine", *numbers, fill=(fill_value, mask_fill_value))

    def shift_scale_rotate(
        self,
        *,
        shift_x: Number = 0.0,
        shift_y: Number = 0.0,
        scale: Number = 1.0,
        angle: Number = 0.0,
        fill_value: float | None = None,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Scale and rotate about the center, and shift.

        Args:
            shift_x: Shift to the right, as a fraction of the width.
            shift_y: Shift down, as a fraction of the height.
            scale: Factor above 0.
            angle: Rotation in degrees, counterclockwise.
            fill_value: The value of pixels from outside of the image.
            mask_fill_value: The same for masks.
        """
        return self.affine(
            angle=angle,
            scale=scale,
            shift_x=shift_x,
            shift_y=shift_y,
            fill_value=fill_value,
            mask_fill_value=mask_fill_value,
        )

    def shear(
        self, *, x: Number = 0.0, y: Number = 0.0, fill_value: float | None = None, mask_fill_value: float | None = None
    ) -> Self:
        """Shear about the center.

        Args:
            x: Shear of x along y, in degrees.
            y: Shear of y along x, in degrees.
            fill_value: The value of pixels from outside of the image.
            mask_fill_value: The same for masks.
        """
        return self.affine(shear_x=x, shear_y=y, fill_value=fill_value, mask_fill_value=mask_fill_value)

    def zoom(
        self,
        *,
        factor: Number,
        y: Number = 0.5,
        x: Number = 0.5,
        fill_value: float | None = None,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Zoom in (a factor above 1) or out, at the size of the image.

        Args:
            factor: How much larger things become.
            y: The height of the point that stays in place, from 0 to 1.
            x: Its place along the width.
            fill_value: The value of pixels from outside of the image.
            mask_fill_value: The same for masks.
        """
        return self._moved("zoom", factor, y, x, fill=(fill_value, mask_fill_value))

    def perspective(
        self,
        *,
        corners: DataNode | Sequence[float] | None = None,
        strength: Number = 0.1,
        seed: int | None = None,
        fill_value: float | None = None,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Look at the image from aside: four places of it become the corners of the result.

        Args:
            corners: How far each place lies from its corner, x and y as fractions of the width and height, below 0.5:
                top left, top right, bottom right, bottom left. Drawn by default.
            strength: The standard deviation of drawn distances, which lie inside of the image, up to 0.4.
            seed: Seed of the draws.
            fill_value: The value of pixels from outside of the image.
            mask_fill_value: The same for masks.
        """
        places = self._corners(strength, seed) if corners is None else corners
        if not isinstance(places, DataNode) and len(places) != 8:
            raise ArgumentError(f"perspective: corners must be 8 numbers, got {len(places)}")
        return self._moved("perspective", places, fill=(fill_value, mask_fill_value))
