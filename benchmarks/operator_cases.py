"""Which operators benchmarks/operators.py measures, on what, and what OpenCV calls the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np

Array = np.ndarray[Any, Any]
SIDE = 512


@dataclass(frozen=True)
class Case:
    """One operator with its arguments.

    Attributes:
        name: What the table calls it.
        kinds: The pictures: `u` for bytes, `f` for floats from 0 to 1, `g` for bytes of one channel.
        graph: Makes the node, from the module (pixelmill or DALI) and the node of the pictures.
        opencv: Does the same, or as much of it as OpenCV has.
    """

    name: str
    kinds: str
    graph: Callable[[Any, Any], Any]
    opencv: Callable[[Array], Any] | None = None


@cache
def picture(kind: str) -> Array:
    """Make a picture of 512x512 pixels that is as smooth as a photograph, with some grain."""
    random = np.random.default_rng(0)
    smooth = cv2.resize(random.integers(0, 255, (16, 16, 3), np.uint8), (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
    grainy = np.clip(smooth + random.normal(0, 8, smooth.shape), 0, 255).astype(np.uint8)
    made: dict[str, Array] = {"u": grainy, "g": grainy[..., :1].copy(), "f": (grainy / 255).astype(np.float32)}
    return made[kind]


COLOURS = np.array([[0.4, 0.3, 0.2], [0.3, 0.4, 0.2], [0.2, 0.3, 0.4]], np.float32)
NAMES = {"YCbCr": "YCrCb"}  # in OpenCV


def _conversion(before: str, behind: str) -> Case:
    code = getattr(cv2, f"COLOR_{NAMES.get(before, before)}2{NAMES.get(behind, behind)}")

    def graph(m: Any, x: Any) -> Any:
        kinds = {"image_type": getattr(m.types, before), "output_type": getattr(m.types, behind)}
        return m.fn.color_space_conversion(x, **kinds)

    kind = "g" if before == "GRAY" else "u"
    return Case(f"color_space {before}-{behind}", kind, graph, lambda x: cv2.cvtColor(x, code))


def _blur(sigma: int) -> Case:
    size = 6 * sigma + 1
    name, opencv = f"gaussian_blur sigma {sigma}", lambda x: cv2.GaussianBlur(x, (size, size), sigma)
    return Case(name, "uf", lambda m, x: m.fn.gaussian_blur(x, sigma=float(sigma)), opencv)


def _laplacian(size: int) -> Case:
    name, opencv = f"laplacian {size}", lambda x: _derived(x, size)
    return Case(name, "uf", lambda m, x: m.fn.laplacian(x, window_size=size), opencv)


def _filter(size: int) -> Case:
    weights = np.full((size, size), 1 / size**2, np.float32)
    name, opencv = f"filter {size}x{size}", lambda x: cv2.filter2D(x, -1, weights)
    return Case(name, "uf", lambda m, x: m.fn.filter(x, m.types.Constant(weights)), opencv)


def _median(size: int, kinds: str) -> Case:
    name, opencv = f"median_blur {size}", lambda x: cv2.medianBlur(x, size)
    return Case(name, kinds, lambda m, x: m.fn.experimental.median_blur(x, window_size=size), opencv)


def _brighter(x: Array) -> Array:
    return (
        cv2.convertScaleAbs(x, alpha=0.96, beta=20) if x.dtype == np.uint8 else x * np.float32(0.96) + np.float32(0.1)
    )


def _derived(x: Array, size: int) -> Array:
    return cv2.Laplacian(x, cv2.CV_32F if x.dtype == np.float32 else cv2.CV_8U, ksize=size)


def _equalized(x: Array) -> Array:
    return cv2.merge([cv2.equalizeHist(channel) for channel in cv2.split(x)])


def _clahe(x: Array) -> Array:
    lab = cv2.cvtColor(x, cv2.COLOR_RGB2Lab)
    lab[..., 0] = cv2.createCLAHE(2.0, (8, 8)).apply(lab[..., 0].copy())
    return cv2.cvtColor(lab, cv2.COLOR_Lab2RGB)


def _through_jpeg(x: Array) -> Any:
    return cv2.imdecode(cv2.imencode(".jpg", x, [cv2.IMWRITE_JPEG_QUALITY, 50])[1], cv2.IMREAD_COLOR)


TILES = {"tiles_x": 8, "tiles_y": 8, "clip_limit": 2.0}
CASES = [
    Case(
        "brightness_contrast", "uf", lambda m, x: m.fn.brightness_contrast(x, brightness=1.2, contrast=0.8), _brighter
    ),
    Case("hue", "uf", lambda m, x: m.fn.hue(x, hue=30.0), lambda x: cv2.transform(x, COLOURS)),
    Case(
        "color_twist",
        "uf",
        lambda m, x: m.fn.color_twist(x, hue=30.0, saturation=0.5, contrast=1.2, brightness=0.9),
        lambda x: cv2.transform(x, COLOURS),
    ),
    _conversion("RGB", "YCbCr"),
    _conversion("YCbCr", "RGB"),
    _conversion("RGB", "GRAY"),
    _conversion("RGB", "BGR"),
    _conversion("GRAY", "RGB"),
    _blur(1),
    _blur(3),
    _laplacian(3),
    _laplacian(5),
    _filter(3),
    _filter(5),
    _filter(15),
    _median(3, "uf"),
    _median(5, "uf"),
    _median(9, "u"),
    Case("equalize", "u", lambda m, x: m.fn.equalize(x), _equalized),
    Case("clahe", "u", lambda m, x: m.fn.clahe(x, **TILES), _clahe),
    Case("clahe each channel", "u", lambda m, x: m.fn.clahe(x, **TILES, luma_only=False)),
    Case("clahe", "g", lambda m, x: m.fn.clahe(x, **TILES), lambda x: cv2.createCLAHE(2.0, (8, 8)).apply(x)),
    Case(
        "jpeg_compression_distortion", "u", lambda m, x: m.fn.jpeg_compression_distortion(x, quality=50), _through_jpeg
    ),
    Case("sphere", "uf", lambda m, x: m.fn.sphere(x)),
    Case("sphere linear", "uf", lambda m, x: m.fn.sphere(x, interp_type=m.types.INTERP_LINEAR)),
    Case("water", "uf", lambda m, x: m.fn.water(x)),
    Case("water linear", "uf", lambda m, x: m.fn.water(x, interp_type=m.types.INTERP_LINEAR)),
    Case("noise.gaussian", "uf", lambda m, x: m.fn.noise.gaussian(x, stddev=10.0)),
    Case("noise.salt_and_pepper", "uf", lambda m, x: m.fn.noise.salt_and_pepper(x)),
    Case("noise.shot factor 20", "uf", lambda m, x: m.fn.noise.shot(x, factor=20.0)),
    Case("noise.shot factor 0.1", "uf", lambda m, x: m.fn.noise.shot(x, factor=0.1)),
    Case("random.normal", "f", lambda m, x: m.fn.random.normal(x)),
    Case("random.uniform", "f", lambda m, x: m.fn.random.uniform(x)),
]
