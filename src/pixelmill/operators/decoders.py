"""Image decoders: from encoded bytes to pixels."""

from __future__ import annotations

from typing import Annotated, Literal

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import cut_window
from pixelmill.operators.dali import BEFORE, CLOSE, DECODER, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.operators.windows import CropSize, SliceBounds, crop_window, slice_window
from pixelmill.steps.codecs import Color, Decode, ImageShape
from pixelmill.steps.elements import Cast
from pixelmill.steps.random import RandomWindow
from pixelmill.steps.shapes import Join
from pixelmill.steps.step import Expr, operator_key
from pixelmill.types import ANY_DATA, BGR, GRAY, INT32, INT64, RGB, UINT8, UINT16, DALIDataType, DALIImageType, YCbCr

COLORS: dict[DALIImageType, Color] = {RGB: "rgb", BGR: "bgr", GRAY: "gray", YCbCr: "ycbcr", ANY_DATA: "any"}

# Memory and hardware hints of GPU decoders. Fancy upsampling is always on, as in DALI's CPU decoder.
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
    """Add the step that decodes `window`, or the whole image."""
    return Decode(
        encoded=data,
        window=window,
        color=COLORS[color],
        dtype=dtype,
        orientation=orientation,
    ).value("HWC")


def decoded_shape(data: Tensor, color: DALIImageType, orientation: bool) -> Tensor:
    """Add the step that reads the shape of an image from its header."""
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
    """Decode images: JPEG and PNG natively; BMP, GIF, TIFF, WebP, PNM, JPEG 2000 and AVIF with Pillow.

    Args:
        data: Encoded images, one uint8 vector per sample.
        output_type: Color format of the result; ANY_DATA keeps the channels of the file.
        dtype: Type of the result; floats range from 0 to 1, wider integers over their whole range.
        adjust_orientation: Whether to apply the EXIF orientation to the image.
        use_fast_idct: Accepted for compatibility with DALI; has no effect, because the accurate transform is the faster
            one here.
    """
    return decode(data, None, output_type, dtype, adjust_orientation)


@operator("decoders.mask", dali=BEFORE)
def mask(data: Tensor) -> Tensor:
    """Decode masks: class numbers in one channel, as they are stored.

    The numbers of a palette PNG are its indices, whatever their colors are. Files with several channels are refused.
    The EXIF orientation is not applied. Returns uint16, HWC with one channel.

    Args:
        data: Encoded masks, one uint8 vector per sample.
    """
    stored = Decode(encoded=data, window=None, color="index", dtype=None, orientation=False).value("HWC")
    return Cast(data=stored, dtype=UINT16).value("HWC")  # files of 8 and of 16 bits may be in one batch


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
    """Decode a random window of an image; pixels outside of it are not decoded.

    Args:
        data: Encoded images, one uint8 vector per sample.
        random_area: Smallest and largest area of the window, as fractions of the image area.
        random_aspect_ratio: Smallest and largest aspect ratio (width divided by height) of the window.
        num_attempts: How many windows to draw before falling back to the largest allowed window.
        output_type: Color format of the result, such as RGB, BGR or GRAY.
        dtype: Type of the result.
        adjust_orientation: Whether to apply the EXIF orientation; the window is drawn in the oriented image.
        use_fast_idct: Accepted for compatibility with DALI; has no effect, because the accurate transform is the faster
            one here.
    """
    shape = decoded_shape(data, output_type, adjust_orientation)
    window = random_window(shape, random_area, random_aspect_ratio, num_attempts, "HWC")
    return decode(data, Join(parts=window).value(), output_type, dtype, adjust_orientation)


def random_window(
    shape: Tensor, area: list[float], ratio: list[float], attempts: int, layout: str
) -> tuple[Tensor, Tensor]:
    """Add the step that draws a window of random area and aspect ratio; return its start and its size."""
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
        raise ArgumentError(f"a range must be two numbers, got {values}")
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
    """Decode a window of an image; pixels outside of it are not decoded.

    Args:
        data: Encoded images, one uint8 vector per sample.
        crop: Height and width of the window in pixels.
        crop_h: Height of the window, as an alternative to `crop`.
        crop_w: Width of the window, as an alternative to `crop`.
        crop_d: Accepted for compatibility with DALI; images have no depth.
        crop_pos_x: Horizontal position of the window: 0 is the left edge, 1 the right edge.
        crop_pos_y: Vertical position of the window: 0 is the top edge, 1 the bottom edge.
        crop_pos_z: Accepted for compatibility with DALI; images have no depth.
        rounding: How the start of the window is brought to a whole pixel.
        output_type: Color format of the result, such as RGB, BGR or GRAY.
        dtype: Type of the result.
        adjust_orientation: Whether to apply the EXIF orientation to the image.
        use_fast_idct: Accepted for compatibility with DALI; has no effect, because the accurate transform is the faster
            one here.
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
    """Decode the window that `slice` would cut out; pixels outside of it are not decoded.

    Args:
        data: Encoded images, one uint8 vector per sample.
        anchor: The start of the window, x before y; floating-point numbers are fractions of the image size by default.
        extent: The size of the slice, in the same order and unit as the anchor.
        start: Start of the window, in pixels.
        end: End of the window, in pixels.
        shape: Size of the window, in pixels.
        rel_start: Start of the window, as a fraction of the image size.
        rel_end: End of the window, as a fraction of the image size.
        rel_shape: Size of the window, as a fraction of the image size.
        axes: The axes that the other arguments refer to, by index.
        axis_names: The same axes by layout letter; `"WH"` if neither is given.
        normalized_anchor: Whether a floating-point anchor is relative to the shape of the input.
        normalized_shape: Whether a floating-point extent is relative to the shape of the input.
        output_type: Color format of the result, such as RGB, BGR or GRAY.
        dtype: Type of the result.
        adjust_orientation: Whether to apply the EXIF orientation to the image.
        use_fast_idct: Accepted for compatibility with DALI; has no effect, because the accurate transform is the faster
            one here.
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
    image = decode(data, None, output_type, dtype, adjust_orientation)
    return cut_window("decoders.image_slice", image, window, chosen, "error", None)


@operator("peek_image_shape", aliases=("PeekImageShape",), dali=BEFORE)
def peek_image_shape(
    data: Tensor,
    *,
    dtype: DALIDataType = INT64,
    image_type: DALIImageType = RGB,
    adjust_orientation: bool = True,
) -> Tensor:
    """Read height, width and number of channels from the header of an image, without decoding it.

    Args:
        data: Encoded images, one uint8 vector per sample.
        dtype: Type of the result.
        image_type: Color format that the image would be decoded to.
        adjust_orientation: Whether to return the shape after applying the EXIF orientation.
    """
    shape = decoded_shape(data, image_type, adjust_orientation)
    return shape if dtype == INT64 else Cast(data=shape, dtype=dtype).value()
