"""Every kind of step of a program, declared once. Importing this package fills `STEPS`."""

from pixelmill.steps import (
    batch,
    boxes,
    codecs,
    effects,
    elements,
    pixels,
    placement,
    random,
    remapping,
    resampling,
    shapes,
    sources,
    warping,
)
from pixelmill.steps.step import STEPS, Expr, Step

__all__ = [
    "STEPS",
    "Expr",
    "Step",
    "batch",
    "boxes",
    "codecs",
    "effects",
    "elements",
    "pixels",
    "placement",
    "random",
    "remapping",
    "resampling",
    "shapes",
    "sources",
    "warping",
]
