"""The cases of benchmarks/operators.py: operators, their inputs, and the OpenCV equivalents."""

from __future__ import annotations

from cases import arithmetic, boxes, color, files, filters, geometry, resizing, shapes
from cases.case import Case

GROUPS: dict[str, list[Case]] = {
    "arithmetic and mathematics": arithmetic.CASES,
    "shapes and copies": shapes.CASES,
    "resize and crop": resizing.CASES,
    "geometry": geometry.CASES,
    "color": color.CASES,
    "filters, effects and noise": filters.CASES,
    "boxes, points and masks": boxes.CASES,
    "readers, decoders and sources": files.CASES,
}
