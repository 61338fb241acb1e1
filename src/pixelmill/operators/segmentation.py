"""Masks: draws of objects and pixels, and choices among polygons."""

from __future__ import annotations

from typing import Annotated, Literal

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import BEFORE, ON_CPU
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.steps.boxes import SelectMasks
from pixelmill.steps.random import RandomObject, RandomPixel
from pixelmill.steps.sources import constant
from pixelmill.steps.step import operator_key


@operator(
    "segmentation.random_object_bbox",
    dali=BEFORE,
    draws=True,
    outputs=None,
    ignored=("cache_objects",),
    class_name="RandomObjectBBox",
)
def random_object_bbox(
    labels: Tensor,
    *,
    foreground_prob: PerSample[Annotated[float, Range(0, 1)]] = 1.0,
    background: PerSample[int] | None = None,
    classes: PerSample[Ints] | None = None,
    class_weights: PerSample[Floats] | None = None,
    k_largest: Annotated[int, Range(1)] | None = None,
    threshold: PerSample[Ints] | None = None,
    ignore_class: bool = False,
    output_class: bool = False,
    format: Literal["anchor_shape", "start_end", "box"] = "anchor_shape",
) -> Tensor | tuple[Tensor, ...]:
    """Draw an object of a mask, pixels of one class that touch, and give its box.

    First a class is drawn, then one of its objects. The box is the whole mask where there is none.

    Args:
        labels: Masks of whole numbers.
        foreground_prob: How likely an object is drawn at all; else the box is the whole mask.
        background: The class that is no object, 0 when left out.
        classes: The classes to draw from; all that occur when left out.
        class_weights: How likely each class is; they are 1, 2, 3 ... where `classes` is left out.
        k_largest: Draw among so many largest objects alone.
        threshold: Draw among objects that are at least this large along each axis.
        ignore_class: Draw among all objects, whatever their class.
        output_class: Give the class as well.
        format: What is given: the first corner and the extents, or both corners, or both corners in one array.
    """
    if ignore_class and (classes is not None or class_weights is not None or output_class):
        raise ArgumentError(
            "segmentation.random_object_bbox: ignore_class leaves nothing to classes, class_weights and output_class"
        )
    made = RandomObject(
        mask=labels,
        foreground_prob=foreground_prob,
        background=background,
        classes=classes,
        class_weights=class_weights,
        threshold=threshold,
        key=operator_key(),
        format=format,
        k_largest=k_largest or 0,
        ignore_class=ignore_class,
        output_class=output_class,
    )
    return made.values(*[""] * made.outputs) if made.outputs > 1 else made.value()


@operator("segmentation.random_mask_pixel", draws=True, dali=BEFORE)
def random_mask_pixel(
    mask: Tensor,
    *,
    foreground: PerSample[int] = 0,
    value: PerSample[int] | None = None,
    threshold: PerSample[float] | None = None,
) -> Tensor:
    """Draw a pixel of a mask and give its place, as int64.

    Args:
        mask: Masks.
        foreground: Draw among the pixels of the foreground, where there are any; else among all.
        value: The value of the foreground.
        threshold: The foreground is what lies above this, where `value` is left out; 0 when this is left out as well.
    """
    if value is not None and threshold is not None:
        raise ArgumentError("segmentation.random_mask_pixel: value and threshold exclude each other")
    above = threshold if threshold is not None or value is not None else constant(0.0)
    return RandomPixel(mask=mask, foreground=foreground, wanted=value, threshold=above, key=operator_key()).value()


@operator("segmentation.select_masks", outputs=2, dali=ON_CPU)
def select_masks(
    mask_ids: Tensor, polygons: Tensor, vertices: Tensor, *, reindex_masks: bool = False
) -> tuple[Tensor, ...]:
    """Keep the polygons of some masks, and their vertices.

    Args:
        mask_ids: The masks to keep.
        polygons: Rows of a mask, its first vertex, and the vertex behind its last.
        vertices: Rows of coordinates.
        reindex_masks: Number the masks by their place in `mask_ids`.
    """
    return SelectMasks(mask_ids=mask_ids, polygons=polygons, vertices=vertices, reindex_masks=reindex_masks).values(
        "", vertices.layout
    )
