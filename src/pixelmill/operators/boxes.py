"""Boxes that follow the picture: mirrored, rotated, pasted, cropped; and encoded for a detector."""

from __future__ import annotations

from typing import Annotated, Literal

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import BEFORE, NEARLY, ON_CPU
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.steps.boxes import BoxEncoder, BoxFlip, BoxPaste, BoxRotate
from pixelmill.steps.random import RandomBoxCrop, RegionCrop
from pixelmill.steps.shapes import Shape
from pixelmill.steps.sources import constant_numbers
from pixelmill.steps.step import operator_key

CORNERS, EXTENTS = ("xyXY", "xyzXYZ"), ("xyWH", "xyzWHD")


@operator("bb_flip", tolerance=NEARLY)
def bb_flip(
    boxes: Tensor, *, ltrb: bool = False, horizontal: PerSample[int] = 1, vertical: PerSample[int] = 0
) -> Tensor:
    """Mirror boxes, as `flip` mirrors the picture that they lie in.

    Args:
        boxes: Rows of four shares of the picture: x, y, width and height.
        ltrb: Whether the rows are left, top, right and bottom instead.
        horizontal: Swap left and right.
        vertical: Swap top and bottom.
    """
    layout = CORNERS[0] if ltrb else EXTENTS[0]
    return BoxFlip(boxes=boxes, horizontal=horizontal, vertical=vertical, layout=layout).value(boxes.layout)


@operator("bbox_paste", tolerance=NEARLY, class_name="BBoxPaste", dali=ON_CPU)
def bbox_paste(
    boxes: Tensor,
    *,
    ratio: PerSample[Annotated[float, Range(1)]],
    ltrb: bool = False,
    paste_x: PerSample[float] = 0.5,
    paste_y: PerSample[float] = 0.5,
) -> Tensor:
    """Move boxes as `paste` moves the picture that they lie in.

    Args:
        boxes: Rows of four shares of the picture: x, y, width and height.
        ratio: How much larger the canvas is than the picture.
        ltrb: Whether the rows are left, top, right and bottom instead.
        paste_x: Where the picture lies: 0 at the left, 1 at the right.
        paste_y: Where it lies: 0 at the top, 1 at the bottom.
    """
    return BoxPaste(boxes=boxes, ratio=ratio, paste_x=paste_x, paste_y=paste_y, ltrb=ltrb).value(boxes.layout)


