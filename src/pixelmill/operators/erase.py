"""Operators that erase parts of images."""

from __future__ import annotations

from pixelmill.errors import ArgumentError, LayoutError
from pixelmill.operators.crop import image_layout
from pixelmill.operators.declare import Floats, Ints, PerSample, Tensor, operator
from pixelmill.steps.pixels import Erase, GridMask
from pixelmill.steps.shapes import Contiguous
from pixelmill.steps.sources import constant_numbers


@operator("erase")
def erase(
    data: Tensor,
    *,
    anchor: PerSample[Floats] | None = None,
    shape: PerSample[Floats] | None = None,
    axes: Ints | None = None,
    axis_names: str | None = None,
    fill_value: PerSample[Floats] = [0.0],  # noqa: B006 - never changed
    normalized: bool | None = None,
    normalized_anchor: bool | None = None,
    normalized_shape: bool | None = None,
    centered_anchor: bool = False,
) -> Tensor:
    """Erase rectangles.

    Args:
        data: Images or other arrays.
        anchor: Start of the rectangles: all coordinates of the first, then those of the next.
        shape: Size of the rectangles, in the same order.
        axes: The axes that `anchor` and `shape` refer to, by index.
        axis_names: The same axes by layout letter; all axes except the channels if neither is given.
        fill_value: Value of the erased pixels: one, or one per channel.
        normalized: Whether `anchor` and `shape` are fractions of the image size instead of pixels.
        normalized_anchor: The same for `anchor` alone.
        normalized_shape: The same for `shape` alone.
        centered_anchor: Whether `anchor` is the center of a rectangle instead of its start.
    """
    if normalized is not None and (normalized_anchor is not None or normalized_shape is not None):
        raise ArgumentError("erase: normalized cannot be combined with normalized_anchor or normalized_shape")
    if anchor is not None and shape is None:
        raise ArgumentError("erase: an anchor needs a shape")
    layout = data.layout or ("" if axes is not None else image_layout(data.layout))
    if axis_names is not None:
        if any(letter not in layout for letter in axis_names):
            raise LayoutError(f"erase: axis_names {axis_names!r} are not all part of the layout {layout!r}")
        axes = [layout.index(letter) for letter in axis_names]
    counts = [len(numbers) for value in (anchor, shape) if (numbers := constant_numbers(value)) is not None]
    each = len(axes) if axes is not None else len(layout.replace("C", ""))
    if any(count % each for count in counts) or len(set(counts)) > 1:
        raise ArgumentError(f"erase: anchor and shape must have the same length, {each} numbers per rectangle")
    return Erase(
        data=data,
        anchor=_packed(anchor),
        shape=_packed(shape),
        fill_value=fill_value,
        layout=layout,
        axes=tuple(axes or []),
        normalized_anchor=bool(normalized or normalized_anchor),
        normalized_shape=bool(normalized or normalized_shape),
        centered_anchor=centered_anchor,
    ).value(data.layout)


def _packed(value: Tensor | None) -> Tensor | None:
    return None if value is None else Contiguous(data=value).value()


@operator("grid_mask")
def grid_mask(
    data: Tensor,
    *,
    tile: PerSample[int] = 100,
    ratio: PerSample[float] = 0.5,
    angle: PerSample[float] = 0.0,
    shift_x: PerSample[float] = 0.0,
    shift_y: PerSample[float] = 0.0,
) -> Tensor:
    """Erase a regular grid of squares (GridMask).

    Args:
        data: Images.
        tile: Distance between the squares, in pixels.
        ratio: Side of a square, as a fraction of `tile`.
        angle: Rotation of the grid, in radians.
        shift_x: Horizontal offset after the rotation, in pixels.
        shift_y: Vertical offset after the rotation, in pixels.
    """
    side = constant_numbers(tile)
    if side is not None and side[0] < 1:
        raise ArgumentError(f"grid_mask: tile must be at least 1, got {side[0]:g}")
    return GridMask(image=data, tile=tile, ratio=ratio, angle=angle, shift_x=shift_x, shift_y=shift_y).value(
        data.layout
    )
