"""Rotation, warping, pasting, and affine matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from cases.case import SIDE, SMALL, Array, Case

MATRIX = np.array([[0.9, 0.2, -10.0], [-0.15, 1.05, 20.0]], np.float32)
TURN = cv2.getRotationMatrix2D((SIDE / 2, SIDE / 2), 30, 1.0)


def _warped(x: Array, matrix: Any, way: int) -> Array:
    return cv2.warpAffine(x, matrix, (SIDE, SIDE), flags=way | cv2.WARP_INVERSE_MAP)


def _rotate(filter_: str, way: int, kinds: str) -> Case:
    def graph(m: Any, x: Any) -> Any:
        how = getattr(m.types, f"INTERP_{filter_}")
        return m.fn.rotate(x, angle=30.0, keep_size=True, fill_value=0, interp_type=how)

    return Case(f"rotate, {filter_.lower()}", kinds, graph, lambda x: _warped(x, TURN, way))


def _warp(filter_: str, way: int, kinds: str) -> Case:
    def graph(m: Any, x: Any) -> Any:
        how = getattr(m.types, f"INTERP_{filter_}")
        return m.fn.warp_affine(x, matrix=MATRIX.ravel().tolist(), fill_value=0, interp_type=how)

    return Case(f"warp_affine, {filter_.lower()}", kinds, graph, lambda x: _warped(x, MATRIX, way))


def _perspective(m: Any, x: Any) -> Any:
    return m.fn.experimental.warp_perspective(x, matrix=PERSPECTIVE.ravel().tolist())


def _remap(m: Any, x: Any) -> Any:
    return m.fn.experimental.remap(x, m.types.Constant(MAPS[0]), m.types.Constant(MAPS[1]), pixel_origin="center")


def _erased(x: Array) -> Array:
    out = x.copy()
    out[100:200, 150:350] = 0
    out[300:400, 50:100] = 0
    return out


def _multi_paste(m: Any, x: Any) -> Any:
    corners = np.array([[0, 0], [0, 256], [256, 0], [256, 256]], np.int32)
    ids = np.array([0, 1, 2, 3], np.int32)
    shapes = np.full((4, 2), 256, np.int32)
    return m.fn.multi_paste(x, in_ids=ids, output_size=[512, 512], out_anchors=corners, shapes=shapes)


def _made(name: str, graph: Callable[[Any, Any], Any]) -> Case:
    """Return a case of an operator without inputs."""
    return Case(name, "-", graph, batch=SMALL)


PERSPECTIVE = np.float32([[1.1, 0.1, -30], [0.05, 0.9, 20], [0.0002, -0.0003, 1]])
MAPS = np.float32(np.meshgrid(np.linspace(20, 480, 512), np.linspace(500, 10, 512)))
HOLES = {"anchor": [100, 150, 300, 50], "shape": [100, 200, 100, 50], "axis_names": "HW"}
CASES = [
    _rotate("LINEAR", cv2.INTER_LINEAR, "uf"),
    _rotate("NN", cv2.INTER_NEAREST, "ufm"),
    Case("rotate, larger canvas", "u", lambda m, x: m.fn.rotate(x, angle=30.0)),
    _warp("LINEAR", cv2.INTER_LINEAR, "uf"),
    _warp("NN", cv2.INTER_NEAREST, "ufm"),
    Case("warp_perspective, linear", "uf", _perspective, lambda x: cv2.warpPerspective(x, PERSPECTIVE, x.shape[1::-1])),
    Case("remap, linear", "uf", _remap, lambda x: cv2.remap(x, *MAPS, cv2.INTER_LINEAR)),
    Case("paste", "u", lambda m, x: m.fn.paste(x, ratio=1.5, fill_value=[10, 20, 30])),
    Case("multi_paste", "uf", _multi_paste),
    Case("erase", "uf", lambda m, x: m.fn.erase(x, **HOLES), _erased),
    Case("grid_mask", "uf", lambda m, x: m.fn.grid_mask(x, tile=60, ratio=0.4, angle=0.3)),
    _made("transforms.translation", lambda m, x: m.fn.transforms.translation(offset=[3.0, 4.0])),
    _made("transforms.scale", lambda m, x: m.fn.transforms.scale(scale=[1.1, 0.9], center=[9.0, 9.0])),
    _made("transforms.rotation", lambda m, x: m.fn.transforms.rotation(angle=30.0, center=[9.0, 9.0])),
    _made("transforms.shear", lambda m, x: m.fn.transforms.shear(shear=[0.1, 0.2])),
    _made("transforms.crop", lambda m, x: m.fn.transforms.crop(from_start=[0.0, 0.0], from_end=[2.0, 2.0])),
    _made(
        "transforms.combine of two",
        lambda m, x: m.fn.transforms.combine(
            m.fn.transforms.rotation(angle=30.0), m.fn.transforms.scale(scale=[1.1, 0.9])
        ),
    ),
]
