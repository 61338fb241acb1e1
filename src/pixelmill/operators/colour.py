"""Colours and brightness."""

from __future__ import annotations

from collections.abc import Sequence

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import image_layout
from pixelmill.operators.dali import CLOSE
from pixelmill.operators.declare import PerSample, Tensor, operator
from pixelmill.steps.pixels import BrightnessContrast, ColorSpace, ColorTwist, Space
from pixelmill.types import (
    BGR,
    FLOAT,
    FLOAT16,
    GRAY,
    INT16,
    INT32,
    RGB,
    UINT8,
    DALIDataType,
    DALIImageType,
    YCbCr,
)

FRAMES = ("HWC", "FHWC", "DHWC")
SPACES: dict[DALIImageType, Space] = {RGB: "rgb", BGR: "bgr", GRAY: "gray", YCbCr: "ycbcr"}


def check_layout(name: str, layout: str, allowed: Sequence[str]) -> None:
    """Refuse pictures whose axes an operator cannot work with; no layout at all is left to the run."""
    if layout and layout not in allowed:
        raise ArgumentError(f"{name}: the axes of the input must be {' or '.join(allowed)}, got {layout}")


def check_dtype(name: str, dtype: DALIDataType | None, allowed: Sequence[DALIDataType]) -> None:
    """Raise an ArgumentError for types that the operator does not support; None is that of the input."""
    if dtype is not None and dtype not in allowed:
        raise ArgumentError(f"{name}: dtype must be {', '.join(kind.name for kind in allowed)}, got {dtype.name}")


def _brightness_contrast(
    name: str,
    data: Tensor,
    *,
    brightness: Tensor | None = None,
    brightness_shift: Tensor | None = None,
    contrast: Tensor | None = None,
    contrast_center: Tensor | None = None,
    dtype: DALIDataType | None,
) -> Tensor:
    check_layout(name, data.layout, FRAMES)
    check_dtype(name, dtype, (UINT8, INT16, INT32, FLOAT))
    return BrightnessContrast(
        image=data,
        brightness=brightness,
        brightness_shift=brightness_shift,
        contrast=contrast,
        contrast_center=contrast_center,
        name=name,
        layout=data.layout,
        dtype=dtype,
    ).value(image_layout(data.layout))


