"""Shifts in pixels or as shares of the picture, as the schemes ask for them."""

from __future__ import annotations

from pixelmill.auto_aug import augmentations as a
from pixelmill.auto_aug.operation import Augmentation
from pixelmill.errors import ArgumentError

# One number for both directions, or (vertical, horizontal).
Extent = float | tuple[float, float]


def translations(
    use_shape: bool, largest: tuple[float, float], most_pixels: Extent | None, most_share: Extent | None
) -> list[Augmentation]:
    """Give the shifts along x and along y.

    Args:
        use_shape: Whether the schemes know the extents of pictures, and so shift by shares of them.
        largest: The largest shift when none is given: in pixels, and as a share.
        most_pixels: The largest shift in pixels.
        most_share: The largest shift as a share.
    """
    if not isinstance(use_shape, bool):
        raise ArgumentError(f"use_shape must be True or False, got {use_shape!r}")
    if use_shape and most_pixels is not None:
        raise ArgumentError("max_translate_abs is for pictures whose shape is not given; use max_translate_rel")
    if not use_shape and most_share is not None:
        raise ArgumentError("max_translate_rel needs the shape of the pictures; give it, or use max_translate_abs")
    most = most_share if use_shape else most_pixels
    if most is None:
        most = largest[use_shape]
    vertical, horizontal = most if isinstance(most, (list, tuple)) else (most, most)
    along_x, along_y = (a.translate_x, a.translate_y) if use_shape else (a.translate_x_no_shape, a.translate_y_no_shape)
    return [along_x.augmentation((0, horizontal), True), along_y.augmentation((0, vertical), True)]
