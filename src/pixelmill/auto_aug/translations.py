"""Translations in pixels or relative to the image size, as the schemes use them."""

from __future__ import annotations

from pixelmill.auto_aug import augmentations as a
from pixelmill.auto_aug.operation import Augmentation
from pixelmill.errors import ArgumentError

# One number for both directions, or (vertical, horizontal).
Extent = float | tuple[float, float]


def translations(
    use_shape: bool, largest: tuple[float, float], most_pixels: Extent | None, most_relative: Extent | None
) -> list[Augmentation]:
    """Return the augmentations for horizontal and vertical translation.

    Args:
        use_shape: Whether translations are relative to the image size.
        largest: The default of the largest translation: in pixels, and as a fraction of the image size.
        most_pixels: Largest translation in pixels.
        most_relative: Largest translation as a fraction of the image size.
    """
    if not isinstance(use_shape, bool):
        raise ArgumentError(f"use_shape must be True or False, got {use_shape!r}")
    if use_shape and most_pixels is not None:
        raise ArgumentError("max_translate_abs cannot be combined with shape; use max_translate_rel")
    if not use_shape and most_relative is not None:
        raise ArgumentError("max_translate_rel needs the shape of the images; pass it, or use max_translate_abs")
    most = most_relative if use_shape else most_pixels
    if most is None:
        most = largest[use_shape]
    vertical, horizontal = most if isinstance(most, (list, tuple)) else (most, most)
    along_x, along_y = (a.translate_x, a.translate_y) if use_shape else (a.translate_x_no_shape, a.translate_y_no_shape)
    return [along_x.augmentation((0, horizontal), True), along_y.augmentation((0, vertical), True)]
