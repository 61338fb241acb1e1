"""Filters: what a pixel becomes depends on its neighbours."""

from __future__ import annotations

from typing import Annotated, Literal

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import image_layout
from pixelmill.operators.dali import CLOSE, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.steps.pixels import Border, Filter, GaussianBlur, Laplacian, MedianBlur
from pixelmill.steps.sources import constant_numbers
from pixelmill.types import DALIDataType


def space(name: str, layout: str) -> str:
    """Give the axes of space of a layout: what is left without frames and channels in front and channels at the end.

    Without a layout, an operator of this module takes all axes for space, as DALI does.
    """
    left = layout.lstrip("FC").removesuffix("C")
    if layout and (not 1 <= len(left) <= 3 or set(left) & set("FC")):
        raise ArgumentError(f"{name}: channels must be the first or the last of 1 to 3 axes of space, got {layout}")
    return left


def check_window(name: str, argument: str, given: Tensor | None, layout: str, low: int, high: int) -> None:
    """Refuse constant sizes of windows that are even, or too small or large, or too many."""
    sizes = [int(size) for size in constant_numbers(given) or ()]
    if any(size % 2 == 0 or not low <= size <= high for size in sizes):
        raise ArgumentError(f"{name}: {argument} must be odd and from {low} to {high}, got {sizes}")
    check_count(name, argument, given, layout)


def check_count(name: str, argument: str, given: Tensor | None, layout: str) -> None:
    """Refuse constants that are neither one nor one for each axis of space."""
    values = constant_numbers(given)
    if values is None or not layout:
        return
    axes = space(name, layout)
    if len(values) not in (1, len(axes)):
        raise ArgumentError(
            f"{name}: {argument} must be one number or {len(axes)}, one for each of {axes}; got {len(values)}"
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
    """Blur pictures or volumes with a Gaussian bell; beyond the edges they are mirrored.

    Frames and channels are not blurred together; without a layout, all axes are.

    Args:
        data: Pictures, volumes or single rows, of any type.
        sigma: Width of the bell in pixels, one for all axes of space or one for each. 0 stands for the one that fits
            the window: `0.3 * ((window_size - 1) / 2 - 1) + 0.8`.
        window_size: How many pixels the bell is cut to, an odd number. 0 stands for `2 * ceil(3 * sigma) + 1`.
        dtype: Type of the result: that of `data`, or FLOAT.
    """
    space("gaussian_blur", data.layout)
    widths, sizes = constant_numbers(sigma), constant_numbers(window_size)
    if widths is not None and sizes is not None and not any(widths) and not any(sizes):
        raise ArgumentError("gaussian_blur: sigma or window_size must be given, and above 0")
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
    """Add up the second derivatives along all axes of space; beyond the edges data are mirrored.

    Args:
        data: Pictures, volumes or single rows.
        window_size: How many pixels a derivative is taken over: odd, from 3 to 23, one for all axes or one for each.
        smoothing_size: How many pixels are smoothed over along the other axes: odd, from 1, which smooths nothing, to
            23; that of the derivative when left out.
        scale: What each derivative is multiplied with, one number for all or one for each; 1 when left out.
        normalized_kernel: Scale each derivative so that its weights do not grow with the windows.
        dtype: Type of the result: that of `data`, or FLOAT.
    """
    space("laplacian", data.layout)
    check_window("laplacian", "window_size", window_size, data.layout, 3, LARGEST_LAPLACIAN)
    check_window("laplacian", "smoothing_size", smoothing_size, data.layout, 1, LARGEST_LAPLACIAN)
    check_count("laplacian", "scale", scale, data.layout)
    if normalized_kernel and scale is not None:
        raise ArgumentError("laplacian: scale and normalized_kernel exclude each other")
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
    """Weigh every pixel with its neighbours by a filter of two dimensions, which is not mirrored (a correlation).

    Args:
        data: Pictures.
        filter: The weights, rows of columns; for frames, one filter for all or one for each.
        fill_value: What lies beyond the edges with `border="constant"`; 0 when left out.
        anchor: The place of the filter that lies over the pixel, row and column; -1 is its middle.
        border: What lies beyond the edges: `"reflect_101"` (dcb|abcd|cba), `"reflect_1001"` (cba|abcd|dcb),
            `"clamp"` (aaa|abcd|ddd), `"wrap"` (bcd|abcd|abc) or `"constant"`.
        mode: `"same"` keeps the size, `"valid"` leaves out the places where the filter passes the edges.
        dtype: Type of the result: that of `data`, or FLOAT.
    """
    if data.layout and len(space("filter", data.layout)) != 2:
        raise ArgumentError(f"filter: two axes of space are needed, got {data.layout}")
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
    """Replace every pixel by the median of its neighbours; beyond the edges the outermost pixels are repeated.

    Args:
        data: Pictures.
        window_size: Height and width of the neighbourhood, odd and up to 255; one number for both.
    """
    if data.layout and len(space("experimental.median_blur", data.layout)) != 2:
        raise ArgumentError(f"experimental.median_blur: two axes of space are needed, got {data.layout}")
    check_window("experimental.median_blur", "window_size", window_size, data.layout or "HWC", 1, LARGEST_MEDIAN)
    layout = image_layout(data.layout)
    return MedianBlur(image=data, window_size=window_size, layout=layout).value(layout)
