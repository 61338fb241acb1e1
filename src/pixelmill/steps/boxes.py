"""Boxes, and the polygons of masks."""

from __future__ import annotations

from typing import ClassVar, Literal

from pixelmill.steps.step import Input, Step, declared


@declared
class BoxFlip(Step):
    """Mirror boxes."""

    boxes: Input
    horizontal: Input
    vertical: Input
    layout: str


@declared
class BoxPaste(Step):
    """Move boxes as pasting moves their image."""

    boxes: Input
    ratio: Input
    paste_x: Input
    paste_y: Input
    ltrb: bool


@declared
class BoxRotate(Step):
    """Rotate boxes with their image. If labels are given, the labels of the remaining boxes are the second output."""

    output_counts: ClassVar[range] = range(1, 3)

    boxes: Input
    labels: Input | None = None
    angle: Input
    input_shape: Input
    size: Input | None = None
    layout: str
    normalized: bool
    keep_size: bool
    mode: Literal["expand", "fixed", "halfway"]
    remove_threshold: float
    shape_layout: str

    @property
    def outputs(self) -> int:
        """One, or two with labels."""
        return 1 if self.labels is None else 2


@declared
class BoxEncoder(Step):
    """Assign a box (left, top, right, bottom) to every anchor of a detector; return the boxes and their labels."""

    output_counts: ClassVar[range] = range(2, 3)

    boxes: Input
    labels: Input
    anchors: tuple[float, ...]
    criteria: float
    offset: bool
    scale: float
    means: tuple[float, ...]
    stds: tuple[float, ...]


@declared
class SelectMasks(Step):
    """Select masks and return their polygons and vertices; a polygon is a mask id, its first and its end vertex."""

    output_counts: ClassVar[range] = range(2, 3)

    mask_ids: Input
    polygons: Input
    vertices: Input
    reindex_masks: bool
