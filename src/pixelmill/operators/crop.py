"""Crop, slice and flip, and the fused crop_mirror_normalize."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import CLOSE, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Tensor, operator
from pixelmill.operators.windows import SPATIAL, CropSize, Rounding, SliceBounds, crop_window, slice_window
from pixelmill.steps import shapes
from pixelmill.steps.elements import Cast, Normalize
from pixelmill.steps.shapes import Flip, Shape, Window
from pixelmill.steps.sources import constant
from pixelmill.steps.step import Expr
from pixelmill.types import FLOAT, FLOAT16, INT8, UINT8, DALIDataType

Policy = Literal["error", "pad", "constant", "trim_to_shape"]
# The policies of `slice`, some of which have two names.
_POLICIES: dict[str, shapes.Policy] = {
    "error": "error",
    "pad": "pad",
    "constant": "pad",
    "trim_to_shape": "trim_to_shape",
    "edge": "clamp",
    "clamp": "clamp",
    "reflect": "reflect_1001",
    "reflect_1001": "reflect_1001",
    "reflect_101": "reflect_101",
    "wrap": "wrap",
}


def image_layout(layout: str) -> str:
    """Return the layout of an image, HWC if it is empty. Raises ArgumentError if it is not the layout of an image."""
    space = "".join(letter for letter in layout if letter in SPATIAL)
    others = sorted(set(layout) - set(SPATIAL))
    if layout and (
        space not in ("HW", "DHW") or not set(others) <= {"C", "F"} or len(space) + len(others) < len(layout)
    ):
        raise ArgumentError(
            f"an image must have the axes H and W, in this order, and optionally D, F and C; got {layout!r}"
        )
    return layout or "HWC"


def cut_window(
    name: str,
    data: Tensor,
    window: tuple[Tensor, Tensor],
    axes: list[int],
    policy: str,
    fill: list[float] | None,
) -> Tensor:
    """Add the step that cuts a window out of `data`."""
    return Window(
        data=data,
        start=window[0],
        extent=window[1],
        fill_values=None if fill is None else constant(fill, np.float64),
        axes=tuple(axes),
        channels=data.layout.find("C"),
        policy=_POLICIES[policy],
        name=name,
    ).value(data.layout)


def cast_to(data: Tensor, dtype: DALIDataType | None) -> Tensor:
    """Add a cast to `dtype`, unless it is None."""
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
    """Crop images to a window.

    Args:
        data: Images.
        crop: Height and width of the window in pixels (depth, height and width for volumes).
        crop_h: Height of the window, as an alternative to `crop`.
        crop_w: Width of the window, as an alternative to `crop`.
        crop_d: Depth of the window, for volumes.
        crop_pos_x: Horizontal position of the window: 0 is the left edge, 1 the right edge.
        crop_pos_y: Vertical position of the window: 0 is the top edge, 1 the bottom edge.
        crop_pos_z: Position of the window along the depth, from 0 to 1.
        rounding: How the start of the window is brought to a whole pixel.
        out_of_bounds_policy: How to treat a window that exceeds the image: raise an error, pad it, or trim it.
        fill_values: The padding of `"pad"`: one value, or one per channel; 0 if None.
        dtype: Type of the result; that of `data` if None.
    """
    layout = image_layout(data.layout)
    sizes = CropSize(crop, crop_h, crop_w, crop_d)
    position = (crop_pos_x, crop_pos_y, crop_pos_z)
    window, axes = crop_window("crop", Shape(data=data).value(), layout, sizes, position, rounding)
    named = Expr(data.step, data.index, layout)
    return cast_to(cut_window("crop", named, window, axes, out_of_bounds_policy, fill_values), dtype)


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
    out_of_bounds_policy: str = "error",
    fill_values: Floats | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Cut out a slice along any axes, in relative or absolute coordinates.

    Args:
        data: Images or other arrays.
        anchor: The start of the slice, in the order of the axes; floating-point numbers are relative by default.
        extent: The size of the slice, in the same order and unit as the anchor.
        start: Start of the slice, in elements.
        end: End of the slice, in elements.
        shape: Size of the slice, in elements.
        rel_start: Start of the slice, as a fraction of the extent.
        rel_end: End of the slice, as a fraction of the extent.
        rel_shape: Size of the slice, as a fraction of the extent.
        axes: The axes that the other arguments refer to, by index.
        axis_names: The same axes by layout letter; `"WH"` (x before y) if neither is given.
        normalized_anchor: Whether a floating-point anchor is relative to the shape of the input.
        normalized_shape: Whether a floating-point extent is relative to the shape of the input.
        out_of_bounds_policy: How to treat a slice that exceeds the array: raise an error; pad it (`"pad"` or
            `"constant"`); trim it (`"trim_to_shape"`); repeat the edge (`"edge"` or `"clamp"`); mirror the array with
            its edge (`"reflect"` or `"reflect_1001"`) or without it (`"reflect_101"`); or repeat it (`"wrap"`).
        fill_values: The padding of `"pad"`: one value, or one per channel; 0 if None.
        dtype: Type of the result; that of `data` if None.
    """
    if out_of_bounds_policy not in _POLICIES:
        names = ", ".join(map(repr, _POLICIES))
        raise ArgumentError(f"slice: out_of_bounds_policy must be one of {names}, got {out_of_bounds_policy!r}")
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
    return cast_to(cut_window("slice", data, window, chosen, out_of_bounds_policy, fill_values), dtype)


