"""Paste images onto a canvas: one image on a larger one, or regions of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, cast

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import image_layout
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.operators.paste_callbacks import paste_batch, pick_batch
from pixelmill.steps.batch import callback
from pixelmill.steps.elements import Cast
from pixelmill.steps.pixels import MultiPaste, Paste
from pixelmill.steps.sources import constant, constant_numbers
from pixelmill.types import DALIDataType

PLACES = ("in_anchors", "in_anchors_rel", "shapes", "shapes_rel", "out_anchors", "out_anchors_rel")


def _check_layout(name: str, data: Tensor) -> str:
    layout = image_layout(data.layout)
    if layout != "HWC":
        raise ArgumentError(f"{name}: the layout of images must be 'HWC', got {data.layout!r}")
    return layout


@operator("paste")
def paste(
    data: Tensor,
    *,
    fill_value: Floats,
    ratio: PerSample[Annotated[float, Range(1)]],
    n_channels: int | None = None,
    paste_x: PerSample[Annotated[float, Range(0, 1)]] = 0.5,
    paste_y: PerSample[Annotated[float, Range(0, 1)]] = 0.5,
    min_canvas_size: PerSample[Annotated[float, Range(0)]] = 0.0,
) -> Tensor:
    """Paste images onto a larger canvas.

    Args:
        data: Images.
        fill_value: Color of the canvas: one value, or one per channel.
        ratio: Size of the canvas relative to the image; at least 1.
        n_channels: Number of values in `fill_value`.
        paste_x: Horizontal position of the image on the canvas: 0 is the left edge, 1 the right edge.
        paste_y: Vertical position of the image on the canvas: 0 is the top edge, 1 the bottom edge.
        min_canvas_size: Minimum height and width of the canvas, in pixels.
    """
    layout = _check_layout("paste", data)
    if n_channels is not None and len(fill_value) not in (1, n_channels):
        raise ArgumentError(f"paste: fill_value must be one value or {n_channels}, got {len(fill_value)}")
    color = constant(fill_value, np.float64)
    return Paste(
        image=data, fill_value=color, ratio=ratio, paste_x=paste_x, paste_y=paste_y, min_canvas_size=min_canvas_size
    ).value(layout)


def _count_parts(inputs: int, in_ids: Tensor | None, given: Mapping[str, Tensor | None]) -> int | None:
    """Check the arguments of `multi_paste` and return the number of regions, or None if only the samples know it.

    A canvas takes other samples of the batch, which the program of one sample does not see. If their number is known,
    they become inputs of that program; otherwise a callback on the whole batch does all the work.
    """
    for name in ("in_anchors", "shapes", "out_anchors"):
        if given[name] is not None and given[f"{name}_rel"] is not None:
            raise ArgumentError(f"multi_paste: {name} and {name}_rel are mutually exclusive")
    if in_ids is not None and inputs > 1:
        raise ArgumentError("multi_paste: in_ids selects from the batch of a single input; got several inputs")
    numbers = {name: len(constant_numbers(value) or []) for name, value in given.items()}
    ids = constant_numbers(in_ids)
    guessed = next((length // 2 for length in numbers.values() if length > 1), None)
    count = inputs if in_ids is None else guessed if ids is None else len(ids)
    for name, length in numbers.items():
        if count is not None and length > 1 and length != 2 * count:
            raise ArgumentError(f"multi_paste: {name} must be {2 * count} numbers for {count} parts, got {length}")
    return count


@operator("multi_paste")
def multi_paste(
    *data: Tensor,
    in_ids: PerSample[Ints] | None = None,
    output_size: PerSample[Ints] | None = None,
    in_anchors: PerSample[Ints] | None = None,
    in_anchors_rel: PerSample[Floats] | None = None,
    shapes: PerSample[Ints] | None = None,
    shapes_rel: PerSample[Floats] | None = None,
    out_anchors: PerSample[Ints] | None = None,
    out_anchors_rel: PerSample[Floats] | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Paste regions of several images onto one canvas, in order; uncovered pixels are 0.

    The images are the inputs or, with `in_ids`, samples of the batch of a single input.

    Args:
        data: Images; one of each input per canvas.
        in_ids: The indices of the samples to paste onto each canvas.
        output_size: Height and width of the canvas in pixels; those of the images if None.
        in_anchors: Start of each region in its image, as (y, x) in pixels.
        in_anchors_rel: The same as fractions of the image size.
        shapes: Height and width of each region in pixels; up to the end of the image if None.
        shapes_rel: The same as fractions of the image size.
        out_anchors: Position of each region on the canvas, as (y, x) in pixels.
        out_anchors_rel: The same as fractions of the canvas size.
        dtype: Type of the result; that of the images if None.
    """
    (layout,) = {_check_layout("multi_paste", image) for image in data}
    values = (in_anchors, in_anchors_rel, shapes, shapes_rel, out_anchors, out_anchors_rel)
    given = cast("dict[str, Tensor | None]", dict(zip(PLACES, values, strict=True)))
    count = _count_parts(len(data), in_ids, given)
    if in_ids is not None and count is None:
        places = {name: value for name, value in ({"output_size": output_size} | given).items() if value is not None}
        function = paste_batch(tuple(places))
        (canvas,) = callback(function, data[0], in_ids, *places.values(), layouts=(layout,))
        return canvas if dtype is None else Cast(data=canvas, dtype=dtype).value(layout)
    if in_ids is not None and count is not None:
        data = callback(pick_batch(count), data[0], in_ids, layouts=(layout,) * count)
    return MultiPaste(output_size=output_size, **given, images=data, dtype=dtype).value(layout)
