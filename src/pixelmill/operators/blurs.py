"""Blurs and edge filters whose kernels follow from a few numbers, images seen through glass, superpixels."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pixelmill.operators.color import check_layout
from pixelmill.operators.crop import image_layout
from pixelmill.operators.declare import PerSample, Range, Tensor, operator
from pixelmill.operators.filters import filter
from pixelmill.operators.filters import gaussian_blur as blur
from pixelmill.operators.resize import resize
from pixelmill.steps.effects import BoxBlur, FillSuperpixels, FilterKernel, KernelShape, ScatterPixels, ZoomBlur
from pixelmill.steps.elements import Arithmetic, Cast
from pixelmill.steps.shapes import Shape, SpatialShape
from pixelmill.steps.sources import constant
from pixelmill.steps.step import Expr, operator_key
from pixelmill.types import FLOAT, INTERP_NN


def _filtered(name: str, data: Tensor, shape: KernelShape, *numbers: Tensor) -> Tensor:
    check_layout(name, data.layout, ("HWC", "FHWC"))
    kernel = FilterKernel(numbers=numbers, shape=shape).value()
    named = Expr(data.step, data.index, image_layout(data.layout))  # without a layout, all axes would be spatial
    return filter(named, kernel, anchor=constant([-1], "int64"))


@operator("box_blur", dali=None)
def box_blur(data: Tensor, *, size: PerSample[Annotated[int, Range(1, 255)]] = 3) -> Tensor:
    """Blur with a square of equal weights; the border is reflected.

    Args:
        data: Images of type uint8.
        size: Side of the square in pixels; even sizes are enlarged by one.
    """
    check_layout("box_blur", data.layout, ("HWC",))
    return BoxBlur(image=data, size=size).value(image_layout(data.layout))


@operator("motion_blur", dali=None)
def motion_blur(
    data: Tensor,
    *,
    size: PerSample[Annotated[int, Range(1, 255)]] = 7,
    angle: PerSample[float] = 0.0,
    direction: PerSample[Annotated[float, Range(-1, 1)]] = 0.0,
) -> Tensor:
    """Blur along a line, as if the camera moved; the border is reflected.

    Args:
        data: Images.
        size: Length of the line in pixels; even sizes are enlarged by one.
        angle: Angle of the line in degrees, counterclockwise.
        direction: How much one end of the line weighs more than the other, from -1 to 1.
    """
    return _filtered("motion_blur", data, "motion", size, angle, direction)


@operator("defocus", dali=None)
def defocus(data: Tensor, *, radius: PerSample[Annotated[float, Range(0, 100)]] = 3.0) -> Tensor:
    """Blur with a disk, like a lens out of focus; the border is reflected.

    Args:
        data: Images.
        radius: Radius of the disk in pixels.
    """
    return _filtered("defocus", data, "disk", radius)


@operator("sharpen", dali=None)
def sharpen(
    data: Tensor,
    *,
    alpha: PerSample[Annotated[float, Range(0, 1)]] = 0.3,
    lightness: PerSample[float] = 1.0,
) -> Tensor:
    """Sharpen edges.

    Args:
        data: Images.
        alpha: The share of the sharpened image in the result.
        lightness: How much of the image itself is in the sharpened one.
    """
    return _filtered("sharpen", data, "sharpen", alpha, lightness)


@operator("emboss", dali=None)
def emboss(
    data: Tensor,
    *,
    alpha: PerSample[Annotated[float, Range(0, 1)]] = 0.3,
    strength: PerSample[float] = 0.5,
) -> Tensor:
    """Raise edges as if they were lit from the upper left.

    Args:
        data: Images.
        alpha: The share of the embossed image in the result.
        strength: How much edges are raised.
    """
    return _filtered("emboss", data, "emboss", alpha, strength)


@operator("zoom_blur", dali=None)
def zoom_blur(
    data: Tensor, *, factor: PerSample[Annotated[float, Range(1)]] = 1.1, samples: Annotated[int, Range(2, 64)] = 8
) -> Tensor:
    """Blur as if the lens zoomed in: average the image with enlarged copies of it.

    Args:
        data: Images of type uint8.
        factor: How much the largest copy is enlarged.
        samples: How many copies, the image included.
    """
    check_layout("zoom_blur", data.layout, ("HWC",))
    return ZoomBlur(image=data, factor=factor, samples=samples).value(image_layout(data.layout))


@operator("glass_blur", draws=True, dali=None)
def glass_blur(
    data: Tensor,
    *,
    sigma: PerSample[Annotated[float, Range(0)]] = 0.7,
    distance: PerSample[Annotated[int, Range(0, 100)]] = 4,
) -> Tensor:
    """Blur as if seen through rough glass: each pixel comes from a random neighbor, blurred.

    Args:
        data: Images.
        sigma: Standard deviation of the blur in pixels.
        distance: The farthest that a pixel comes from, along each axis.
    """
    check_layout("glass_blur", data.layout, ("HWC",))
    layout = image_layout(data.layout)
    scattered = ScatterPixels(image=data, distance=distance, key=operator_key()).value(layout)
    return blur(scattered, sigma=sigma, window_size=constant([0], "int64"))


@operator("superpixels", draws=True, dali=None)
def superpixels(
    data: Tensor,
    *,
    segments: PerSample[Annotated[int, Range(1, 100_000)]] = 100,
    probability: PerSample[Annotated[float, Range(0, 1)]] = 0.1,
) -> Tensor:
    """Fill random superpixels, segments of neighboring pixels of similar color, with their mean color.

    Segments are found by SLIC on RGB colors. Their centers and mean colors come from a sample of about 64 pixels each.

    Args:
        data: Images of type uint8.
        segments: The number of segments, approximately.
        probability: The probability that a segment is filled.
    """
    check_layout("superpixels", data.layout, ("HWC",))
    filled = FillSuperpixels(image=data, segments=segments, probability=probability, key=operator_key())
    return filled.value(image_layout(data.layout))


@operator("downscale", dali=None)
def downscale(data: Tensor, *, scale: PerSample[Annotated[float, Range(0, 1, low_open=True)]] = 0.25) -> Tensor:
    """Lose detail: reduce images and enlarge them again, both with nearest neighbors.

    Args:
        data: Images.
        scale: Size of the reduced image as a fraction.
    """
    check_layout("downscale", data.layout, ("HWC",))
    layout = image_layout(data.layout)
    extents = Cast(data=SpatialShape(shape=Shape(data=data).value(), layout=layout).value(), dtype=FLOAT).value()
    least = constant(1.0)
    small = Arithmetic(
        operands=(Arithmetic(operands=(extents, scale), operation="mul").value(), least), operation="max"
    ).value()
    nearest: dict[str, Any] = {"interp_type": constant(int(INTERP_NN), "int64"), "antialias": False}
    named = Expr(data.step, data.index, layout)
    reduced = cast("Tensor", resize(named, size=small, **nearest))
    return cast("Tensor", resize(reduced, size=extents, **nearest))
