"""Bounding boxes that follow their image (flipped, rotated, pasted, cropped), and the SSD box encoder."""

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
    """Flip boxes the way `flip` flips the image that they belong to.

    Args:
        boxes: Boxes, shape (n, 4): x, y, width and height as fractions of the image size.
        ltrb: Whether boxes are left, top, right and bottom instead.
        horizontal: Whether to swap left and right.
        vertical: Whether to swap top and bottom.
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
    """Move boxes the way `paste` moves the image that they belong to.

    Args:
        boxes: Boxes, shape (n, 4): x, y, width and height as fractions of the image size.
        ratio: Size of the canvas relative to the image; at least 1.
        ltrb: Whether boxes are left, top, right and bottom instead.
        paste_x: Horizontal position of the image on the canvas: 0 is the left edge, 1 the right edge.
        paste_y: Vertical position of the image on the canvas: 0 is the top edge, 1 the bottom edge.
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
    """Rotate boxes the way `rotate` rotates the image that they belong to.

    Args:
        boxes: Boxes, shape (n, 4).
        labels: One label per box; the labels of removed boxes are removed too.
        angle: Rotation angle in degrees; positive angles rotate counterclockwise.
        input_shape: The shape of the image before the rotation.
        bbox_layout: Whether a box is two corners (`"xyXY"`) or a corner with width and height (`"xyWH"`).
        bbox_normalized: Whether boxes are fractions of the image size instead of pixels.
        keep_size: Whether the rotated image keeps the size of the input.
        mode: Size of the result: `expand` encloses the whole rotated box, `fixed` keeps its size, `halfway` is the mean
            of both.
        remove_threshold: Remove boxes with a smaller fraction than this inside the rotated image.
        shape_layout: The layout of `input_shape`.
        size: Height and width of the rotated image, if `rotate` was called with `size`.
    """
    if keep_size and size is not None:
        raise ArgumentError("bbox_rotate: keep_size and size are mutually exclusive")
    numbers = constant_numbers(size)
    if numbers is not None and (len(numbers) != 2 or any(not number > 0 for number in numbers)):
        raise ArgumentError(f"bbox_rotate: size must be two positive numbers (height, width), got {tuple(numbers)}")
    if "H" not in shape_layout or "W" not in shape_layout:
        raise ArgumentError(f"bbox_rotate: shape_layout must contain H and W, got {shape_layout!r}")
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
        raise ArgumentError(f"random_bbox_crop: scaling must be a minimum and a maximum, got {scaling}")
    pairs = list(zip(aspect_ratio[::2], aspect_ratio[1::2], strict=False))
    if len(aspect_ratio) not in (2, 6) or not all(0 <= low <= high for low, high in pairs):
        raise ArgumentError(
            f"random_bbox_crop: aspect_ratio must be a minimum and a maximum, or three such pairs; got {aspect_ratio}"
        )


def _box_layout(bbox_layout: str | None, ltrb: bool | None) -> str:
    """Return the column order: a layout, or X (corners) or W (extents) if the number of axes is not known yet."""
    if bbox_layout is None:
        return "X" if ltrb or ltrb is None else "W"
    if ltrb is not None:
        raise ArgumentError("random_bbox_crop: ltrb and bbox_layout are mutually exclusive")
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
    """Draw a crop window that keeps enough of the boxes, and move the boxes into it.

    Returns the anchor (x, y) and the shape (width, height) of the window, for use with `slice`, then the remaining
    boxes, their labels and their indices. If no window satisfies the threshold after 100000 attempts, the best one
    found is used.

    Args:
        boxes: Boxes as fractions of the image size, shape (n, 4), or (n, 6) for volumes.
        labels: One label per box.
        thresholds: Minimum overlaps between boxes and window; one of them is drawn for each sample.
        threshold_type: How overlap is measured: `iou` (intersection over union) or `overlap` (fraction of the box).
        aspect_ratio: Smallest and largest aspect ratio (width divided by height), of fractions, or of pixels if
            `input_shape` is given; for volumes also width by depth and height by depth. Both are 1 if not given.
        scaling: Smallest and largest extent of the window, as fractions of the image size; the whole image if not
            given.
        allow_no_crop: Whether "no crop" is one more choice among the thresholds; True if not given.
        num_attempts: How many windows to draw before drawing another threshold.
        total_num_attempts: How many windows to draw in total before using the best one found.
        all_boxes_above_threshold: Whether all boxes must reach the threshold, or only one.
        bbox_prune_threshold: Keep boxes with at least this fraction inside the window; if None, boxes whose center is
            inside.
        bbox_layout: The order of the coordinates of a box: `"xyXY"`, `"xyWH"` or a permutation; with z for volumes.
        ltrb: Legacy form of `bbox_layout`: True for `"xyXY"`, False for `"xyWH"`.
        crop_shape: Size of the window in pixels; replaces `scaling` and `aspect_ratio`.
        input_shape: Size of the image in pixels.
        shape_layout: The order of `crop_shape` and `input_shape`; `"WH"` (`"WHD"` for volumes) if None.
        output_bbox_indices: Whether to return the indices of the remaining boxes as well.
    """
    if crop_shape is not None:
        if input_shape is None:
            raise ArgumentError("random_bbox_crop: crop_shape needs input_shape")
        if aspect_ratio is not None or scaling is not None or allow_no_crop:
            raise ArgumentError(
                "random_bbox_crop: crop_shape cannot be combined with aspect_ratio, scaling or allow_no_crop"
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
    """Draw the start of a crop window that covers as much as possible of a region of interest.

    Args:
        data: The image that the window must stay inside; only its shape is used.
        crop_shape: Size of the window.
        roi_start: Start of the region.
        roi_end: End of the region.
        roi_shape: Size of the region, as an alternative to `roi_end`.
        in_shape: The shape of the image, as an alternative to `data`.
    """
    if (roi_end is None) == (roi_shape is None):
        raise ArgumentError("roi_random_crop: specify either roi_end or roi_shape")
    if data is not None and in_shape is not None:
        raise ArgumentError("roi_random_crop: the shape is specified twice, by in_shape and by the input")
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
    """Match boxes to the anchors of an SSD detector; return a box (center and size) and a label for each anchor.

    Args:
        boxes: Boxes, shape (n, 4): left, top, right and bottom.
        labels: One label per box.
        anchors: Left, top, right and bottom of all anchors, as one flat list.
        criteria: The smallest intersection over union at which an anchor and a box match.
        offset: Whether to encode boxes relative to their anchors: centers as
            `((center - anchor center) / anchor size - mean) / std`, sizes as `(log(size / anchor size) - mean) / std`.
        scale: Factor applied to boxes and anchors before the offsets are computed; only with `offset`.
        means: Values subtracted from the offsets of x, y, width and height.
        stds: Values that the offsets are divided by.
    """
    if len(anchors) % 4 or not anchors:
        raise ArgumentError(f"box_encoder: anchors must be four numbers per anchor, got {len(anchors)} numbers")
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
