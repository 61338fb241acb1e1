"""Parts of pictures that are blotted out."""

from __future__ import annotations

from pixelmill.errors import ArgumentError
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
    """Blot out rectangles.

    Args:
        data: Pictures or other arrays.
        anchor: Where the rectangles begin; all numbers of one come before those of the next.
        shape: How large they are.
        axes: The axes that `anchor` and `shape` mean, by number.
        axis_names: The same by name; all axes but the channels when neither is given.
        fill_value: What is put there, one value or one for each channel.
        normalized: Whether `anchor` and `shape` are shares.
        normalized_anchor: Whether `anchor` is.
        normalized_shape: Whether `shape` is.
        centered_anchor: Whether `anchor` is the centre of a rectangle.
    """
    if normalized is not None and (normalized_anchor is not None or normalized_shape is not None):
        raise ArgumentError("erase: normalized already says what normalized_anchor and normalized_shape would say")
    if anchor is not None and shape is None:
        raise ArgumentError("erase: an anchor needs a shape")
    layout = data.layout or ("" if axes is not None else image_layout(data.layout))
    if axis_names is not None:
        if any(letter not in layout for letter in axis_names):
            raise ArgumentError(f"erase: axis_names {axis_names!r} are not all among the axes {layout!r}")
        axes = [layout.index(letter) for letter in axis_names]
    counts = [len(numbers) for value in (anchor, shape) if (numbers := constant_numbers(value)) is not None]
    each = len(axes) if axes is not None else len(layout.replace("C", ""))
    if any(count % each for count in counts) or len(set(counts)) > 1:
        raise ArgumentError(f"erase: anchor and shape must hold equally many numbers, {each} for each rectangle")
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
    """Black out a grid of squares.

    Args:
        data: Pictures.
        tile: The distance of the squares.
        ratio: How much of that distance a square takes.
        angle: By how much the grid is turned, in radians.
        shift_x: How far it is moved to the right afterwards.
        shift_y: How far it is moved down.
    """
    side = constant_numbers(tile)
    if side is not None and side[0] < 1:
        raise ArgumentError(f"grid_mask: tile must be at least 1, got {side[0]:g}")
    return GridMask(image=data, tile=tile, ratio=ratio, angle=angle, shift_x=shift_x, shift_y=shift_y).value(
        data.layout
    )
