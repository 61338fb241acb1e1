"""Boxes, points and masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cases.case import SMALL, Case, data

TURN = np.array([[0.9, 0.1, 0.0], [-0.1, 0.9, 0.1]], np.float32)
LABELS = np.arange(16, dtype=np.int32)
OPTIONS = {"thresholds": [0.1, 0.3, 0.5], "scaling": [0.3, 1.0], "aspect_ratio": [0.5, 2.0], "num_attempts": 20}


def _anchors() -> list[float]:
    """Return the anchors of a detector: 4 shapes at each of 38 x 38 positions."""
    centre = (np.arange(38) + 0.5) / 38
    half = np.array([[0.05, 0.05], [0.08, 0.04], [0.04, 0.08], [0.1, 0.1]])
    places = np.stack(np.meshgrid(centre, centre), -1).reshape(-1, 1, 2)
    corners = np.concatenate([places - half, places + half], -1).clip(0, 1)
    return [float(value) for value in corners.astype(np.float32).ravel()]


ANCHORS = _anchors()


def _polygons(m: Any, x: Any) -> Any:
    """Select the polygons of two masks out of ten."""
    polygons = np.stack([np.arange(10), np.arange(10) * 100, np.arange(1, 11) * 100], 1).astype(np.int32)
    return m.fn.segmentation.select_masks(np.array([2, 7], np.int32), polygons, x)[1]


def _small(name: str, kind: str, graph: Callable[[Any, Any], Any]) -> Case:
    return Case(name, kind, graph, batch=SMALL)


CASES = [
    _small("coord_transform", "p", lambda m, x: m.fn.coord_transform(x, MT=TURN)),
    _small("coord_flip", "p", lambda m, x: m.fn.coord_flip(x, layout="xy")),
    _small("bb_flip", "b", lambda m, x: m.fn.bb_flip(x, ltrb=True)),
    _small("bbox_paste", "b", lambda m, x: m.fn.bbox_paste(x, ratio=1.5, ltrb=True)),
    _small("bbox_rotate", "b", lambda m, x: m.fn.bbox_rotate(x, angle=30.0, input_shape=[300, 400])),
    _small("random_bbox_crop", "b", lambda m, x: m.fn.random_bbox_crop(x, LABELS, bbox_layout="xyXY", **OPTIONS)[2]),
    _small(
        "roi_random_crop",
        "-",
        lambda m, x: m.fn.roi_random_crop(
            crop_shape=[200, 200], roi_start=[100, 100], roi_shape=[150, 150], in_shape=[512, 512]
        ),
    ),
    _small("box_encoder", "b", lambda m, x: m.fn.box_encoder(x, LABELS, anchors=ANCHORS, offset=True)[0]),
    Case("segmentation.random_object_bbox", "m", lambda m, x: m.fn.segmentation.random_object_bbox(x, format="box")),
    Case("segmentation.random_mask_pixel", "m", lambda m, x: m.fn.segmentation.random_mask_pixel(x, foreground=1)),
    _small("segmentation.select_masks", "p", _polygons),
]

assert data("p").shape == (1000, 2)  # the polygons of select_masks index these vertices
