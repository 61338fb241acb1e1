"""Parts of pictures: crop, slice, pad; and their mirror images."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import CLOSE, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Tensor, operator
from pixelmill.operators.windows import SPATIAL, CropSize, Rounding, SliceBounds, crop_window, slice_window
from pixelmill.steps.elements import Cast, Normalize
from pixelmill.steps.shapes import Flip, Shape, Window
from pixelmill.steps.sources import constant
from pixelmill.steps.step import Expr
from pixelmill.types import FLOAT, FLOAT16, INT8, UINT8, DALIDataType

Policy = Literal["error", "pad", "constant", "trim_to_shape"]


def image_layout(layout: str) -> str:
    """Give the layout that a picture without one is taken to have; refuse one that no picture has."""
    space = "".join(letter for letter in layout if letter in SPATIAL)
    others = sorted(set(layout) - set(SPATIAL))
    if layout and (
        space not in ("HW", "DHW") or not set(others) <= {"C", "F"} or len(space) + len(others) < len(layout)
    ):
        raise ArgumentError(f"pictures have the axes H and W, in this order, and perhaps D, F and C, got {layout!r}")
    return layout or "HWC"


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
