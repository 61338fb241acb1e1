"""Windows of images and arrays, from the arguments of crops and slices."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

from pixelmill.errors import ArgumentError, LayoutError
from pixelmill.operators.declare import Tensor
from pixelmill.steps.shapes import CropWindow, Element, SliceWindow
from pixelmill.steps.sources import constant_array

Rounding = Literal["round", "truncate"]

SPATIAL = "DHW"


def spatial_axes(layout: str) -> list[int]:
    """Return the indices of the spatial axes of an image."""
    return [axis for axis, letter in enumerate(layout) if letter in SPATIAL]


@dataclass(frozen=True, eq=False)
class CropSize:
    """The arguments that specify the size of a crop."""

    crop: Tensor | None = None
    crop_h: Tensor | None = None
    crop_w: Tensor | None = None
    crop_d: Tensor | None = None

    def is_given(self) -> bool:
        """Whether any of them is given."""
        return any(size is not None for size in (self.crop, self.crop_h, self.crop_w, self.crop_d))


@dataclass(frozen=True, eq=False)
class SliceBounds:
    """The arguments that specify the bounds of a slice."""

    start: Tensor | None = None
    end: Tensor | None = None
    shape: Tensor | None = None
    rel_start: Tensor | None = None
    rel_end: Tensor | None = None
    rel_shape: Tensor | None = None

    def given(self) -> list[str]:
        """Return the names of the arguments that are given."""
        return [entry.name for entry in fields(self) if getattr(self, entry.name) is not None]


def crop_window(
    name: str,
    shape: Tensor,
    layout: str,
    sizes: CropSize,
    position: tuple[Tensor, Tensor, Tensor],
    rounding: Rounding,
) -> tuple[tuple[Tensor, Tensor], list[int]]:
    """Add the window of `crop`; return its start and size, and the axes they refer to."""
    depth: Tensor | None
    height: Tensor | None
    width: Tensor | None
    if sizes.crop is not None:
        if replace(sizes, crop=None).is_given():
            raise ArgumentError(f"{name}: crop cannot be combined with crop_h, crop_w or crop_d")
        depth, height, width = _separate(sizes.crop, len(spatial_axes(layout)))
    else:
        depth, height, width = sizes.crop_d, sizes.crop_h, sizes.crop_w
        if (height is None) != (width is None):
            raise ArgumentError(f"{name}: crop_h and crop_w must be given together")
    x, y, z = position
    # With a depth, the frames of a sequence are cropped like the slices of a volume.
    cut_axes = SPATIAL if depth is None or "D" in layout else SPATIAL + "F"
    window = CropWindow(
        shape=shape,
        crop_h=height,
        crop_w=width,
        crop_d=depth,
        crop_pos_y=y,
        crop_pos_x=x,
        crop_pos_z=z,
        layout=layout,
        rounding=rounding,
    ).pair()
    return window, [axis for axis, letter in enumerate(layout) if letter in cut_axes]


def _separate(crop: Tensor, count: int) -> tuple[Tensor | None, Tensor, Tensor]:
    """Split a vector ([depth,] height, width) into its elements."""
    numbers = constant_array(crop)
    if numbers is not None:
        if numbers.size not in (3, count):
            raise ArgumentError(f"crop must be {count} numbers, got {numbers.tolist()}")
        count = numbers.size
    parts = [Element(vector=crop, index=index).value() for index in range(count)]
    return (None if count == 2 else parts[0]), parts[-2], parts[-1]


def slice_window(
    name: str,
    shape: Tensor,
    layout: str,
    positional: tuple[Tensor | None, Tensor | None],
    bounds: SliceBounds,
    axes: list[int] | None,
    axis_names: str | None,
    *,
    normalized: tuple[bool, bool],
) -> tuple[tuple[Tensor, Tensor], list[int]]:
    """Add the window of `slice`; return its start and size, and the axes they refer to."""
    given = bounds.given()
    if positional[0] is not None and given:
        raise ArgumentError(f"{name}: the window is specified twice, by the inputs and by {given[0]}")
    if (positional[0] is None) != (positional[1] is None):
        raise ArgumentError(f"{name}: anchor and extent must be given together")
    for one, other in (("start", "rel_start"), ("end", "rel_end"), ("shape", "rel_shape")):
        if one in given and other in given:
            raise ArgumentError(f"{name}: {one} and {other} are mutually exclusive")
    if {"end", "rel_end"} & set(given) and {"shape", "rel_shape"} & set(given):
        raise ArgumentError(f"{name}: an end and a shape are mutually exclusive")
    if positional[0] is None and not given:
        raise ArgumentError(f"{name}: no window specified; pass an anchor and an extent, or start and end or shape")
    chosen = _chosen_axes(name, layout, axes, axis_names)
    window = SliceWindow(
        shape=shape,
        anchor=positional[0],
        extent=positional[1],
        start=bounds.start,
        end=bounds.end,
        rel_start=bounds.rel_start,
        rel_end=bounds.rel_end,
        window_shape=bounds.shape,
        rel_shape=bounds.rel_shape,
        axes=tuple(chosen),
        normalized_anchor=normalized[0],
        normalized_shape=normalized[1],
    ).pair()
    return window, chosen


def _chosen_axes(name: str, layout: str, axes: list[int] | None, axis_names: str | None) -> list[int]:
    if axes is not None:
        return axes
    try:
        return [layout.index(letter) for letter in (axis_names or "WH")]
    except ValueError:
        raise LayoutError(
            f"{name}: axis_names {axis_names or 'WH'!r} are not all part of the layout {layout!r}"
        ) from None
