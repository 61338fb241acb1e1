"""The resize family: one resampler, and the different ways to specify its window and size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import image_layout
from pixelmill.operators.dali import BEFORE, CLOSE, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.operators.decoders import random_window
from pixelmill.operators.windows import CropSize, Rounding, crop_window
from pixelmill.steps.codecs import Decode
from pixelmill.steps.elements import Arithmetic, Cast
from pixelmill.steps.resampling import Mode, ProjectGeometry, Resample, ResizeGeometry, WindowGeometry
from pixelmill.steps.shapes import GeometryShape, Shape, SpatialShape
from pixelmill.steps.sources import constant, constant_array
from pixelmill.steps.step import Expr
from pixelmill.types import FLOAT, INTERP_LINEAR, DALIDataType, DALIInterpType

MEMORY_HINTS = ("minibatch_size", "temp_buffer_hint", "image_type")


def resample(
    data: Tensor,
    geometry: Tensor,
    *,
    interp_type: Tensor | None,
    min_filter: Tensor | None,
    mag_filter: Tensor | None,
    antialias: bool,
    dtype: DALIDataType | None,
) -> Tensor:
    """Add the step that resamples `data` by a geometry."""
    if interp_type is not None and min_filter is not None and mag_filter is not None:
        raise ArgumentError("interp_type has no effect if both min_filter and mag_filter are given")
    decoded = data.step.dtype if isinstance(data.step, Decode) else None
    if decoded is not None and dtype is not None and dtype not in (FLOAT, decoded):
        raise ArgumentError(f"dtype must be that of the input, or FLOAT; got {dtype.name}")
    shrinking, shrinks = _filter(interp_type if min_filter is None else min_filter)
    enlarging, enlarges = _filter(interp_type if mag_filter is None else mag_filter)
    return Resample(
        image=data,
        geometry=geometry,
        sample_filter_min=shrinks,
        sample_filter_mag=enlarges,
        layout=data.layout,
        filter_min=shrinking,
        filter_mag=enlarging,
        antialias=antialias,
        dtype=None if dtype == decoded else dtype,
    ).value(image_layout(data.layout))


def _filter(given: Tensor | None) -> tuple[DALIInterpType, Tensor | None]:
    """Return a filter, and the per-sample value that overrides it, if any."""
    array = constant_array(given)
    if array is None:
        return INTERP_LINEAR, given
    try:
        return DALIInterpType(int(array.item())), None
    except ValueError:
        raise ArgumentError(f"{array.tolist()} is not a filter of DALIInterpType") from None


@dataclass(frozen=True, eq=False)
class ResizeSize:
    """The alternative arguments that specify the output size."""

    size: Tensor | None
    resize_x: Tensor | None
    resize_y: Tensor | None
    resize_z: Tensor | None
    resize_shorter: Tensor | None
    resize_longer: Tensor | None


@dataclass(frozen=True, eq=False)
class ResizeOptions:
    """How the size is interpreted, and the region of the input that it applies to."""

    mode: Mode
    max_size: list[float] | None
    subpixel_scale: bool
    roi_start: Tensor | None
    roi_end: Tensor | None
    roi_relative: bool


def resize_geometry(name: str, data: Tensor, sizes: ResizeSize, options: ResizeOptions) -> Tensor:
    """Add the geometry of `resize` from the given size arguments."""
    alone = ("size", "resize_shorter", "resize_longer")
    given = [key for key in alone if getattr(sizes, key) is not None]
    if any(size is not None for size in (sizes.resize_x, sizes.resize_y, sizes.resize_z)):
        given.append("resize_x, resize_y or resize_z")
    if len(given) != 1:
        raise ArgumentError(
            f"{name}: specify one of size, resize_x/resize_y/resize_z, resize_shorter and resize_longer; "
            f"got {' and '.join(given) or 'none of them'}"
        )
    if options.mode != "default" and given[0] in ("resize_shorter", "resize_longer"):
        raise ArgumentError(f"{name}: {given[0]} implies a mode; leave mode out")
    if (options.roi_start is None) != (options.roi_end is None):
        raise ArgumentError(f"{name}: roi_start and roi_end must be given together")
    return ResizeGeometry(
        shape=Shape(data=data).value(),
        size=sizes.size,
        resize_z=sizes.resize_z,
        resize_y=sizes.resize_y,
        resize_x=sizes.resize_x,
        resize_shorter=sizes.resize_shorter,
        resize_longer=sizes.resize_longer,
        max_size=None if options.max_size is None else constant(options.max_size),
        roi_start=options.roi_start,
        roi_end=options.roi_end,
        layout=data.layout,
        mode=options.mode,
        subpixel_scale=options.subpixel_scale,
        roi_relative=options.roi_relative,
    ).value()


@operator("resize", tolerance=CLOSE, outputs=None, ignored=MEMORY_HINTS)
def resize(
    data: Tensor,
    *,
    size: PerSample[Floats] | None = None,
    resize_x: PerSample[float] | None = None,
    resize_y: PerSample[float] | None = None,
    resize_z: PerSample[float] | None = None,
    resize_shorter: PerSample[float] | None = None,
    resize_longer: PerSample[float] | None = None,
    mode: Mode = "default",
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
    save_attrs: bool = False,
) -> Tensor | tuple[Tensor, ...]:
    """Resize images.

    Args:
        data: Images.
        size: Height and width in pixels (preceded by depth for volumes); one number for all; 0 computes an extent.
        resize_x: Width of the result in pixels.
        resize_y: Height of the result in pixels.
        resize_z: Depth of the result, for volumes.
        resize_shorter: Length of the shorter side in pixels; the aspect ratio is kept.
        resize_longer: Length of the longer side in pixels; the aspect ratio is kept.
        mode: `default` scales unspecified extents like the others, `stretch` keeps them; `not_larger` and `not_smaller`
            keep the aspect ratio and treat the extents as upper or lower bounds.
        max_size: Upper limit of the output size: one number for all extents, or one per extent.
        subpixel_scale: If the computed size has a fraction of a pixel, whether to keep the exact scale instead of exact
            edges.
        roi_start: Start of the region to resize, in the order of the axes; the whole input if None.
        roi_end: End of the region; if it lies before the start, the result is flipped.
        roi_relative: Whether the region is relative to the input's extents, from 0 to 1, instead of in pixels.
        interp_type: The filter for downscaling and upscaling; linear if None.
        min_filter: The filter for downscaling; overrides `interp_type`.
        mag_filter: The filter for upscaling; overrides `interp_type`.
        antialias: Whether to widen the filter when downscaling, so that every input pixel contributes.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
        save_attrs: Whether to return the input size as a second output.
    """
    sizes = ResizeSize(size, resize_x, resize_y, resize_z, resize_shorter, resize_longer)
    options = ResizeOptions(mode, max_size, subpixel_scale, roi_start, roi_end, roi_relative)
    resized = resample(
        data,
        resize_geometry("resize", data, sizes, options),
        interp_type=interp_type,
        min_filter=min_filter,
        mag_filter=mag_filter,
        antialias=antialias,
        dtype=dtype,
    )
    if not save_attrs:
        return resized
    return resized, SpatialShape(shape=Shape(data=data).value(), layout=data.layout).value()


def _drawn_window(resized: Expr) -> dict[str, Expr]:
    assert isinstance(resized.step, Resample)
    geometry = resized.step.geometry.step
    assert isinstance(geometry, WindowGeometry)
    start, extent = geometry.start, geometry.extent
    end = Arithmetic(
        operands=(
            start,
            extent,
        ),
        operation="add",
    ).value()
    return {name: Cast(data=value, dtype=FLOAT).value() for name, value in (("roi_start", start), ("roi_end", end))}


DRAWN_WINDOW = DaliCall(
    "resize", drawn=_drawn_window, without=frozenset({"random_area", "random_aspect_ratio", "num_attempts"})
)


@operator("random_resized_crop", tolerance=CLOSE, draws=True, ignored=MEMORY_HINTS, dali=DRAWN_WINDOW)
def random_resized_crop(
    data: Tensor,
    *,
    size: Ints,
    random_area: Floats = [0.08, 1.0],  # noqa: B006 - never changed
    random_aspect_ratio: Floats = [0.75, 4 / 3],  # noqa: B006
    num_attempts: Annotated[int, Range(1)] = 10,
    interp_type: PerSample[DALIInterpType] | None = None,
    min_filter: PerSample[DALIInterpType] | None = None,
    mag_filter: PerSample[DALIInterpType] | None = None,
    antialias: bool = True,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Crop a random window out of images and resize it to a fixed size.

    Args:
        data: Images.
        size: Height and width of the result in pixels; one number for both.
        random_area: Smallest and largest area of the window, as fractions of the image area.
        random_aspect_ratio: Smallest and largest aspect ratio (width divided by height) of the window.
        num_attempts: How many windows to draw before falling back to the largest allowed window.
        interp_type: The filter for downscaling and upscaling; linear if None.
        min_filter: The filter for downscaling; overrides `interp_type`.
        mag_filter: The filter for upscaling; overrides `interp_type`.
        antialias: Whether to widen the filter when downscaling, so that every input pixel contributes.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
    """
    if len(size) not in (1, 2) or any(extent < 1 for extent in size):
        raise ArgumentError(
            f"random_resized_crop: size must be two positive integers (height, width), got {tuple(size)}"
        )
    shape = Shape(data=data).value()
    start, extent = random_window(shape, random_area, random_aspect_ratio, num_attempts, image_layout(data.layout))
    wanted = constant(size * 2 if len(size) == 1 else size)
    geometry = WindowGeometry(start=start, extent=extent, shape=shape, size=wanted, layout=data.layout).value()
    return resample(
        data,
        geometry,
        interp_type=interp_type,
        min_filter=min_filter,
        mag_filter=mag_filter,
        antialias=antialias,
        dtype=dtype,
    )


