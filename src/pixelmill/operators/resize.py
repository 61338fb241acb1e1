"""The resize family: one resampler, told in different ways which part becomes how large."""

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
    """Add the resampling of `data` along a geometry."""
    if interp_type is not None and min_filter is not None and mag_filter is not None:
        raise ArgumentError("interp_type does nothing when min_filter and mag_filter are both given")
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
    """Return a filter, and the value that overrides it where it differs from sample to sample."""
    array = constant_array(given)
    if array is None:
        return INTERP_LINEAR, given
    try:
        return DALIInterpType(int(array.item())), None
    except ValueError:
        raise ArgumentError(f"there is no filter number {array.tolist()}") from None


@dataclass(frozen=True, eq=False)
class ResizeSize:
    """The arguments that give the size of a result; one way of several is chosen."""

    size: Tensor | None
    resize_x: Tensor | None
    resize_y: Tensor | None
    resize_z: Tensor | None
    resize_shorter: Tensor | None
    resize_longer: Tensor | None


@dataclass(frozen=True, eq=False)
class ResizeOptions:
    """How a size is understood, and the part of the source that gets it."""

    mode: Mode
    max_size: list[float] | None
    subpixel_scale: bool
    roi_start: Tensor | None
    roi_end: Tensor | None
    roi_relative: bool


def resize_geometry(name: str, data: Tensor, sizes: ResizeSize, options: ResizeOptions) -> Tensor:
    """Add the geometry of `resize` from its many ways to tell the size."""
    alone = ("size", "resize_shorter", "resize_longer")
    given = [key for key in alone if getattr(sizes, key) is not None]
    if any(size is not None for size in (sizes.resize_x, sizes.resize_y, sizes.resize_z)):
        given.append("resize_x, resize_y or resize_z")
    if len(given) != 1:
        raise ArgumentError(
            f"{name}: give one of size, resize_x/resize_y/resize_z, resize_shorter and resize_longer; "
            f"got {' and '.join(given) or 'none of them'}"
        )
    if options.mode != "default" and given[0] in ("resize_shorter", "resize_longer"):
        raise ArgumentError(f"{name}: {given[0]} has a mode of its own; leave mode out")
    if (options.roi_start is None) != (options.roi_end is None):
        raise ArgumentError(f"{name}: roi_start and roi_end belong together")
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
    """Change the size of pictures.

    Args:
        data: Pictures.
        size: Height and width (depth before them for volumes); one number for all; 0 leaves an extent free.
        resize_x: Width.
        resize_y: Height.
        resize_z: Depth of volumes.
        resize_shorter: Length of the shorter side; the other follows.
        resize_longer: Length of the longer side; the other follows.
        mode: `default` gives free extents the scale of the others, `stretch` leaves them; `not_larger` and
            `not_smaller` keep the aspect ratio and take the extents as upper or lower bounds.
        max_size: Upper bounds of the result, one for all or one for each extent.
        subpixel_scale: Keep the exact scale where it gives a fraction of a pixel, instead of the exact edges.
        roi_start: Where the part to be resized begins, in the order of the axes.
        roi_end: Where it ends; before its start flips the picture.
        roi_relative: Whether that part is told as shares.
        interp_type: The filter, linear when left out.
        min_filter: The filter for making smaller.
        mag_filter: The filter for making larger.
        antialias: Widen the filter when making smaller so that nothing is left out.
        dtype: Type of the result: that of `data`, or FLOAT.
        save_attrs: Give the old extents as a second result.
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
    """Cut a random window out of pictures and change it to a given size.

    Args:
        data: Pictures.
        size: Height and width of the result; one number for both.
        random_area: Smallest and largest share of the picture's area.
        random_aspect_ratio: Smallest and largest width divided by height.
        num_attempts: How often to draw before the whole picture, cut to the allowed ratios, is taken.
        interp_type: The filter, linear when left out.
        min_filter: The filter for making smaller.
        mag_filter: The filter for making larger.
        antialias: Widen the filter when making smaller so that nothing is left out.
        dtype: Type of the result: that of `data`, or FLOAT.
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
    """Draw the window of a random crop: its first corner (y, x) and its extents (height, width), as int32.

    Args:
        shape: The shape of a picture, height first.
        random_area: Smallest and largest share of the picture's area.
        random_aspect_ratio: Smallest and largest width divided by height.
        num_attempts: How often to draw before the whole picture, cut to the allowed ratios, is taken.
    """
    window = random_window(shape, random_area, random_aspect_ratio, num_attempts, "")
    return tuple(Cast(data=part, dtype=DALIDataType.INT32).value() for part in window)


@operator("resize_crop_mirror", tolerance=CLOSE, ignored=MEMORY_HINTS)
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
    """Change the size of pictures, then crop, then mirror, in one pass. Outside of the picture its edge is repeated.

    Args:
        data: Pictures.
        size: Height and width; one number for both; 0 leaves an extent free.
        resize_x: Width.
        resize_y: Height.
        resize_z: Depth of volumes.
        resize_shorter: Length of the shorter side; the other follows.
        resize_longer: Length of the longer side; the other follows.
        mode: What becomes of extents that are not given, as in `resize`.
        max_size: Upper bounds of the result, one for all or one for each extent.
        subpixel_scale: Keep the exact scale where it gives a fraction of a pixel, instead of the exact edges.
        roi_start: Where the part to be resized begins, in the order of the axes.
        roi_end: Where it ends; before its start flips the picture.
        roi_relative: Whether that part is told as shares.
        interp_type: The filter, linear when left out.
        min_filter: The filter for making smaller.
        mag_filter: The filter for making larger.
        antialias: Widen the filter when making smaller so that nothing is left out.
        dtype: Type of the result: that of `data`, or FLOAT.
        crop: Height and width of the window.
        crop_h: Its height alone.
        crop_w: Its width alone.
        crop_d: Its depth alone.
        crop_pos_x: Where it lies: 0 at the left, 1 at the right.
        crop_pos_y: Where it lies: 0 at the top, 1 at the bottom.
        crop_pos_z: Where it lies along the depth.
        rounding: How a position between pixels is brought to one.
        mirror: 1 swaps left and right, 2 top and bottom, 4 front and back of volumes; their sum does several.
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
