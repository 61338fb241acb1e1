"""From encoded bytes to pixels."""

from __future__ import annotations

from typing import Annotated, Literal

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import cut
from pixelmill.operators.dali import BEFORE, CLOSE, DECODER, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.operators.windows import CropSize, SliceBounds, crop_window, slice_window
from pixelmill.steps.codecs import Color, Decode, ImageShape
from pixelmill.steps.elements import Cast
from pixelmill.steps.random import RandomWindow
from pixelmill.steps.shapes import Join
from pixelmill.steps.step import Expr, operator_key
from pixelmill.types import ANY_DATA, BGR, GRAY, INT32, INT64, RGB, UINT8, DALIDataType, DALIImageType, YCbCr

COLORS: dict[DALIImageType, Color] = {RGB: "rgb", BGR: "bgr", GRAY: "gray", YCbCr: "ycbcr", ANY_DATA: "any"}

# Memory and hardware of a GPU decoder; fancy upsampling is always on, as in DALI's CPU decoder.
DECODER_HINTS = (
    "affine",
    "cache_batch_copy",
    "cache_debug",
    "cache_size",
    "cache_threshold",
    "cache_type",
    "device_memory_padding",
    "device_memory_padding_jpeg2k",
    "host_memory_padding",
    "host_memory_padding_jpeg2k",
    "hw_decoder_load",
    "hybrid_huffman_threshold",
    "jpeg_fancy_upsampling",
    "memory_stats",
    "preallocate_height_hint",
    "preallocate_width_hint",
    "split_stages",
    "use_chunk_allocator",
)


def decode(data: Tensor, window: Tensor | None, color: DALIImageType, dtype: DALIDataType, orientation: bool) -> Tensor:
    """Add the decoding of `window`, or of the whole image."""
    return Decode(
        encoded=data,
        window=window,
        color=COLORS[color],
        dtype=dtype,
        orientation=orientation,
    ).value("HWC")


def decoded_shape(data: Tensor, color: DALIImageType, orientation: bool) -> Tensor:
    """Add the reading of a picture's shape from its header."""
    return ImageShape(encoded=data, color=COLORS[color], orientation=orientation).value()


@operator(
    "decoders.image",
    tolerance=CLOSE,
    ignored=DECODER_HINTS,
    aliases=("ImageDecoder", "HostDecoder", "nvJPEGDecoder"),
    dali=DECODER,
)
def image(
    data: Tensor,
    *,
    output_type: DALIImageType = RGB,
    dtype: DALIDataType = UINT8,
    adjust_orientation: bool = True,
    use_fast_idct: bool = False,
) -> Tensor:
    """Decode pictures: JPEG and PNG natively; BMP, GIF, TIFF, WebP, PNM and JPEG 2000 by Pillow.

    Args:
        data: Encoded bytes.
        output_type: Colours of the result and their order; ANY_DATA keeps the channels of the file.
        dtype: Type of the result; floats run from 0 to 1, wider integers over their range.
        adjust_orientation: Turn the picture as its EXIF data says.
        use_fast_idct: Accepted for DALI's programs, without an effect: the accurate transform is the faster one here.
    """
    return decode(data, None, output_type, dtype, adjust_orientation)


def _drawn_slice(decoded: Expr) -> dict[str, Expr]:
    assert isinstance(decoded.step, Decode) and decoded.step.window is not None
    window = decoded.step.window.step
    assert isinstance(window, Join)
    return {
        name: Cast(data=part, dtype=INT32).value() for name, part in zip(("start", "shape"), window.parts, strict=True)
    }


DRAWN_SLICE = DaliCall(
    "decoders.image_slice",
    devices=DECODER.devices,
    drawn=_drawn_slice,
    constants={"axes": [0, 1]},
    without=frozenset({"random_area", "random_aspect_ratio", "num_attempts"}),
)


@operator(
    "decoders.image_random_crop",
    tolerance=CLOSE,
    dali=DRAWN_SLICE,
    draws=True,
    ignored=DECODER_HINTS,
    aliases=("ImageDecoderRandomCrop", "HostDecoderRandomCrop", "nvJPEGDecoderRandomCrop"),
)
def image_random_crop(
    data: Tensor,
    *,
    random_area: Floats = [0.08, 1.0],  # noqa: B006 - never changed
    random_aspect_ratio: Floats = [0.75, 4 / 3],  # noqa: B006
    num_attempts: Annotated[int, Range(1)] = 10,
    output_type: DALIImageType = RGB,
    dtype: DALIDataType = UINT8,
    adjust_orientation: bool = True,
    use_fast_idct: bool = False,
) -> Tensor:
    """Decode a random window of a picture, and only that.

    Args:
        data: Encoded bytes.
        random_area: Smallest and largest share of the picture's area.
        random_aspect_ratio: Smallest and largest width divided by height.
        num_attempts: How often to draw before the whole picture, cut to the allowed ratios, is taken.
        output_type: Colours of the result and their order.
        dtype: Type of the result.
        adjust_orientation: Turn the picture as its EXIF data says; the window is drawn in the turned one.
        use_fast_idct: Accepted for DALI's programs, without an effect: the accurate transform is the faster one here.
    """
    shape = decoded_shape(data, output_type, adjust_orientation)
    window = random_window(shape, random_area, random_aspect_ratio, num_attempts, "HWC")
    return decode(data, Join(parts=window).value(), output_type, dtype, adjust_orientation)


