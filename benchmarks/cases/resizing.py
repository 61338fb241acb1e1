"""Resize, crop and pad."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from cases.case import Array, Case

FILTERS = {
    "LINEAR": cv2.INTER_LINEAR,
    "NN": cv2.INTER_NEAREST,
    "CUBIC": cv2.INTER_CUBIC,
    "LANCZOS3": cv2.INTER_LANCZOS4,
}
MEAN, STD = [120.0, 115.0, 100.0], [58.0, 57.0, 57.5]


def _resize(side: int, filter_: str, kinds: str = "uf", *, antialias: bool = True) -> Case:
    """Return a resize case; OpenCV averages areas where it downscales with antialiasing."""
    way = cv2.INTER_AREA if antialias and side < 512 and filter_ == "LINEAR" else FILTERS[filter_]
    name = f"resize to {side}, {filter_.lower()}{'' if antialias else ', no antialias'}"

    def graph(m: Any, x: Any) -> Any:
        return m.fn.resize(x, size=side, interp_type=getattr(m.types, f"INTERP_{filter_}"), antialias=antialias)

    return Case(name, kinds, graph, lambda x: cv2.resize(x, (side, side), interpolation=way))


def _normalized(x: Array) -> Array:
    planes = np.float32(x).transpose(2, 0, 1) - np.float32(MEAN)[:, None, None]
    return np.ascontiguousarray(planes / np.float32(STD)[:, None, None])


WINDOW = {"crop": [400, 370], "crop_pos_x": 0.3, "crop_pos_y": 0.6}
CASES = [
    _resize(384, "LINEAR"),
    _resize(384, "LINEAR", antialias=False),
    _resize(224, "LINEAR"),
    _resize(224, "LINEAR", antialias=False),
    _resize(768, "LINEAR"),
    _resize(384, "CUBIC"),
    _resize(768, "CUBIC"),
    _resize(384, "LANCZOS3"),
    _resize(384, "NN", "ufg"),
    _resize(768, "NN", "u"),
    Case("tensor_resize", "uf", lambda m, x: m.fn.tensor_resize(x, sizes=[384, 384], axes=[0, 1])),
    Case("random_resized_crop", "uf", lambda m, x: m.fn.random_resized_crop(x, size=224)),
    Case(
        "resize_crop_mirror",
        "uf",
        lambda m, x: m.fn.resize_crop_mirror(x, resize_shorter=256, crop=[224, 224], mirror=1),
    ),
    Case("crop", "uf", lambda m, x: m.fn.crop(x, **WINDOW), lambda x: x[67:467, 43:413].copy()),
    Case("slice", "uf", lambda m, x: m.fn.slice(x, start=[50, 30], shape=[400, 370], axis_names="HW")),
    Case("pad", "uf", lambda m, x: m.fn.pad(x, axis_names="HW", shape=[600, 600])),
    Case(
        "crop_mirror_normalize",
        "uf",
        lambda m, x: m.fn.crop_mirror_normalize(x, mean=MEAN, std=STD, dtype=m.types.FLOAT),
        _normalized,
    ),
    Case(
        "crop_mirror_normalize, HWC, mirrored",
        "uf",
        lambda m, x: m.fn.crop_mirror_normalize(x, mean=MEAN, std=STD, mirror=1, output_layout="HWC"),
    ),
]