@operator("flip")
def flip(
    data: Tensor,
    *,
    horizontal: PerSample[int] = 1,
    vertical: PerSample[int] = 0,
    depthwise: PerSample[int] = 0,
) -> Tensor:
    """Flip images horizontally, vertically, or along the depth.

    Args:
        data: Images.
        horizontal: Whether to swap left and right.
        vertical: Whether to swap top and bottom.
        depthwise: Whether to swap front and back of volumes.
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
    """Crop, flip, normalize and transpose in one pass: `scale * (x - mean) / std + shift`.

    Args:
        data: Images.
        crop: Height and width of the window in pixels (depth, height and width for volumes).
        crop_h: Height of the window, as an alternative to `crop`.
        crop_w: Width of the window, as an alternative to `crop`.
        crop_d: Depth of the window, for volumes.
        crop_pos_x: Horizontal position of the window: 0 is the left edge, 1 the right edge.
        crop_pos_y: Vertical position of the window: 0 is the top edge, 1 the bottom edge.
        crop_pos_z: Position of the window along the depth, from 0 to 1.
        mirror: Whether to swap left and right.
        mean: Values to subtract: one, or one per channel.
        std: Values to divide by: one, or one per channel.
        scale: Factor applied after the division.
        shift: Value added after scaling.
        dtype: Type of the result: FLOAT, FLOAT16, UINT8 or INT8.
        output_layout: The layout of the result; if empty, that of `data`.
        pad_output: Whether to add channels up to the next power of two.
        rounding: How the start of the window is brought to a whole pixel.
        out_of_bounds_policy: How to treat a window that exceeds the image: raise an error, pad it, or trim it.
        fill_values: The padding of `"pad"`: one value, or one per channel; 0 if None.
    """
    if dtype not in (FLOAT, FLOAT16, UINT8, INT8):
        raise ArgumentError(f"crop_mirror_normalize: dtype must be FLOAT, FLOAT16, UINT8 or INT8, got {dtype.name}")
    layout = image_layout(data.layout)
    if output_layout and sorted(output_layout) != sorted(layout):
        raise ArgumentError(
            f"crop_mirror_normalize: output_layout {output_layout!r} must be a permutation of {layout!r}"
        )
    sizes = CropSize(crop, crop_h, crop_w, crop_d)
    crops = sizes.is_given()
    outside = fill_values if out_of_bounds_policy in ("pad", "constant") else None
    pads = crops and out_of_bounds_policy in ("pad", "constant")
    position = (crop_pos_x, crop_pos_y, crop_pos_z)

    def cropped(image: Tensor, axes: str, policy: Policy) -> Tensor:
        window, along = crop_window("crop_mirror_normalize", Shape(data=image).value(), axes, sizes, position, rounding)
        return cut_window("crop_mirror_normalize", image, window, along, policy, fill_values)

    if crops:
        # The same window is applied twice when padding: here trimmed to the image, and below with the padding.
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
    # Padding is not normalized, so the window is padded only after the normalization.
    return Flip(data=cropped(normal, result, "pad"), horizontal=mirror, layout=result).value(result)