@operator("bbox_rotate", tolerance=NEARLY, outputs=None, class_name="BBoxRotate", dali=ON_CPU)
def bbox_rotate(
    boxes: Tensor,
    labels: Tensor | None = None,
    *,
    angle: PerSample[float],
    input_shape: PerSample[Ints],
    bbox_layout: Literal["xyXY", "xyWH"] = "xyXY",
    bbox_normalized: bool = True,
    keep_size: bool = False,
    mode: Literal["expand", "fixed", "halfway"] = "expand",
    remove_threshold: Annotated[float, Range(0, 1)] = 0.1,
    shape_layout: str = "HW",
    size: PerSample[Floats] | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Move boxes as `rotate` moves the picture that they lie in.

    Args:
        boxes: Rows of four numbers.
        labels: A label for each box; those of boxes that leave the picture are left out.
        angle: In degrees; positive turns counter-clockwise.
        input_shape: The shape of the picture before it is rotated.
        bbox_layout: The order of the four numbers: corners, or a corner and the extents.
        bbox_normalized: Whether they are shares of the picture, or pixels.
        keep_size: Whether the rotated picture keeps its extents.
        mode: `expand` gives boxes that hold the whole rotated box, `fixed` keeps their extents, `halfway` lies between.
        remove_threshold: Leave out boxes of which a smaller share than this lies in the rotated picture.
        shape_layout: The order of `input_shape`.
        size: Height and width of the rotated picture, where they were given to `rotate`.
    """
    if keep_size and size is not None:
        raise ArgumentError("bbox_rotate: keep_size and size exclude each other")
    numbers = constant_numbers(size)
    if numbers is not None and (len(numbers) != 2 or any(not number > 0 for number in numbers)):
        raise ArgumentError(f"bbox_rotate: size must be two positive numbers (height, width), got {tuple(numbers)}")
    if "H" not in shape_layout or "W" not in shape_layout:
        raise ArgumentError(f"bbox_rotate: shape_layout must have H and W, got {shape_layout!r}")
    rotated = BoxRotate(
        boxes=boxes,
        labels=labels,
        angle=angle,
        input_shape=input_shape,
        size=size,
        layout=bbox_layout,
        normalized=bbox_normalized,
        keep_size=keep_size,
        mode=mode,
        remove_threshold=remove_threshold,
        shape_layout=shape_layout,
    )
    return rotated.value(boxes.layout) if labels is None else rotated.values(boxes.layout, labels.layout)


def _check_ranges(thresholds: list[float], aspect_ratio: list[float], scaling: list[float]) -> None:
    if not thresholds or not all(0 <= threshold <= 1 for threshold in thresholds):
        raise ArgumentError(f"random_bbox_crop: thresholds must be numbers from 0 to 1, got {thresholds}")
    if len(scaling) != 2 or not 0 <= scaling[0] <= scaling[1]:
        raise ArgumentError(f"random_bbox_crop: scaling must be a smallest and a largest extent, got {scaling}")
    pairs = list(zip(aspect_ratio[::2], aspect_ratio[1::2], strict=False))
    if len(aspect_ratio) not in (2, 6) or not all(0 <= low <= high for low, high in pairs):
        raise ArgumentError(
            f"random_bbox_crop: aspect_ratio must be a smallest and a largest, or three such pairs; got {aspect_ratio}"
        )


def _box_layout(bbox_layout: str | None, ltrb: bool | None) -> str:
    """Give the order of columns: a layout, or X or W for corners or extents of however many axes there are."""
    if bbox_layout is None:
        return "X" if ltrb or ltrb is None else "W"
    if ltrb is not None:
        raise ArgumentError("random_bbox_crop: ltrb and bbox_layout exclude each other")
    if sorted(bbox_layout) not in [sorted(known) for known in (*CORNERS, *EXTENTS)]:
        known = ", ".join((*CORNERS, *EXTENTS))
        raise ArgumentError(f"random_bbox_crop: bbox_layout must be one of {known} in any order, got {bbox_layout!r}")
    return bbox_layout


@operator("random_bbox_crop", draws=True, outputs=None, ignored=("quiet",), class_name="RandomBBoxCrop", dali=BEFORE)
def random_bbox_crop(
    boxes: Tensor,
    labels: Tensor | None = None,
    *,
    thresholds: Floats = [0.0],  # noqa: B006 - never changed
    threshold_type: Literal["iou", "overlap"] = "iou",
    aspect_ratio: Floats | None = None,
    scaling: Floats | None = None,
    allow_no_crop: bool | None = None,
    num_attempts: Annotated[int, Range(1)] = 1,
    total_num_attempts: int = -1,
    all_boxes_above_threshold: bool = True,
    bbox_prune_threshold: Annotated[float, Range(0, 1)] | None = None,
    bbox_layout: str | None = None,
    ltrb: bool | None = None,
    crop_shape: PerSample[Ints] | None = None,
    input_shape: PerSample[Ints] | None = None,
    shape_layout: str | None = None,
    output_bbox_indices: bool = False,
) -> tuple[Tensor, ...]:
    """Draw a window that keeps enough of the boxes, for `slice`; and move the boxes into it.

    Gives the first corner (x, y) and the extents (width, height) of the window, the boxes that are left, their labels
    and their numbers. A search that finds no window ends after 100000 attempts with the best one.

    Args:
        boxes: Rows of shares of the picture; four numbers, or six for volumes.
        labels: A label for each box.
        thresholds: How much of the boxes must lie in the window; one of these is drawn, then a window.
        threshold_type: How that is measured: overlap divided by union, or by the box.
        aspect_ratio: Smallest and largest width divided by height, of shares, or of pixels where `input_shape` is
            given; for volumes also width by depth and height by depth. Both are 1 when left out.
        scaling: Smallest and largest extent of the window, as shares of the picture; the whole one when left out.
        allow_no_crop: Let "the whole picture" be one more choice among the thresholds; so it is when left out.
        num_attempts: How many windows to draw before another threshold is.
        total_num_attempts: How many windows to draw in all; then the best one is taken.
        all_boxes_above_threshold: Whether every box must reach the threshold, or one.
        bbox_prune_threshold: Keep boxes of which this share is left; those whose centre is left when not given.
        bbox_layout: The order of the numbers of a box: `"xyXY"`, `"xyWH"` or a permutation; with z for volumes.
        ltrb: An older way to say `"xyXY"` or `"xyWH"`.
        crop_shape: Extents of the window in pixels, instead of shares.
        input_shape: Extents of the picture in pixels.
        shape_layout: The order of these extents, `"WH"` when left out.
        output_bbox_indices: Give the numbers of the boxes that are left.
    """
    if crop_shape is not None:
        if input_shape is None:
            raise ArgumentError("random_bbox_crop: crop_shape needs input_shape")
        if aspect_ratio is not None or scaling is not None or allow_no_crop:
            raise ArgumentError(
                "random_bbox_crop: crop_shape leaves no choice to aspect_ratio, scaling or allow_no_crop"
            )
    ratios, scales = aspect_ratio or [1.0, 1.0], scaling or [1.0, 1.0]
    _check_ranges(thresholds, ratios, scales)
    if shape_layout is not None and sorted(shape_layout) not in (["H", "W"], ["D", "H", "W"]):
        raise ArgumentError(f"random_bbox_crop: shape_layout must be WH or WHD in any order, got {shape_layout!r}")
    made = RandomBoxCrop(
        boxes=boxes,
        labels=labels,
        crop_shape=crop_shape,
        input_shape=input_shape,
        key=operator_key(),
        layout=_box_layout(bbox_layout, ltrb),
        shape_layout=shape_layout or "",
        thresholds=tuple(thresholds),
        aspect_ratio=tuple(ratios),
        scaling=tuple(scales),
        prune_threshold=bbox_prune_threshold,
        attempts=num_attempts,
        total_attempts=total_num_attempts,
        overlap=threshold_type == "overlap",
        every_box=all_boxes_above_threshold,
        allow_no_crop=crop_shape is None if allow_no_crop is None else allow_no_crop,
        output_indices=output_bbox_indices,
    )
    return made.values(*[""] * made.outputs)


@operator("roi_random_crop", draws=True, class_name="ROIRandomCrop", dali=BEFORE)
def roi_random_crop(
    data: Tensor | None = None,
    *,
    crop_shape: PerSample[Ints],
    roi_start: PerSample[Ints],
    roi_end: PerSample[Ints] | None = None,
    roi_shape: PerSample[Ints] | None = None,
    in_shape: PerSample[Ints] | None = None,
) -> Tensor:
    """Draw where a window begins that covers as much of a region as it can.

    Args:
        data: The picture, for its shape; the window does not leave it.
        crop_shape: Extents of the window.
        roi_start: Where the region begins.
        roi_end: Where it ends.
        roi_shape: Its extents, instead of its end.
        in_shape: The shape of the picture, instead of `data`.
    """
    if (roi_end is None) == (roi_shape is None):
        raise ArgumentError("roi_random_crop: give one of roi_end and roi_shape")
    if data is not None and in_shape is not None:
        raise ArgumentError("roi_random_crop: the shape is given twice, by in_shape and by the input")
    whole = in_shape if data is None else Shape(data=data).value()
    return RegionCrop(
        crop_shape=crop_shape,
        roi_start=roi_start,
        roi_end=roi_end,
        roi_shape=roi_shape,
        in_shape=whole,
        key=operator_key(),
    ).value()


@operator("box_encoder", tolerance=NEARLY, outputs=2)
def box_encoder(
    boxes: Tensor,
    labels: Tensor,
    *,
    anchors: Floats,
    criteria: Annotated[float, Range(0, 1)] = 0.5,
    offset: bool = False,
    scale: float = 1.0,
    means: Floats = [0.0, 0.0, 0.0, 0.0],  # noqa: B006 - never changed
    stds: Floats = [1.0, 1.0, 1.0, 1.0],  # noqa: B006
) -> tuple[Tensor, ...]:
    """Tell each anchor of an SSD detector which object it should find: centre and extents, and the label.

    Args:
        boxes: Rows of left, top, right and bottom.
        labels: A label for each box.
        anchors: Left, top, right and bottom of all anchors, one after the other.
        criteria: How much an anchor and a box must overlap, divided by their union, to be matched.
        offset: Give boxes relative to their anchors: `((box - anchor) / extent of the anchor - mean) / std`.
        scale: What boxes and anchors are multiplied with before.
        means: What is taken away from x, y, width and height.
        stds: What they are divided by.
    """
    if len(anchors) % 4 or not anchors:
        raise ArgumentError(f"box_encoder: anchors must be four numbers for each anchor, got {len(anchors)}")
    if len(means) != 4 or len(stds) != 4 or 0 in stds:
        raise ArgumentError("box_encoder: means and stds must be four numbers each, and no std may be 0")
    return BoxEncoder(
        boxes=boxes,
        labels=labels,
        anchors=tuple(anchors),
        criteria=criteria,
        offset=offset,
        scale=scale,
        means=tuple(means),
        stds=tuple(stds),
    ).pair()
