"""Neighborhood filters: blurs, derivatives and correlation."""

from __future__ import annotations

from typing import Annotated, Literal

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import image_layout
from pixelmill.operators.dali import CLOSE, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.steps.pixels import Border, Filter, GaussianBlur, Laplacian, MedianBlur
from pixelmill.steps.sources import constant_numbers
from pixelmill.types import DALIDataType


def spatial_layout(name: str, layout: str) -> str:
    """Return the spatial axes of a layout: all but leading frames and leading or trailing channels.

    Without a layout, the operators of this module treat all axes as spatial, as DALI does.
    """
    left = layout.lstrip("FC").removesuffix("C")
    if layout and (not 1 <= len(left) <= 3 or set(left) & set("FC")):
        raise ArgumentError(f"{name}: channels must be the first or last axis beside 1 to 3 spatial axes, got {layout}")
    return left


def check_window(name: str, argument: str, given: Tensor | None, layout: str, low: int, high: int) -> None:
    """Raise ArgumentError if a constant window size is even, out of range, or has the wrong length."""
    sizes = [int(size) for size in constant_numbers(given) or ()]
    if any(size % 2 == 0 or not low <= size <= high for size in sizes):
        raise ArgumentError(f"{name}: {argument} must be odd and from {low} to {high}, got {sizes}")
    check_count(name, argument, given, layout)


def check_count(name: str, argument: str, given: Tensor | None, layout: str) -> None:
    """Raise ArgumentError unless a constant has one number, or one per spatial axis."""
    values = constant_numbers(given)
    if values is None or not layout:
        return
    axes = spatial_layout(name, layout)
    if len(values) not in (1, len(axes)):
        raise ArgumentError(
            f"{name}: {argument} must be one number or {len(axes)}, one per axis of {axes}; got {len(values)}"
        )


LARGEST_BLUR = 65535
LARGEST_LAPLACIAN = 23


@operator("gaussian_blur", tolerance=CLOSE)
def gaussian_blur(
    data: Tensor,
    *,
    sigma: PerSample[Annotated[Floats, Range(0)]] = [0.0],  # noqa: B006 - never changed
    window_size: PerSample[Annotated[Ints, Range(0)]] = [0],  # noqa: B006
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Blur images or volumes with a Gaussian kernel; the border is reflected.

    Frames and channels are blurred separately. Without a layout, all axes are blurred.

    Args:
        data: Images, volumes or single rows, of any type.
        sigma: Standard deviation in pixels: one, or one per spatial axis. 0 derives it from the window size:
            `0.3 * ((window_size - 1) / 2 - 1) + 0.8`.
        window_size: Diameter of the kernel in pixels, an odd number. 0 derives it from sigma:
            `2 * ceil(3 * sigma) + 1`.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
    """
    spatial_layout("gaussian_blur", data.layout)
    widths, sizes = constant_numbers(sigma), constant_numbers(window_size)
    if widths is not None and sizes is not None and not any(widths) and not any(sizes):
        raise ArgumentError("gaussian_blur: sigma or window_size must be specified and above 0")
    if sizes is not None and all(sizes):
        check_window("gaussian_blur", "window_size", window_size, data.layout, 1, LARGEST_BLUR)
    check_count("gaussian_blur", "sigma", sigma, data.layout)
    check_count("gaussian_blur", "window_size", window_size, data.layout)
    return GaussianBlur(image=data, sigma=sigma, window_size=window_size, layout=data.layout, dtype=dtype).value(
        data.layout
    )


@operator("laplacian", tolerance=CLOSE)
def laplacian(
    data: Tensor,
    *,
    window_size: PerSample[Ints] = [3],  # noqa: B006 - never changed
    smoothing_size: PerSample[Ints] | None = None,
    scale: PerSample[Floats] | None = None,
    normalized_kernel: bool = False,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Compute the Laplacian: the sum of second derivatives along the spatial axes; the border is reflected.

    Args:
        data: Images, volumes or single rows.
        window_size: Size of the derivative kernel: odd, from 3 to 23; one for all axes, or one per axis.
        smoothing_size: Size of the smoothing kernel along the other axes: odd, from 1 (no smoothing) to 23; that of the
            derivative if None.
        scale: Factor for each derivative: one for all, or one per axis; 1 if None.
        normalized_kernel: Whether to scale the derivatives so that their weights do not grow with the window size.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
    """
    spatial_layout("laplacian", data.layout)
    check_window("laplacian", "window_size", window_size, data.layout, 3, LARGEST_LAPLACIAN)
    check_window("laplacian", "smoothing_size", smoothing_size, data.layout, 1, LARGEST_LAPLACIAN)
    check_count("laplacian", "scale", scale, data.layout)
    if normalized_kernel and scale is not None:
        raise ArgumentError("laplacian: scale and normalized_kernel are mutually exclusive")
    return Laplacian(
        image=data,
        window_size=window_size,
        smoothing_size=smoothing_size,
        scale=scale,
        layout=data.layout,
        dtype=dtype,
        normalized=normalized_kernel,
    ).value(data.layout)


@operator("filter", tolerance=CLOSE)
def filter(
    data: Tensor,
    filter: Tensor,
    fill_value: Tensor | None = None,
    *,
    anchor: PerSample[Annotated[Ints, Range(-1)]] = [-1],  # noqa: B006 - never changed
    border: Border = "reflect_101",
    mode: Literal["same", "valid"] = "same",
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Apply a 2D filter to images (correlation: the filter is not flipped).

    Args:
        data: Images.
        filter: The weights, row by row; for frames, one filter for all or one per frame.
        fill_value: The border value for `border="constant"`; 0 if None.
        anchor: The element of the filter that lies over the pixel, row and column; -1 is the center.
        border: Border handling: `"reflect_101"` (dcb|abcd|cba), `"reflect_1001"` (cba|abcd|dcb), `"clamp"`
            (aaa|abcd|ddd), `"wrap"` (bcd|abcd|abc) or `"constant"`.
        mode: `"same"` keeps the size; `"valid"` drops positions where the filter extends beyond the image.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
    """
    if data.layout and len(spatial_layout("filter", data.layout)) != 2:
        raise ArgumentError(f"filter: needs exactly two spatial axes, got {data.layout}")
    check_count("filter", "anchor", anchor, data.layout)
    return Filter(
        image=data,
        filter=filter,
        fill_value=fill_value,
        anchor=anchor,
        layout=data.layout,
        dtype=dtype,
        border=border,
        valid=mode == "valid",
    ).value(data.layout)


operator("experimental.filter", tolerance=CLOSE)(filter)


LARGEST_MEDIAN = 255


@operator("experimental.median_blur", aliases=("MedianBlur",), dali=DaliCall(devices=("gpu",)))
def median_blur(data: Tensor, *, window_size: PerSample[Ints] = [3, 3]) -> Tensor:  # noqa: B006 - never changed
    """Apply a median filter; the border pixels are repeated.

    Args:
        data: Images.
        window_size: Height and width of the window in pixels, odd and up to 255; one number for both.
    """
    if data.layout and len(spatial_layout("experimental.median_blur", data.layout)) != 2:
        raise ArgumentError(f"experimental.median_blur: needs exactly two spatial axes, got {data.layout}")
    check_window("experimental.median_blur", "window_size", window_size, data.layout or "HWC", 1, LARGEST_MEDIAN)
    layout = image_layout(data.layout)
    return MedianBlur(image=data, window_size=window_size, layout=layout).value(layout)