@operator("random_crop_generator", draws=True, outputs=2, dali=BEFORE)
def random_crop_generator(
    shape: Tensor,
    *,
    random_area: Floats = [0.08, 1.0],  # noqa: B006 - never changed
    random_aspect_ratio: Floats = [0.75, 4 / 3],  # noqa: B006
    num_attempts: Annotated[int, Range(1)] = 10,
) -> tuple[Tensor, ...]:
    """Draw the window of a random crop; returns its start (y, x) and its size (height, width) as int32.

    Args:
        shape: The shape of an image, height first.
        random_area: Smallest and largest area of the window, as fractions of the image area.
        random_aspect_ratio: Smallest and largest aspect ratio (width divided by height) of the window.
        num_attempts: How many windows to draw before falling back to the largest allowed window.
    """
    window = random_window(shape, random_area, random_aspect_ratio, num_attempts, "")
    return tuple(Cast(data=part, dtype=DALIDataType.INT32).value() for part in window)


@operator("resize_crop_mirror", tolerance=CLOSE, ignored=MEMORY_HINTS, aliases=("FastResizeCropMirror",))
def resize_crop_mirror(
    data: Tensor,
    *,
    size: PerSample[Floats] | None = None,
    resize_x: PerSample[float] | None = None,
    resize_y: PerSample[float] | None = None,
    resize_z: PerSample[float] | None = None,
    resize_shorter: PerSample[float] | None = None,
    resize_longer: PerSample[float] | None = None,
    mode: Mode = "default",
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
    crop: PerSample[Floats] | None = None,
    crop_h: PerSample[float] | None = None,
    crop_w: PerSample[float] | None = None,
    crop_d: PerSample[float] | None = None,
    crop_pos_x: PerSample[float] = 0.5,
    crop_pos_y: PerSample[float] = 0.5,
    crop_pos_z: PerSample[float] = 0.5,
    rounding: Rounding = "round",
    mirror: PerSample[int] = 0,
) -> Tensor:
    """Resize, crop and flip images in one pass. Outside the image, its edge pixels are repeated.

    Args:
        data: Images.
        size: Height and width in pixels; one number for both; 0 computes an extent.
        resize_x: Width of the result in pixels.
        resize_y: Height of the result in pixels.
        resize_z: Depth of the result, for volumes.
        resize_shorter: Length of the shorter side in pixels; the aspect ratio is kept.
        resize_longer: Length of the longer side in pixels; the aspect ratio is kept.
        mode: How unspecified extents are computed, as in `resize`.
        max_size: Upper limit of the output size: one number for all extents, or one per extent.
        subpixel_scale: If the computed size has a fraction of a pixel, whether to keep the exact scale instead of exact
            edges.
        roi_start: Start of the region to resize, in the order of the axes; the whole input if None.
        roi_end: End of the region; if it lies before the start, the result is flipped.
        roi_relative: Whether the region is relative to the input's extents, from 0 to 1, instead of in pixels.
        interp_type: The filter for downscaling and upscaling; linear if None.
        min_filter: The filter for downscaling; overrides `interp_type`.
        mag_filter: The filter for upscaling; overrides `interp_type`.
        antialias: Whether to widen the filter when downscaling, so that every input pixel contributes.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
        crop: Height and width of the window in pixels.
        crop_h: Height of the window, as an alternative to `crop`.
        crop_w: Width of the window, as an alternative to `crop`.
        crop_d: Depth of the window, for volumes.
        crop_pos_x: Horizontal position of the window: 0 is the left edge, 1 the right edge.
        crop_pos_y: Vertical position of the window: 0 is the top edge, 1 the bottom edge.
        crop_pos_z: Position of the window along the depth, from 0 to 1.
        rounding: How the start of the window is brought to a whole pixel.
        mirror: Sum of 1 (swap left and right), 2 (swap top and bottom) and 4 (swap front and back of volumes).
    """
    name = "resize_crop_mirror"
    sizes = ResizeSize(size, resize_x, resize_y, resize_z, resize_shorter, resize_longer)
    options = ResizeOptions(mode, max_size, subpixel_scale, roi_start, roi_end, roi_relative)
    geometry = resize_geometry(name, data, sizes, options)
    window = CropSize(crop, crop_h, crop_w, crop_d)
    start: Tensor | None = None
    extent: Tensor | None = None
    if window.is_given():
        position = (crop_pos_x, crop_pos_y, crop_pos_z)
        shape = GeometryShape(geometry=geometry, shape=Shape(data=data).value(), layout=data.layout).value()
        (start, extent), _ = crop_window(name, shape, image_layout(data.layout), window, position, rounding)
    return resample(
        data,
        ProjectGeometry(geometry=geometry, start=start, extent=extent, mirror=mirror).value(),
        interp_type=interp_type,
        min_filter=min_filter,
        mag_filter=mag_filter,
        antialias=antialias,
        dtype=dtype,
    )
