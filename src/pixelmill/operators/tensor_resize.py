"""Resampling of arrays along any axes."""

from __future__ import annotations

from typing import Literal

from pixelmill.errors import ArgumentError
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
        raise ArgumentError("tensor_resize: axes and axis_names exclude each other")
    if any(letter not in layout for letter in axis_names):
        raise ArgumentError(f"tensor_resize: axis_names {axis_names!r} are not all among the axes {layout!r}")
    return [layout.index(letter) for letter in axis_names]


def _check_sizes(sizes: Tensor | None, scales: Tensor | None, axes: list[int] | None, mode: str) -> None:
    if (sizes is None) == (scales is None):
        raise ArgumentError("tensor_resize: give one of sizes and scales")
    if scales is not None and mode in ("not_larger", "not_smaller"):
        raise ArgumentError(f"tensor_resize: mode {mode!r} needs sizes")
    if axes is not None and len(set(axes)) != len(axes):
        raise ArgumentError(f"tensor_resize: axes must name each axis once, got {axes}")
    numbers = constant_numbers(scales if sizes is None else sizes)
    if axes is not None and numbers is not None and len(numbers) not in (1, len(axes)):
        raise ArgumentError(f"tensor_resize: {len(numbers)} sizes or scales do not fit {len(axes)} axes")


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
    """Change the extents of arrays, along up to three axes that lie side by side.

    Args:
        data: Any array.
        sizes: New extents, one for all axes or one for each.
        scales: What the old extents are multiplied with, instead of `sizes`.
        axes: The axes that the other arguments mean, by number; all when left out.
        axis_names: The same by name.
        mode: What becomes of extents that are 0, as in `resize`.
        alignment: The point that stays where it is when a new extent is rounded: 0 the start, 1 the end; 0.5 when left
            out.
        size_rounding: How a new extent is brought to a whole number.
        max_size: Upper bounds of the result.
        subpixel_scale: Keep the exact scale where it gives a fraction of an element, instead of the exact edges.
        roi_start: Where the part to be resized begins.
        roi_end: Where it ends; before its start turns the axis round.
        roi_relative: Whether that part is told as shares.
        interp_type: The filter, linear when left out.
        min_filter: The filter for making smaller.
        mag_filter: The filter for making larger.
        antialias: Widen the filter when making smaller so that nothing is left out.
        dtype: Type of the result: that of `data`, or FLOAT.
    """
    chosen = _axes(data.layout, axes, axis_names)
    _check_sizes(sizes, scales, chosen, mode)
    if (roi_start is None) != (roi_end is None):
        raise ArgumentError("tensor_resize: roi_start and roi_end belong together")
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
    # Two axes make pictures, for which the resampler is fastest; more than that, or a gap between them, make volumes.
    flat = chosen is not None and (len(chosen) == 1 or (len(chosen) == 2 and abs(chosen[0] - chosen[1]) == 1))
    images = TensorImage(data=data, geometry=geometry, spatial=2 if flat else 3)
    picture, own_axes = images.values("FHWC" if flat else "FDHWC", "")
    resized = resample(
        picture,
        own_axes,
        interp_type=interp_type,
        min_filter=min_filter,
        mag_filter=mag_filter,
        antialias=antialias,
        dtype=dtype,
    )
    return TensorBack(image=resized, geometry=geometry).value(data.layout)


operator("experimental.tensor_resize", tolerance=CLOSE, ignored=MEMORY_HINTS)(tensor_resize)
