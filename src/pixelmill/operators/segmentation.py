"""Segmentation masks: random objects and pixels, and selection of polygons."""

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
    """Draw a random object (a connected component of one class) from a mask and return its bounding box.

    First a class is drawn, then one of its objects. Without objects, the box is the whole mask.

    Args:
        labels: Masks of an integer type.
        foreground_prob: Probability of drawing an object; otherwise the box is the whole mask.
        background: The background class; 0 if None.
        classes: The classes to draw from; all that occur in the mask if None.
        class_weights: The relative probability of each class; without `classes`, they apply to the classes 1, 2, 3 and
            so on.
        k_largest: Draw only among this many largest objects.
        threshold: Draw only among objects of at least this size along each axis.
        ignore_class: Whether to draw among all objects with equal probability, whatever their class.
        output_class: Whether to return the class as well.
        format: Form of the box: `anchor_shape` (start, size), `start_end` (start, end), or `box` (both corners in one
            array).
    """
    if ignore_class and (classes is not None or class_weights is not None or output_class):
        raise ArgumentError(
            "segmentation.random_object_bbox: ignore_class excludes classes, class_weights and output_class"
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
    """Draw a random pixel of a mask; returns its coordinates as int64.

    Args:
        mask: Masks.
        foreground: Whether to draw among foreground pixels, if there are any, instead of among all.
        value: The value of foreground pixels.
        threshold: Foreground pixels are above this, if `value` is None; 0 if both are None.
    """
    if value is not None and threshold is not None:
        raise ArgumentError("segmentation.random_mask_pixel: value and threshold are mutually exclusive")
    above = threshold if threshold is not None or value is not None else constant(0.0)
    return RandomPixel(mask=mask, foreground=foreground, wanted=value, threshold=above, key=operator_key()).value()


@operator("segmentation.select_masks", outputs=2, dali=ON_CPU)
def select_masks(
    mask_ids: Tensor, polygons: Tensor, vertices: Tensor, *, reindex_masks: bool = False
) -> tuple[Tensor, ...]:
    """Select the polygons of some masks, and their vertices.

    Args:
        mask_ids: The ids of the masks to keep.
        polygons: One row per polygon: its mask id, its first vertex, and the vertex after its last.
        vertices: The coordinates of the vertices, one row each.
        reindex_masks: Whether to renumber the masks by their position in `mask_ids`.
    """
    return SelectMasks(mask_ids=mask_ids, polygons=polygons, vertices=vertices, reindex_masks=reindex_masks).values(
        "", vertices.layout
    )
