"""Parts of pictures: crop, slice, pad; and their mirror images."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import CLOSE, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Tensor, operator
from pixelmill.steps.elements import Cast, Normalize
from pixelmill.steps.shapes import CropWindow, Element, Flip, Shape, SliceWindow, Window
from pixelmill.steps.sources import constant, constant_array
from pixelmill.steps.step import Expr
from pixelmill.types import FLOAT, FLOAT16, INT8, UINT8, DALIDataType

Policy = Literal["error", "pad", "constant", "trim_to_shape"]
Rounding = Literal["round", "truncate"]

SPATIAL = "DHW"


def image_layout(layout: str) -> str:
    """Give the layout that a picture without one is taken to have; refuse one that no picture has."""
    space = "".join(letter for letter in layout if letter in SPATIAL)
    others = sorted(set(layout) - set(SPATIAL))
    if layout and (
        space not in ("HW", "DHW") or not set(others) <= {"C", "F"} or len(space) + len(others) < len(layout)
    ):
        raise ArgumentError(f"pictures have the axes H and W, in this order, and perhaps D, F and C, got {layout!r}")
    return layout or "HWC"


def spatial_axes(layout: str) -> list[int]:
    """Give the numbers of the axes of a picture that are space."""
    return [axis for axis, letter in enumerate(layout) if letter in SPATIAL]


@dataclass(frozen=True, eq=False)
class CropSize:
    """The arguments that give the extents of a crop."""

    crop: Tensor | None = None
    crop_h: Tensor | None = None
    crop_w: Tensor | None = None
    crop_d: Tensor | None = None

    def is_given(self) -> bool:
        """Whether there is anything to crop."""
        return any(size is not None for size in (self.crop, self.crop_h, self.crop_w, self.crop_d))


@dataclass(frozen=True, eq=False)
class SliceBounds:
    """The arguments that give the edges of a slice."""

    start: Tensor | None = None
    end: Tensor | None = None
    shape: Tensor | None = None
    rel_start: Tensor | None = None
    rel_end: Tensor | None = None
    rel_shape: Tensor | None = None

    def given(self) -> list[str]:
        """List the names of those that are given."""
        return [entry.name for entry in fields(self) if getattr(self, entry.name) is not None]


def crop_window(
    name: str,
    shape: Tensor,
    layout: str,
    sizes: CropSize,
    position: tuple[Tensor, Tensor, Tensor],
    rounding: Rounding,
) -> tuple[tuple[Tensor, Tensor], list[int]]:
    """Add the window of `crop`, its first corner and its extents, and give the axes it is counted along."""
    depth: Tensor | None
    height: Tensor | None
    width: Tensor | None
    if sizes.crop is not None:
        if replace(sizes, crop=None).is_given():
            raise ArgumentError(f"{name}: crop already says what crop_h, crop_w and crop_d would say")
        depth, height, width = _separate(sizes.crop, len(spatial_axes(layout)))
    else:
        depth, height, width = sizes.crop_d, sizes.crop_h, sizes.crop_w
        if (height is None) != (width is None):
            raise ArgumentError(f"{name}: crop_h and crop_w belong together")
    x, y, z = position
    # Frames are cut like slices of a volume where a depth is given.
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
    """Take a vector (depth,) height, width apart."""
    numbers = constant_array(crop)
    if numbers is not None:
        if numbers.size not in (3, count):
            raise ArgumentError(f"crop must be {count} numbers, got {numbers.tolist()}")
        count = numbers.size
    parts = [Element(vector=crop, index=index).value() for index in range(count)]
    return (None if count == 2 else parts[0]), parts[-2], parts[-1]


def cut(
    name: str, data: Tensor, window: tuple[Tensor, Tensor], axes: list[int], policy: Policy, fill: list[float] | None
) -> Tensor:
    """Add the cutting of a window out of `data`."""
    return Window(
        data=data,
        start=window[0],
        extent=window[1],
        fill_values=None if fill is None else constant(fill, np.float64),
        axes=tuple(axes),
        channels=data.layout.find("C"),
        policy="pad" if policy == "constant" else policy,
        name=name,
    ).value(data.layout)


def cast_to(data: Tensor, dtype: DALIDataType | None) -> Tensor:
    """Add a cast where one is asked for."""
    return data if dtype is None else Cast(data=data, dtype=dtype).value(data.layout)


@operator("crop", renamed={"output_dtype": "dtype"}, ignored=("image_type",))
def crop(
    data: Tensor,
    *,
    crop: PerSample[Floats] | None = None,
    crop_h: PerSample[float] | None = None,
    crop_w: PerSample[float] | None = None,
    crop_d: PerSample[float] | None = None,
    crop_pos_x: PerSample[float] = 0.5,
    crop_pos_y: PerSample[float] = 0.5,
    crop_pos_z: PerSample[float] = 0.5,
    rounding: Rounding = "round",
    out_of_bounds_policy: Policy = "error",
    fill_values: Floats | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Cut a window out of pictures.

    Args:
        data: Pictures.
        crop: Height and width of the window (depth, height and width of a volume).
        crop_h: Its height alone.
        crop_w: Its width alone.
        crop_d: Its depth alone.
        crop_pos_x: Where it lies: 0 at the left, 1 at the right.
        crop_pos_y: Where it lies: 0 at the top, 1 at the bottom.
        crop_pos_z: Where it lies along the depth.
        rounding: How a position between pixels is brought to one.
        out_of_bounds_policy: What to do with a window that leaves the picture.
        fill_values: What `"pad"` puts outside, one value or one for each channel; 0 when left out.
        dtype: Type of the result, that of `data` when left out.
    """
    layout = image_layout(data.layout)
    sizes = CropSize(crop, crop_h, crop_w, crop_d)
    position = (crop_pos_x, crop_pos_y, crop_pos_z)
    window, axes = crop_window("crop", Shape(data=data).value(), layout, sizes, position, rounding)
    named = Expr(data.step, data.index, layout)
    return cast_to(cut("crop", named, window, axes, out_of_bounds_policy, fill_values), dtype)


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
    """Add the window of `slice`, and give the axes it is counted along."""
    given = bounds.given()
    if positional[0] is not None and given:
        raise ArgumentError(f"{name}: the window is given twice, by the inputs and by {given[0]}")
    if (positional[0] is None) != (positional[1] is None):
        raise ArgumentError(f"{name}: an anchor and an extent belong together")
    for one, other in (("start", "rel_start"), ("end", "rel_end"), ("shape", "rel_shape")):
        if one in given and other in given:
            raise ArgumentError(f"{name}: {one} and {other} exclude each other")
    if {"end", "rel_end"} & set(given) and {"shape", "rel_shape"} & set(given):
        raise ArgumentError(f"{name}: an end and a shape exclude each other")
    if positional[0] is None and not given:
        raise ArgumentError(
            f"{name}: nothing says which window; give an anchor and an extent, or start and end or shape"
        )
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
        raise ArgumentError(
            f"{name}: axis_names {axis_names or 'WH'!r} are not all among the axes {layout!r}"
        ) from None


