"""Arithmetic, mathematical functions and reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from cases.case import Array, Case, data

THREE = np.array([0.5, 1.0, 1.5], np.float32)


def _two(
    name: str, kinds: str, made: Callable[[Any, Any, Any], Any], opencv: Callable[[Array, Array], Any] | None = None
) -> list[Case]:
    """Return cases of an operation on two images."""

    def case(kind: str) -> Case:
        second = np.ascontiguousarray(data(kind)[::-1])
        graph = lambda m, x: made(m, x, m.fn.reinterpret(m.types.Constant(second), layout="HWC"))  # noqa: E731
        return Case(name, kind, graph, None if opencv is None else lambda x: opencv(x, second))

    return [case(kind) for kind in kinds]


def _math(name: str, opencv: Callable[[Array], Any] | None = None) -> Case:
    return Case(f"math.{name}", "f", lambda m, x: getattr(m.math, name)(x), opencv)


def _reduced(name: str, kinds: str, axes: list[int] | None, opencv: Callable[[Array], Any] | None = None) -> Case:
    options = {} if axes is None else {"axes": axes}
    over = {None: "of all", (0, 1): "of channels", (2,): "of pixels"}[None if axes is None else tuple(axes)]

    def graph(m: Any, x: Any) -> Any:
        more = [np.float32(0.5)] if name in ("std_dev", "variance") else []
        return getattr(m.fn.reductions, name)(x, *more, **options)

    return Case(f"reductions.{name} {over}", kinds, graph, opencv)


# DALI and pixelmill widen bytes where they add numbers to them; OpenCV is asked for the same result.
def _wide(x: Array) -> int:
    return cv2.CV_32S if x.dtype == np.uint8 else cv2.CV_32F


def _squared(x: Array) -> Any:
    return cv2.multiply(x, x, dtype=cv2.CV_32S) if x.dtype == np.uint8 else cv2.pow(x, 2)


def _blended(x: Array, y: Array) -> Any:
    return cv2.addWeighted(x, 0.7, y, 0.3, 0, dtype=cv2.CV_32F)


FUNCTIONS = (
    *("sqrt", "rsqrt", "cbrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "atanh", "fabs", "floor", "ceil"),
)
OPENCV: dict[str, Callable[[Array], Any]] = {"sqrt": cv2.sqrt, "exp": cv2.exp, "log": cv2.log}
COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda m, x: x == 0.4,
    "!=": lambda m, x: x != 0.4,
    "<": lambda m, x: x < 0.4,
    "<=": lambda m, x: x <= 0.4,
    ">=": lambda m, x: x >= 0.4,
}
CASES = [
    Case("x + 1", "uf", lambda m, x: x + 1, lambda x: cv2.add(x, (1.0,) * 4, dtype=_wide(x))),
    Case("x * 0.5", "uf", lambda m, x: x * 0.5, lambda x: cv2.multiply(x, (0.5,) * 4, dtype=cv2.CV_32F)),
    Case("x / 255", "u", lambda m, x: x / 255, lambda x: cv2.multiply(x, (1 / 255,) * 4, dtype=cv2.CV_32F)),
    Case("x // 7", "u", lambda m, x: x // 7),
    Case("x % 7", "u", lambda m, x: x % 7),
    Case("x ** 2", "uf", lambda m, x: x**2, _squared),
    Case("x ** 0.7", "f", lambda m, x: x**0.7, lambda x: cv2.pow(x, 0.7)),
    Case("x > 100", "u", lambda m, x: x > 100, lambda x: cv2.compare(x, 100, cv2.CMP_GT)),
    *(Case(f"x {sign} 0.4", "f", compared) for sign, compared in COMPARED.items()),
    Case("x == 100", "u", lambda m, x: x == 100, lambda x: cv2.compare(x, 100, cv2.CMP_EQ)),
    Case("x > 0.4", "f", lambda m, x: x > 0.4, lambda x: cv2.compare(x, 0.4, cv2.CMP_GT)),
    Case("x & 15", "u", lambda m, x: x & np.uint8(15), lambda x: cv2.bitwise_and(x, (15.0,) * 4)),
    Case("x >> 2", "u", lambda m, x: x >> np.uint8(2)),
    Case("x << 2", "u", lambda m, x: x << np.uint8(2)),
    Case("~x", "u", lambda m, x: ~x, cv2.bitwise_not),
    Case("-x", "f", lambda m, x: -x),
    Case("abs(x)", "f", lambda m, x: abs(x), lambda x: cv2.absdiff(x, (0.0,) * 4)),
    *_two("x + y", "f", lambda m, x, y: x + y, cv2.add),
    *_two("x * y", "f", lambda m, x, y: x * y, cv2.multiply),
    *_two("x / y", "f", lambda m, x, y: x / y, cv2.divide),
    *_two("x - y", "u", lambda m, x, y: x - y, cv2.subtract),
    *_two("x ^ y", "u", lambda m, x, y: x ^ y, cv2.bitwise_xor),
    *_two("x | y", "u", lambda m, x, y: x | y, cv2.bitwise_or),
    *_two("blend 0.7 x + 0.3 y", "uf", lambda m, x, y: 0.7 * x + 0.3 * y, _blended),
    Case("x * one value a channel", "uf", lambda m, x: x * THREE, lambda x: cv2.multiply(x, (0.5, 1, 1.5, 0))),
    Case("chain (x / 255 - 0.45) / 0.22", "uf", lambda m, x: (x / 255.0 - 0.45) / 0.22),
    Case("chain clamp(x * 1.2 + 0.1, 0, 1)", "f", lambda m, x: m.math.clamp(x * 1.2 + 0.1, 0.0, 1.0)),
    *(_math(name, OPENCV.get(name)) for name in FUNCTIONS),
    Case("math.acosh", "f", lambda m, x: m.math.acosh(x + 1.0)),
    *_two("math.min", "uf", lambda m, x, y: m.math.min(x, y), cv2.min),
    *_two("math.max", "uf", lambda m, x, y: m.math.max(x, y), cv2.max),
    *_two("math.atan2", "f", lambda m, x, y: m.math.atan2(x, y)),
    *_two("math.pow", "f", lambda m, x, y: m.math.pow(x, y)),
    *_two("math.fpow", "u", lambda m, x, y: m.math.fpow(x, y)),
    Case("math.clamp", "uf", lambda m, x: m.math.clamp(x, 0, 1)),
    *(
        _reduced(name, "uf", axes)
        for name in ("sum", "mean", "mean_square", "rms", "min", "max", "std_dev", "variance")
        for axes in (None, [0, 1], [2])
    ),
    Case("normalize of all", "uf", lambda m, x: m.fn.normalize(x)),
    Case("normalize of channels", "uf", lambda m, x: m.fn.normalize(x, axes=[0, 1])),
    Case("normalize, mean and stddev given", "uf", lambda m, x: m.fn.normalize(x, mean=0.5, stddev=0.25)),
]