def random_window(
    shape: Tensor, area: list[float], ratio: list[float], attempts: int, layout: str
) -> tuple[Tensor, Tensor]:
    """Add the drawing of a window of random area and aspect ratio: its first corner and its extents."""
    for name, (low, high) in {"random_area": _pair(area), "random_aspect_ratio": _pair(ratio)}.items():
        if not 0 < low <= high:
            raise ArgumentError(f"{name} must be two positive numbers in ascending order, got {[low, high]}")
    return RandomWindow(
        shape=shape,
        key=operator_key(),
        area=tuple([float(bound) for bound in area]),
        ratio=tuple([float(bound) for bound in ratio]),
        attempts=attempts,
        layout=layout,
    ).pair()


def _pair(values: list[float]) -> tuple[float, float]:
    if len(values) != 2:
        raise ArgumentError(f"a range is two numbers, got {values}")
    return values[0], values[1]


@operator(
    "decoders.image_crop",
    tolerance=CLOSE,
    dali=DECODER,
    ignored=DECODER_HINTS,
    aliases=("ImageDecoderCrop", "HostDecoderCrop", "nvJPEGDecoderCrop"),
)
def image_crop(
    data: Tensor,
    *,
    crop: PerSample[Floats] | None = None,
    crop_h: PerSample[float] | None = None,
    crop_w: PerSample[float] | None = None,
    crop_d: PerSample[float] | None = None,
    crop_pos_x: PerSample[float] = 0.5,
    crop_pos_y: PerSample[float] = 0.5,
    crop_pos_z: PerSample[float] = 0.5,
    rounding: Literal["round", "truncate"] = "round",
    output_type: DALIImageType = RGB,
    dtype: DALIDataType = UINT8,
    adjust_orientation: bool = True,
    use_fast_idct: bool = False,
) -> Tensor:
    """Decode a window of a picture, and only that.

    Args:
        data: Encoded bytes.
        crop: Height and width of the window.
        crop_h: Its height alone.
        crop_w: Its width alone.
        crop_d: For volumes; no picture has it.
        crop_pos_x: Where it lies: 0 at the left, 1 at the right.
        crop_pos_y: Where it lies: 0 at the top, 1 at the bottom.
        crop_pos_z: For volumes; no picture has it.
        rounding: How a position between pixels is brought to one.
        output_type: Colours of the result and their order.
        dtype: Type of the result.
        adjust_orientation: Turn the picture as its EXIF data says.
        use_fast_idct: Accepted for DALI's programs, without an effect: the accurate transform is the faster one here.
    """
    shape = decoded_shape(data, output_type, adjust_orientation)
    sizes = CropSize(crop, crop_h, crop_w, crop_d)
    window, _ = crop_window("decoders.image_crop", shape, "HWC", sizes, (crop_pos_x, crop_pos_y, crop_pos_z), rounding)
    return decode(data, Join(parts=window).value(), output_type, dtype, adjust_orientation)


@operator(
    "decoders.image_slice",
    tolerance=CLOSE,
    dali=DECODER,
    ignored=DECODER_HINTS,
    aliases=("ImageDecoderSlice", "HostDecoderSlice", "nvJPEGDecoderSlice"),
)
def image_slice(
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
    output_type: DALIImageType = RGB,
    dtype: DALIDataType = UINT8,
    adjust_orientation: bool = True,
    use_fast_idct: bool = False,
) -> Tensor:
    """Decode the window that `slice` would cut out, and only that.

    Args:
        data: Encoded bytes.
        anchor: Where the window begins, x before y; numbers with a fraction are shares of the picture.
        extent: How large it is.
        start: Where it begins, in pixels.
        end: Where it ends, in pixels.
        shape: How large it is, in pixels.
        rel_start: Where it begins, as a share of the picture.
        rel_end: Where it ends, as a share of the picture.
        rel_shape: How large it is, as a share of the picture.
        axes: The axes that the other arguments mean, by number.
        axis_names: The same by name; `"WH"` when neither is given.
        normalized_anchor: Whether an anchor with a fraction is a share.
        normalized_shape: Whether an extent with a fraction is a share.
        output_type: Colours of the result and their order.
        dtype: Type of the result.
        adjust_orientation: Turn the picture as its EXIF data says.
        use_fast_idct: Accepted for DALI's programs, without an effect: the accurate transform is the faster one here.
    """
    whole = decoded_shape(data, output_type, adjust_orientation)
    bounds = SliceBounds(start, end, shape, rel_start, rel_end, rel_shape)
    window, chosen = slice_window(
        "decoders.image_slice",
        whole,
        "HWC",
        (anchor, extent),
        bounds,
        axes,
        axis_names,
        normalized=(normalized_anchor, normalized_shape),
    )
    picture = decode(data, None, output_type, dtype, adjust_orientation)
    return cut("decoders.image_slice", picture, window, chosen, "error", None)


@operator("peek_image_shape", aliases=("PeekImageShape",), dali=BEFORE)
def peek_image_shape(
    data: Tensor,
    *,
    dtype: DALIDataType = INT64,
    image_type: DALIImageType = RGB,
    adjust_orientation: bool = True,
) -> Tensor:
    """Read height, width and channels from the header of a picture.

    Args:
        data: Encoded bytes.
        dtype: Type of the three numbers.
        image_type: Colours the picture would be decoded to.
        adjust_orientation: Give the shape of the picture turned as its EXIF data says.
    """
    shape = decoded_shape(data, image_type, adjust_orientation)
    return shape if dtype == INT64 else Cast(data=shape, dtype=dtype).value()
