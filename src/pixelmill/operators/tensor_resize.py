"""Resizing of arrays along any axes."""

from __future__ import annotations

from typing import Literal

from pixelmill.errors import ArgumentError, LayoutError
from pixelmill.operators.dali import CLOSE
from pixelmill.operators.declare import Floats, Ints, PerSample, Tensor, operator
from pixelmill.operators.resize import MEMORY_HINTS, resample
from pixelmill.steps.resampling import Mode, TensorBack, TensorGeometry, TensorImage
from pixelmill.steps.shapes import Shape
from pixelmill.steps.sources import constant, constant_numbers
from pixelmill.types import DALIDataType, DALIInterpType


def _axes(layout: str, axes: list[int] | None, axis_names: str | None) -> list[int] | None:
    if axis_names is None:
        return axes
    if axes is not None:
        raise ArgumentError("tensor_resize: axes and axis_names are mutually exclusive")
    if any(letter not in layout for letter in axis_names):
        raise LayoutError(f"tensor_resize: axis_names {axis_names!r} are not all part of the layout {layout!r}")
    return [layout.index(letter) for letter in axis_names]


def _check_sizes(sizes: Tensor | None, scales: Tensor | None, axes: list[int] | None, mode: str) -> None:
    if (sizes is None) == (scales is None):
        raise ArgumentError("tensor_resize: specify either sizes or scales")
    if scales is not None and mode in ("not_larger", "not_smaller"):
        raise ArgumentError(f"tensor_resize: mode {mode!r} needs sizes")
    if axes is not None and len(set(axes)) != len(axes):
        raise ArgumentError(f"tensor_resize: axes must contain each axis once, got {axes}")
    numbers = constant_numbers(scales if sizes is None else sizes)
    if axes is not None and numbers is not None and len(numbers) not in (1, len(axes)):
        raise ArgumentError(f"tensor_resize: {len(numbers)} sizes or scales do not match {len(axes)} axes")


@operator("tensor_resize", tolerance=CLOSE, ignored=MEMORY_HINTS)
def tensor_resize(
    data: Tensor,
    *,
    sizes: PerSample[Floats] | None = None,
    scales: PerSample[Floats] | None = None,
    axes: Ints | None = None,
    axis_names: str | None = None,
    mode: Mode = "default",
    alignment: PerSample[Floats] | None = None,
    size_rounding: Literal["round", "truncate", "ceil"] = "round",
    max_size: Floats | None = None,
    subpixel_scale: bool = True,
    roi_start: PerSample[Floats] | None = None,
    roi_end: PerSample[Floats] | None = None,
    roi_relative: bool = False,
    interp_type: PerSample[DALIInterpType] | None = None,
    min_filter: PerSample[DALIInterpType] | None = None,
    mag_filter: PerSample[DALIInterpType] | None = None,
    antialias: bool = True,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Resize arrays along up to three adjacent axes.

    Args:
        data: Arrays of any type and shape.
        sizes: Output extents: one for all axes, or one per axis.
        scales: Factors for the input extents, as an alternative to `sizes`.
        axes: The axes to resize, by index; all if None.
        axis_names: The same axes by layout letter, such as `"HW"`.
        mode: How extents of 0 are computed, as in `resize`.
        alignment: The point that stays in place when an output extent is rounded: 0 is the start, 1 the end; 0.5 if
            None.
        size_rounding: How an output extent is rounded to an integer.
        max_size: Upper limit of the output extents.
        subpixel_scale: If the computed extent is not an integer, whether to keep the exact scale instead of exact
            edges.
        roi_start: Start of the region to resize; the whole input if None.
        roi_end: End of the region; if it lies before the start, the axis is reversed.
        roi_relative: Whether the region is relative to the input's extents, from 0 to 1, instead of in pixels.
        interp_type: The filter for downscaling and upscaling; linear if None.
        min_filter: The filter for downscaling; overrides `interp_type`.
        mag_filter: The filter for upscaling; overrides `interp_type`.
        antialias: Whether to widen the filter when downscaling, so that every input pixel contributes.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
    """
    chosen = _axes(data.layout, axes, axis_names)
    _check_sizes(sizes, scales, chosen, mode)
    if (roi_start is None) != (roi_end is None):
        raise ArgumentError("tensor_resize: roi_start and roi_end must be given together")
    geometry = TensorGeometry(
        shape=Shape(data=data).value(),
        sizes=sizes,
        scales=scales,
        alignment=alignment,
        roi_start=roi_start,
        roi_end=roi_end,
        max_size=None if max_size is None else constant(max_size),
        axes=tuple(chosen or []),
        mode=mode,
        rounding=size_rounding,
        subpixel_scale=subpixel_scale,
        roi_relative=roi_relative,
    ).value()
    # Two adjacent axes are an image, for which the resampler is fastest; everything else is treated as a volume.
    flat = chosen is not None and (len(chosen) == 1 or (len(chosen) == 2 and abs(chosen[0] - chosen[1]) == 1))
    images = TensorImage(data=data, geometry=geometry, spatial=2 if flat else 3)
    image, own_axes = images.values("FHWC" if flat else "FDHWC", "")
    resized = resample(
        image,
        own_axes,
        interp_type=interp_type,
        min_filter=min_filter,
        mag_filter=mag_filter,
        antialias=antialias,
        dtype=dtype,
    )
    return TensorBack(image=resized, geometry=geometry).value(data.layout)


operator("experimental.tensor_resize", tolerance=CLOSE, ignored=MEMORY_HINTS)(tensor_resize)
