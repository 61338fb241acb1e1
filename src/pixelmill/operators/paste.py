"""Pictures on larger canvases: one in the middle of nothing, or parts of several side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, cast

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import image_layout
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.operators.regions import paste_batch, pick_batch
from pixelmill.steps.batch import callback
from pixelmill.steps.elements import Cast
from pixelmill.steps.pixels import MultiPaste, Paste
from pixelmill.steps.sources import constant, constant_numbers
from pixelmill.types import DALIDataType

PLACES = ("in_anchors", "in_anchors_rel", "shapes", "shapes_rel", "out_anchors", "out_anchors_rel")


def _check_picture(name: str, data: Tensor) -> str:
    layout = image_layout(data.layout)
    if layout != "HWC":
        raise ArgumentError(f"{name}: pictures must have the axes 'HWC', got {data.layout!r}")
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
    """Put pictures onto larger canvases.

    Args:
        data: Pictures.
        fill_value: The colour of the canvas, one value or one for each channel.
        ratio: How much larger the canvas is than the picture.
        n_channels: How many values `fill_value` has.
        paste_x: Where the picture lies: 0 at the left, 1 at the right.
        paste_y: Where it lies: 0 at the top, 1 at the bottom.
        min_canvas_size: The least height and width of the canvas.
    """
    layout = _check_picture("paste", data)
    if n_channels is not None and len(fill_value) not in (1, n_channels):
        raise ArgumentError(f"paste: fill_value must be one value or {n_channels}, got {len(fill_value)}")
    colour = constant(fill_value, np.float64)
    return Paste(
        image=data, fill_value=colour, ratio=ratio, paste_x=paste_x, paste_y=paste_y, min_canvas_size=min_canvas_size
    ).value(layout)


def _count_parts(inputs: int, in_ids: Tensor | None, given: Mapping[str, Tensor | None]) -> int | None:
    """Check the arguments of `multi_paste`, and tell how many parts a canvas has; None when only the samples know.

    A canvas needs other samples of the batch, which a program of one sample does not see. They are handed to it where
    it is known how many there are; else the whole work is done between two programs.
    """
    for name in ("in_anchors", "shapes", "out_anchors"):
        if given[name] is not None and given[f"{name}_rel"] is not None:
            raise ArgumentError(f"multi_paste: {name} and {name}_rel exclude each other")
    if in_ids is not None and inputs > 1:
        raise ArgumentError("multi_paste: in_ids chooses from the batch of one input; leave the other inputs out")
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
    """Put parts of several pictures onto one canvas; later ones lie on earlier ones, and the rest is 0.

    The pictures are the inputs, or, with `in_ids`, samples of one input's batch.

    Args:
        data: Pictures, one of each input for a canvas.
        in_ids: Which samples of the batch are put onto a canvas.
        output_size: Height and width of the canvas, those of the pictures when left out.
        in_anchors: Where the parts begin in their pictures: two numbers (y, x) for each.
        in_anchors_rel: The same as shares of the pictures.
        shapes: Height and width of the parts; they reach to the end of their pictures when left out.
        shapes_rel: The same as shares of the pictures.
        out_anchors: Where the parts are put on the canvas.
        out_anchors_rel: The same as shares of the canvas.
        dtype: Type of the result, that of the pictures when left out.
    """
    (layout,) = {_check_picture("multi_paste", picture) for picture in data}
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
