"""Benchmark cases and their input data."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np

Array = np.ndarray[Any, Any]
SIDE = 512
SMALL = 64  # samples per batch if a sample is only a few numbers

# The inputs that the letters of Case.kinds stand for.
KINDS = {
    "u": "uint8 x3",
    "f": "float32 x3",
    "g": "uint8 x1",
    "m": "int32 x1",
    "v": "8 frames, uint8 x3",
    "b": "16 boxes",
    "p": "1000 points",
    "l": "1000 labels",
    "j": "a JPEG file",
    "n": "an npy file",
    "-": "",
}
LAYOUTS = {"v": "FHWC", **dict.fromkeys("bpljn-", "")}


@dataclass(frozen=True)
class Case:
    """One operator with its arguments.

    Attributes:
        name: Its name in the table.
        kinds: The letters of the KINDS it is measured on.
        graph: Returns the output node, from the module (pixelmill or DALI) and the input node.
        opencv: The OpenCV equivalent, or the closest one; None if there is none.
        batch: Samples per batch: few large ones, or many small ones.
    """

    name: str
    kinds: str
    graph: Callable[[Any, Any], Any]
    opencv: Callable[[Array], Any] | None = None
    batch: int = 4


@cache
def data(kind: str) -> Array:
    """Create the input of a kind; images are as smooth as photographs, with some grain."""
    random = np.random.default_rng(0)
    if kind in "ufg":
        smooth = cv2.resize(random.integers(0, 255, (16, 16, 3), np.uint8), (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
        grainy = np.clip(smooth + random.normal(0, 8, smooth.shape), 0, 255).astype(np.uint8)
        images: dict[str, Array] = {"u": grainy, "g": grainy[..., :1].copy(), "f": np.float32(grainy / 255)}
        return images[kind]
    if kind == "v":
        return random.integers(0, 255, (8, SIDE // 2, SIDE // 2, 3), np.uint8)
    if kind == "b":
        corners = np.sort(random.uniform(0, 1, (16, 2, 2)), axis=1)
        return corners.reshape(16, 4).astype(np.float32)
    if kind == "m":
        return _mask()
    if kind == "j":
        encoded: Array = cv2.imencode(".jpg", data("u"), [cv2.IMWRITE_JPEG_QUALITY, 90])[1].ravel()
        return encoded
    if kind == "n":
        file = io.BytesIO()
        np.save(file, data("u"))
        return np.frombuffer(file.getvalue(), np.uint8)
    return {"p": random.uniform(0, 1, (1000, 2)).astype(np.float32), "l": np.arange(1000, dtype=np.int32) % 10}.get(
        kind, np.zeros(1, np.float32)
    )


def _mask() -> Array:
    """Draw ellipses of five classes."""
    mask = np.zeros((SIDE, SIDE, 1), np.int32)
    for place in range(12):
        centre = (60 + place % 4 * 130, 80 + place // 4 * 170)
        cv2.ellipse(mask, centre, (50, 30 + 3 * place), 20 * place, 0, 360, place % 5 + 1, -1)
    return mask
