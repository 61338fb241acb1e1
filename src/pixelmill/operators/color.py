"""Brightness, contrast, hue, saturation and color spaces."""

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
    """Raise ArgumentError for layouts that the operator does not support; an empty layout is checked at run time."""
    if layout and layout not in allowed:
        raise ArgumentError(f"{name}: the layout of the input must be {' or '.join(allowed)}, got {layout}")


def check_dtype(name: str, dtype: DALIDataType | None, allowed: Sequence[DALIDataType]) -> None:
    """Raise ArgumentError for types that the operator does not support; None keeps the type of the input."""
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
    """Adjust the brightness: `brightness_shift * range + brightness * x`.

    Args:
        data: Images.
        brightness: Factor that every value is multiplied by.
        brightness_shift: Offset, as a fraction of the range: the largest value of the result's type, or 1 for floats.
        dtype: Type of the result; that of `data` if None.
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
    """Adjust the contrast: `contrast_center + contrast * (x - contrast_center)`.

    Args:
        data: Images.
        contrast: Factor for the distance from `contrast_center`: 1 changes nothing, 0 produces a uniform gray.
        contrast_center: The value that contrast leaves unchanged. If None, half the range of the type of `data`, which
            is 128 for uint8, 16384 for int16 and 0.5 for float.
        dtype: Type of the result; that of `data` if None.
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
    """Adjust brightness and contrast: `brightness_shift * range + brightness * (c + contrast * (x - c))`.

    Here `c` is `contrast_center`, and the range is the largest value of the result's type, or 1 for floats.

    Args:
        data: Images.
        brightness: Factor that every value is multiplied by.
        brightness_shift: Offset, as a fraction of the range.
        contrast: Factor for the distance from `contrast_center`: 1 changes nothing, 0 produces a uniform gray.
        contrast_center: The value that contrast leaves unchanged. If None, half the range of the type of `data`, which
            is 128 for uint8, 16384 for int16 and 0.5 for float.
        dtype: Type of the result; that of `data` if None.
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
    """Rotate the hue of images.

    Args:
        data: RGB images.
        hue: Hue rotation in degrees.
        dtype: Type of the result; that of `data` if None.
    """
    return _twist("hue", data, hue=hue, dtype=dtype)


@operator("saturation", tolerance=CLOSE, ignored=("image_type",))
def saturation(
    data: Tensor,
    *,
    saturation: PerSample[float] = 1.0,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Adjust the saturation of images.

    Args:
        data: RGB images.
        saturation: Factor that the saturation is multiplied by; 0 produces grayscale.
        dtype: Type of the result; that of `data` if None.
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
    """Adjust hue, saturation and brightness of images with a single linear color transform.

    Args:
        data: RGB images.
        hue: Hue rotation in degrees.
        saturation: Factor that the saturation is multiplied by.
        value: Factor that the brightness is multiplied by.
        dtype: Type of the result; uint8 if None, whatever the type of `data`.
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
    """Adjust hue, saturation, contrast and brightness in one step, without intermediate rounding.

    Args:
        data: RGB images.
        hue: Hue rotation in degrees.
        saturation: Factor that the saturation is multiplied by.
        contrast: Factor for the distance from the center, which is 128, or 0.5 for floats.
        brightness: Factor that every value is multiplied by.
        dtype: Type of the result; that of `data` if None.
    """
    return _twist(
        "color_twist", data, hue=hue, saturation=saturation, contrast=contrast, brightness=brightness, dtype=dtype
    )


@operator("color_space_conversion", tolerance=CLOSE)
def color_space_conversion(data: Tensor, *, image_type: DALIImageType, output_type: DALIImageType) -> Tensor:
    """Convert between RGB, BGR, GRAY and YCbCr (BT.601 with luma from 16 to 235).

    Args:
        data: Images of type uint8.
        image_type: Color space of the input.
        output_type: Color space of the result.
    """
    check_layout("color_space_conversion", data.layout, (*FRAMES, "FDHWC"))
    for name, kind in (("image_type", image_type), ("output_type", output_type)):
        if kind not in SPACES:
            raise ArgumentError(f"color_space_conversion: {name} must be RGB, BGR, GRAY or YCbCr, got ANY_DATA")
    if image_type == output_type:
        raise ArgumentError(f"color_space_conversion: image_type and output_type are both {image_type.name}")
    source, target = SPACES[image_type], SPACES[output_type]
    return ColorSpace(image=data, layout=data.layout, source=source, target=target).value(image_layout(data.layout))
