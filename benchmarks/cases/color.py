"""Color operators."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from cases.case import Array, Case

COLORS = np.array([[0.4, 0.3, 0.2], [0.3, 0.4, 0.2], [0.2, 0.3, 0.4]], np.float32)
NAMES = {"YCbCr": "YCrCb"}  # OpenCV's names


def _conversion(before: str, after: str, kinds: str) -> Case:
    code = getattr(cv2, f"COLOR_{NAMES.get(before, before)}2{NAMES.get(after, after)}")

    def graph(m: Any, x: Any) -> Any:
        types = {"image_type": getattr(m.types, before), "output_type": getattr(m.types, after)}
        return m.fn.color_space_conversion(x, **types)

    return Case(f"color_space_conversion {before}-{after}", kinds, graph, lambda x: cv2.cvtColor(x, code))


def _scaled(x: Array, factor: float, offset: float) -> Array:
    if x.dtype == np.uint8:
        return cv2.convertScaleAbs(x, alpha=factor, beta=offset)
    return x * np.float32(factor) + np.float32(offset / 255)


# The output of hsv is bytes, as DALI has it.
def _bytes(x: Array) -> Array:
    return x if x.dtype == np.uint8 else cv2.convertScaleAbs(x)


def _equalized(x: Array) -> Array:
    return cv2.merge([cv2.equalizeHist(channel) for channel in cv2.split(x)])


def _clahe(x: Array) -> Array:
    lab = cv2.cvtColor(x, cv2.COLOR_RGB2Lab)
    lab[..., 0] = cv2.createCLAHE(2.0, (8, 8)).apply(lab[..., 0].copy())
    return cv2.cvtColor(lab, cv2.COLOR_Lab2RGB)


TILES = {"tiles_x": 8, "tiles_y": 8, "clip_limit": 2.0}
TWIST = {"hue": 30.0, "saturation": 0.5, "contrast": 1.2, "brightness": 0.9}
CASES = [
    Case("brightness", "uf", lambda m, x: m.fn.brightness(x, brightness=1.2), lambda x: _scaled(x, 1.2, 0)),
    Case("contrast", "uf", lambda m, x: m.fn.contrast(x, contrast=0.8), lambda x: _scaled(x, 0.8, 25)),
    Case(
        "brightness_contrast",
        "uf",
        lambda m, x: m.fn.brightness_contrast(x, brightness=1.2, contrast=0.8),
        lambda x: _scaled(x, 0.96, 20),
    ),
    Case("hue", "uf", lambda m, x: m.fn.hue(x, hue=30.0), lambda x: cv2.transform(x, COLORS)),
    Case("saturation", "uf", lambda m, x: m.fn.saturation(x, saturation=0.5), lambda x: cv2.transform(x, COLORS)),
    Case(
        "hsv",
        "uf",
        lambda m, x: m.fn.hsv(x, hue=30.0, saturation=0.5, value=1.1),
        lambda x: _bytes(cv2.transform(x, COLORS)),
    ),
    Case("color_twist", "uf", lambda m, x: m.fn.color_twist(x, **TWIST), lambda x: cv2.transform(x, COLORS)),
    _conversion("RGB", "YCbCr", "u"),
    _conversion("YCbCr", "RGB", "u"),
    _conversion("RGB", "GRAY", "u"),
    _conversion("RGB", "BGR", "u"),
    _conversion("GRAY", "RGB", "g"),
    Case("equalize", "u", lambda m, x: m.fn.equalize(x), _equalized),
    Case("clahe", "u", lambda m, x: m.fn.clahe(x, **TILES), _clahe),
    Case("clahe each channel", "u", lambda m, x: m.fn.clahe(x, **TILES, luma_only=False)),
    Case("clahe", "g", lambda m, x: m.fn.clahe(x, **TILES), lambda x: cv2.createCLAHE(2.0, (8, 8)).apply(x)),
]
