"""Filters, effects and noise."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from cases.case import Array, Case


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


def _extreme(operator: str) -> Case:
    kernel, name = np.ones((5, 5), np.uint8), f"{operator} 5x5"
    graph = lambda m, x: getattr(m.fn.experimental, operator)(x, mask_size=[5, 5])  # noqa: E731
    return Case(name, "uf", graph, lambda x: getattr(cv2, operator)(x, kernel))


def _derived(x: Array, size: int) -> Array:
    return cv2.Laplacian(x, cv2.CV_32F if x.dtype == np.float32 else cv2.CV_8U, ksize=size)


def _through_jpeg(x: Array) -> Any:
    return cv2.imdecode(cv2.imencode(".jpg", x, [cv2.IMWRITE_JPEG_QUALITY, 50])[1], cv2.IMREAD_COLOR)


CASES = [
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
    _extreme("dilate"),
    _extreme("erode"),
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
    Case("random.coin_flip", "f", lambda m, x: m.fn.random.coin_flip(x)),
    Case("random.choice", "f", lambda m, x: m.fn.random.choice(10, x)),
    Case("random.beta", "-", lambda m, x: m.fn.random.beta(alpha=0.4, beta=0.4, shape=[10000])),
]