@operator("brightness", tolerance=CLOSE)
def brightness(
    data: Tensor,
    *,
    brightness: PerSample[float] = 1.0,
    brightness_shift: PerSample[float] = 0.0,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Change the brightness: `brightness_shift * range + brightness * x`.

    Args:
        data: Pictures.
        brightness: What every value is multiplied with.
        brightness_shift: What is added, as a share of the largest value of the result's type, or of 1 for floats.
        dtype: Type of the result, that of `data` when left out.
    """
    return _brightness_contrast(
        "brightness", data, brightness=brightness, brightness_shift=brightness_shift, dtype=dtype
    )


@operator("contrast", tolerance=CLOSE)
def contrast(
    data: Tensor,
    *,
    contrast: PerSample[float] = 1.0,
    contrast_center: PerSample[float] | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Change the contrast: `contrast_center + contrast * (x - contrast_center)`.

    Args:
        data: Pictures.
        contrast: How far values are moved away from the centre; 0 gives a plain gray.
        contrast_center: The value that stays, as it stands in `data`: half the range of its type when left out, which
            is 128 for uint8, 16384 for int16 and 0.5 for float.
        dtype: Type of the result, that of `data` when left out.
    """
    return _brightness_contrast("contrast", data, contrast=contrast, contrast_center=contrast_center, dtype=dtype)


@operator("brightness_contrast", tolerance=CLOSE)
def brightness_contrast(
    data: Tensor,
    *,
    brightness: PerSample[float] = 1.0,
    brightness_shift: PerSample[float] = 0.0,
    contrast: PerSample[float] = 1.0,
    contrast_center: PerSample[float] | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Change brightness and contrast: `brightness_shift * range + brightness * (c + contrast * (x - c))`.

    Here `c` is `contrast_center`, and the range is the largest value of the result's type, or 1 for floats.

    Args:
        data: Pictures.
        brightness: What every value is multiplied with.
        brightness_shift: What is added, as a share of the range.
        contrast: How far values are moved away from the centre; 0 gives a plain gray.
        contrast_center: The value that stays, as it stands in `data`: half the range of its type when left out, which
            is 128 for uint8, 16384 for int16 and 0.5 for float.
        dtype: Type of the result, that of `data` when left out.
    """
    return _brightness_contrast(
        "brightness_contrast",
        data,
        brightness=brightness,
        brightness_shift=brightness_shift,
        contrast=contrast,
        contrast_center=contrast_center,
        dtype=dtype,
    )


def _twist(
    name: str,
    data: Tensor,
    *,
    hue: Tensor | None = None,
    saturation: Tensor | None = None,
    value: Tensor | None = None,
    brightness: Tensor | None = None,
    contrast: Tensor | None = None,
    dtype: DALIDataType | None,
) -> Tensor:
    check_layout(name, data.layout, FRAMES)
    check_dtype(name, dtype, (UINT8, INT16, INT32, FLOAT16, FLOAT))
    return ColorTwist(
        image=data,
        hue=hue,
        saturation=saturation,
        hsv_value=value,
        brightness=brightness,
        contrast=contrast,
        name=name,
        layout=data.layout,
        dtype=dtype,
    ).value(image_layout(data.layout))


@operator("hue", tolerance=CLOSE, ignored=("image_type",))
def hue(
    data: Tensor,
    *,
    hue: PerSample[float] = 0.0,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Turn the hue of pictures.

    Args:
        data: Pictures in red, green and blue.
        hue: By how many degrees.
        dtype: Type of the result, that of `data` when left out.
    """
    return _twist("hue", data, hue=hue, dtype=dtype)


@operator("saturation", tolerance=CLOSE, ignored=("image_type",))
def saturation(
    data: Tensor,
    *,
    saturation: PerSample[float] = 1.0,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Change the saturation of pictures.

    Args:
        data: Pictures in red, green and blue.
        saturation: What the saturation is multiplied with; 0 leaves gray.
        dtype: Type of the result, that of `data` when left out.
    """
    return _twist("saturation", data, saturation=saturation, dtype=dtype)


@operator("hsv", tolerance=CLOSE)
def hsv(
    data: Tensor,
    *,
    hue: PerSample[float] = 0.0,
    saturation: PerSample[float] = 1.0,
    value: PerSample[float] = 1.0,
    dtype: DALIDataType = UINT8,
) -> Tensor:
    """Change hue, saturation and brightness of pictures, by one linear transform of their colours.

    Args:
        data: Pictures in red, green and blue.
        hue: By how many degrees the hue is turned.
        saturation: What the saturation is multiplied with.
        value: What the brightness is multiplied with.
        dtype: Type of the result; uint8 when left out, whatever the type of `data` is.
    """
    return _twist("hsv", data, hue=hue, saturation=saturation, value=value, dtype=dtype)


@operator("color_twist", tolerance=CLOSE, ignored=("image_type",))
def color_twist(
    data: Tensor,
    *,
    hue: PerSample[float] = 0.0,
    saturation: PerSample[float] = 1.0,
    contrast: PerSample[float] = 1.0,
    brightness: PerSample[float] = 1.0,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Change hue, saturation, contrast and brightness at once, with no rounding in between.

    Args:
        data: Pictures in red, green and blue.
        hue: By how many degrees the hue is turned.
        saturation: What the saturation is multiplied with.
        contrast: How far values are moved away from the centre: 128, or 0.5 for floats.
        brightness: What every value is multiplied with.
        dtype: Type of the result, that of `data` when left out.
    """
    return _twist(
        "color_twist", data, hue=hue, saturation=saturation, contrast=contrast, brightness=brightness, dtype=dtype
    )


@operator("color_space_conversion", tolerance=CLOSE)
def color_space_conversion(data: Tensor, *, image_type: DALIImageType, output_type: DALIImageType) -> Tensor:
    """Change how colours are told: RGB, BGR, GRAY, or YCbCr of BT.601 with its luminance from 16 to 235.

    Args:
        data: Pictures of type uint8.
        image_type: How colours are told now.
        output_type: How they shall be told.
    """
    check_layout("color_space_conversion", data.layout, (*FRAMES, "FDHWC"))
    for name, kind in (("image_type", image_type), ("output_type", output_type)):
        if kind not in SPACES:
            raise ArgumentError(f"color_space_conversion: {name} must be RGB, BGR, GRAY or YCbCr, got ANY_DATA")
    if image_type == output_type:
        raise ArgumentError(f"color_space_conversion: image_type and output_type are both {image_type.name}")
    source, target = SPACES[image_type], SPACES[output_type]
    return ColorSpace(image=data, layout=data.layout, source=source, target=target).value(image_layout(data.layout))
