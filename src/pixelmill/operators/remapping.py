"""Perspective warps, maps of places, and morphology."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import image_layout
from pixelmill.operators.dali import CLOSE, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.operators.filters import check_count, spatial_layout
from pixelmill.operators.geometry import warped_size
from pixelmill.steps.pixels import Border
from pixelmill.steps.remapping import Dilate, Erode, Remap, WarpPerspective
from pixelmill.steps.sources import constant_numbers
from pixelmill.types import INTERP_CUBIC, INTERP_LINEAR, INTERP_NN, DALIInterpType

Origin = Literal["corner", "center"]
BorderMode = Literal["constant", "replicate", "reflect", "reflect_101", "wrap"]

_BORDERS: dict[BorderMode, Border] = {
    "constant": "constant",
    "replicate": "clamp",
    "reflect": "reflect_1001",
    "reflect_101": "reflect_101",
    "wrap": "wrap",
}
LARGEST_MASK = 255


def _check_interpolation(name: str, interp_type: DALIInterpType) -> None:
    if interp_type not in (INTERP_NN, INTERP_LINEAR, INTERP_CUBIC):
        raise ArgumentError(
            f"{name}: interp_type must be INTERP_NN, INTERP_LINEAR or INTERP_CUBIC, got {interp_type.name}"
        )


def _image_axes(name: str, layout: str) -> str:
    """Return the layout of single images, or of frames of them."""
    found = image_layout(layout)
    if found not in ("HW", "HWC", "FHW", "FHWC"):
        raise ArgumentError(f"{name}: the layout must be HWC, HW, FHWC or FHW, got {layout!r}")
    return found


@operator("experimental.warp_perspective", tolerance=CLOSE, dali=DaliCall(cpu_inputs=(1,)))
def warp_perspective(
    data: Tensor,
    matrix_input: Tensor | None = None,
    *,
    matrix: PerSample[Floats] | None = None,
    size: PerSample[Floats] | None = None,
    interp_type: DALIInterpType = INTERP_LINEAR,
    inverse_map: bool = True,
    pixel_origin: Origin = "corner",
    border_mode: BorderMode = "constant",
    fill_value: Floats | None = None,
) -> Tensor:
    """Apply a perspective transform to images.

    Args:
        data: Images of type uint8, int16, uint16 or float, with up to four channels.
        matrix_input: The matrix as an input, one for each sample.
        matrix: 3 x 3 numbers, row by row, which map (x, y, 1).
        size: Height and width of the result; those of `data` by default.
        interp_type: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC.
        inverse_map: Whether the matrix maps the result to `data`, or `data` to the result.
        pixel_origin: Whether (0, 0) is the `"corner"` or the `"center"` of the first pixel.
        border_mode: What lies outside of `data`: `"constant"`, `"replicate"` (aaa|abcd|ddd), `"reflect"`
            (cba|abcd|dcb), `"reflect_101"` (dcb|abcd|cba) or `"wrap"` (bcd|abcd|abc).
        fill_value: The value for `border_mode="constant"`, one for all channels or one each; 0 by default.
    """
    name = "experimental.warp_perspective"
    _check_interpolation(name, interp_type)
    if matrix_input is not None and matrix is not None:
        raise ArgumentError(f"{name}: the matrix is given twice, as an input and as an argument")
    chosen = cast("Tensor | None", matrix if matrix_input is None else matrix_input)
    if chosen is None:
        raise ArgumentError(f"{name}: matrix is missing; pass it as an argument or as the second input")
    numbers = constant_numbers(chosen)
    if numbers is not None and len(numbers) != 9:
        raise ArgumentError(f"{name}: matrix must be 9 numbers (3 x 3), got {len(numbers)}")
    layout = _image_axes(name, data.layout)
    return WarpPerspective(
        image=data,
        matrix=chosen,
        size=warped_size(name, size),
        layout=layout,
        interp_type=interp_type,
        border=_BORDERS[border_mode],
        fill_value=tuple(float(value) for value in fill_value or ()),
        inverse=inverse_map,
        centered=pixel_origin == "center",
    ).value(layout)


@operator("experimental.remap", dali=DaliCall(devices=("gpu",)))
def remap(
    data: Tensor,
    mapx: Tensor,
    mapy: Tensor,
    *,
    interp: DALIInterpType = INTERP_LINEAR,
    pixel_origin: Origin = "corner",
) -> Tensor:
    """Take each pixel of the result from a place of the input: `output(x, y) = input(mapx(x, y), mapy(x, y))`.

    Pixels from outside of the input are 0.

    Args:
        data: Images of type uint8, int16, uint16 or float.
        mapx: The column of `data` for each pixel of the result, float, (height, width).
        mapy: The row of `data` for each pixel of the result.
        interp: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC.
        pixel_origin: Whether (0, 0) in the maps is the `"corner"` or the `"center"` of the first pixel.
    """
    name = "experimental.remap"
    _check_interpolation(name, interp)
    layout = _image_axes(name, data.layout)
    return Remap(
        image=data, map_x=mapx, map_y=mapy, layout=layout, interp_type=interp, centered=pixel_origin == "center"
    ).value(layout)


def _extreme(
    kind: type[Dilate] | type[Erode],
    data: Tensor,
    mask_size: Tensor,
    anchor: Tensor,
    *,
    iterations: int,
    border_mode: BorderMode,
) -> Tensor:
    name = f"experimental.{kind.__name__.lower()}"
    if data.layout and len(spatial_layout(name, data.layout)) != 2:
        raise ArgumentError(f"{name}: two axes of space are needed, got {data.layout}")
    layout = image_layout(data.layout)
    check_count(name, "mask_size", mask_size, layout)
    check_count(name, "anchor", anchor, layout)
    sizes = constant_numbers(mask_size) or []
    if any(size > LARGEST_MASK for size in sizes):
        raise ArgumentError(f"{name}: mask_size must be at most {LARGEST_MASK}, got {tuple(sizes)}")
    return kind(
        image=data,
        mask_size=mask_size,
        anchor=anchor,
        layout=layout,
        iterations=iterations,
        border=_BORDERS[border_mode],
    ).value(layout)


@operator("experimental.dilate", dali=DaliCall(devices=("gpu",)))
def dilate(
    data: Tensor,
    *,
    mask_size: PerSample[Annotated[Ints, Range(1)]] = [3, 3],  # noqa: B006 - never changed
    anchor: PerSample[Annotated[Ints, Range(-1)]] = [-1, -1],  # noqa: B006 - never changed
    iterations: Annotated[int, Range(1, 64)] = 1,
    border_mode: BorderMode = "constant",
) -> Tensor:
    """Replace every pixel by the largest value in a rectangle around it, channel by channel.

    Args:
        data: Images of type uint8, int16, uint16 or float.
        mask_size: Width and height of the rectangle, at most 255.
        anchor: The pixel of the rectangle, by column and row, that lies on the pixel of the result; -1 is the middle.
        iterations: How many times to apply the operation.
        border_mode: What lies outside of `data`, as in `experimental.warp_perspective`; with `"constant"`, pixels
            outside do not take part.
    """
    return _extreme(Dilate, data, mask_size, anchor, iterations=iterations, border_mode=border_mode)


@operator("experimental.erode", dali=DaliCall(devices=("gpu",)))
def erode(
    data: Tensor,
    *,
    mask_size: PerSample[Annotated[Ints, Range(1)]] = [3, 3],  # noqa: B006 - never changed
    anchor: PerSample[Annotated[Ints, Range(-1)]] = [-1, -1],  # noqa: B006 - never changed
    iterations: Annotated[int, Range(1, 64)] = 1,
    border_mode: BorderMode = "constant",
) -> Tensor:
    """Replace every pixel by the smallest value in a rectangle around it, channel by channel.

    Args:
        data: Images of type uint8, int16, uint16 or float.
        mask_size: Width and height of the rectangle, at most 255.
        anchor: The pixel of the rectangle, by column and row, that lies on the pixel of the result; -1 is the middle.
        iterations: How many times to apply the operation.
        border_mode: What lies outside of `data`, as in `experimental.warp_perspective`; with `"constant"`, pixels
            outside do not take part.
    """
    return _extreme(Erode, data, mask_size, anchor, iterations=iterations, border_mode=border_mode)