@operator("slice", renamed={"output_dtype": "dtype"}, ignored=("image_type",), dali=DaliCall(cpu_inputs=(1, 2)))
def slice(
    data: Tensor,
    anchor: Tensor | None = None,
    extent: Tensor | None = None,
    *,
    start: PerSample[Ints] | None = None,
    end: PerSample[Ints] | None = None,
    shape: PerSample[Ints] | None = None,
    rel_start: PerSample[Floats] | None = None,
    rel_end: PerSample[Floats] | None = None,
    rel_shape: PerSample[Floats] | None = None,
    axes: Ints | None = None,
    axis_names: str | None = None,
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    out_of_bounds_policy: Policy = "error",
    fill_values: Floats | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Cut out a part, by shares or by numbers of elements, along any axes.

    Args:
        data: Pictures or other arrays.
        anchor: Where the part begins, in the order of the axes; numbers with a fraction are shares.
        extent: How large it is.
        start: Where it begins, in elements.
        end: Where it ends, in elements.
        shape: How large it is, in elements.
        rel_start: Where it begins, as a share.
        rel_end: Where it ends, as a share.
        rel_shape: How large it is, as a share.
        axes: The axes that the other arguments mean, by number.
        axis_names: The same by name; `"WH"`, so x before y, when neither is given.
        normalized_anchor: Whether an anchor with a fraction is a share.
        normalized_shape: Whether an extent with a fraction is a share.
        out_of_bounds_policy: What to do with a part that leaves the array.
        fill_values: What `"pad"` puts outside, one value or one for each channel; 0 when left out.
        dtype: Type of the result, that of `data` when left out.
    """
    bounds = SliceBounds(start, end, shape, rel_start, rel_end, rel_shape)
    layout = data.layout or ("" if axes is not None else "HWC")
    window, chosen = slice_window(
        "slice",
        Shape(data=data).value(),
        layout,
        (anchor, extent),
        bounds,
        axes,
        axis_names,
        normalized=(normalized_anchor, normalized_shape),
    )
    return cast_to(cut("slice", data, window, chosen, out_of_bounds_policy, fill_values), dtype)


@operator("flip")
def flip(
    data: Tensor,
    *,
    horizontal: PerSample[int] = 1,
    vertical: PerSample[int] = 0,
    depthwise: PerSample[int] = 0,
) -> Tensor:
    """Mirror pictures about their centre lines.

    Args:
        data: Pictures.
        horizontal: Swap left and right.
        vertical: Swap top and bottom.
        depthwise: Swap front and back of volumes.
    """
    layout = image_layout(data.layout)
    return Flip(data=data, horizontal=horizontal, vertical=vertical, depthwise=depthwise, layout=data.layout).value(
        layout
    )


@operator(
    "crop_mirror_normalize",
    tolerance=CLOSE,
    renamed={"output_dtype": "dtype", "height": "crop_h", "width": "crop_w"},
    ignored=("image_type",),
    aliases=("NormalizePermute", "CropCastPermute"),
)
def crop_mirror_normalize(
    data: Tensor,
    *,
    crop: PerSample[Floats] | None = None,
    crop_h: PerSample[float] | None = None,
    crop_w: PerSample[float] | None = None,
    crop_d: PerSample[float] | None = None,
    crop_pos_x: PerSample[float] = 0.5,
    crop_pos_y: PerSample[float] = 0.5,
    crop_pos_z: PerSample[float] = 0.5,
    mirror: PerSample[int] = 0,
    mean: PerSample[Floats] = [0.0],  # noqa: B006 - never changed
    std: PerSample[Floats] = [1.0],  # noqa: B006
    scale: float = 1.0,
    shift: float = 0.0,
    dtype: DALIDataType = FLOAT,
    output_layout: str = "CHW",
    pad_output: bool = False,
    rounding: Rounding = "round",
    out_of_bounds_policy: Policy = "error",
    fill_values: Floats | None = None,
) -> Tensor:
    """Crop, mirror, normalise and reorder the axes in one pass: `scale * (x - mean) / std + shift`.

    Args:
        data: Pictures.
        crop: Height and width of the window (depth, height and width of a volume).
        crop_h: Its height alone.
        crop_w: Its width alone.
        crop_d: Its depth alone.
        crop_pos_x: Where it lies: 0 at the left, 1 at the right.
        crop_pos_y: Where it lies: 0 at the top, 1 at the bottom.
        crop_pos_z: Where it lies along the depth.
        mirror: Swap left and right.
        mean: What is taken away, one value or one for each channel.
        std: What is divided by, one value or one for each channel.
        scale: What the result is multiplied with.
        shift: What is added at last.
        dtype: Type of the result: FLOAT, FLOAT16, UINT8 or INT8.
        output_layout: Order of the axes of the result; empty to keep that of `data`.
        pad_output: Add channels up to the next power of two.
        rounding: How a position between pixels is brought to one.
        out_of_bounds_policy: What to do with a window that leaves the picture.
        fill_values: What `"pad"` puts outside, one value or one for each channel; 0 when left out.
    """
    if dtype not in (FLOAT, FLOAT16, UINT8, INT8):
        raise ArgumentError(f"crop_mirror_normalize: dtype must be FLOAT, FLOAT16, UINT8 or INT8, got {dtype.name}")
    layout = image_layout(data.layout)
    if output_layout and sorted(output_layout) != sorted(layout):
        raise ArgumentError(
            f"crop_mirror_normalize: output_layout {output_layout!r} does not have the axes of {layout!r}"
        )
    sizes = CropSize(crop, crop_h, crop_w, crop_d)
    crops = sizes.is_given()
    outside = fill_values if out_of_bounds_policy in ("pad", "constant") else None
    pads = crops and out_of_bounds_policy in ("pad", "constant")
    position = (crop_pos_x, crop_pos_y, crop_pos_z)

    def cropped(picture: Tensor, axes: str, policy: Policy) -> Tensor:
        window, along = crop_window(
            "crop_mirror_normalize", Shape(data=picture).value(), axes, sizes, position, rounding
        )
        return cut("crop_mirror_normalize", picture, window, along, policy, fill_values)

    if crops:
        data = cropped(data, layout, "trim_to_shape" if pads else out_of_bounds_policy)
    result = output_layout or layout
    normal = Normalize(
        image=data if pads else Flip(data=data, horizontal=mirror, layout=data.layout).value(layout),
        mean=mean,
        std=std,
        scale=constant(scale, np.float64),
        shift=constant(shift, np.float64),
        channel_fill=constant(outside[0], np.float64) if outside and len(outside) == 1 else None,
        layout=layout,
        out_layout=result,
        dtype=dtype,
        pad_channels=pad_output,
        name="crop_mirror_normalize",
    ).value(result)
    if not pads:
        return normal
    # What is put outside is not normalised, so it comes last.
    return Flip(data=cropped(normal, result, "pad"), horizontal=mirror, layout=result).value(result)
