"""The programs behind the calls: the steps that a pipeline would run for the same work."""

from __future__ import annotations

from functools import cache
from typing import Any

from pixelmill import _core
from pixelmill.types import Limits

COLORS = {"RGB": "rgb", "BGR": "bgr", "GRAY": "gray", "unchanged": "any"}

_ABSENT = -1
_UINT8, _AS_STORED = 0, -1
# A scaled decode keeps at least the size that was asked for; pipelines keep twice as much (engine/rules.py).
_SCALING_MARGIN = 1
_LINEAR: dict[str, Any] = {"filter_min": 1, "filter_mag": 1, "antialias": True}  # as in fn.resize
_PLAIN_RESAMPLE: dict[str, Any] = {
    "layout": "HWC",
    "dtype": -1,
    "normalize": False,
    "out_layout": "",
    "pad_channels": False,
}


@cache
def native_limits(limits: Limits | None) -> _core.Limits:
    """Return the limits as the native core takes them."""
    return _core.Limits(**vars(limits or Limits()))


class _Builder:
    """Adds steps to a program, one slot for each value; the inputs come first."""

    def __init__(self, inputs: int) -> None:
        self.program = _core.Program()
        for number in range(inputs):
            self.program.add_input(number, number)
        self._slots = inputs

    def step(self, kind: str, *inputs: int, outputs: int = 1, **params: Any) -> int:
        """Add a step and return the slot of its first output."""
        first, self._slots = self._slots, self._slots + outputs
        self.program.add_step(kind, params, list(inputs), list(range(first, self._slots)), [])
        return first

    def finished(self, output: int) -> _core.Program:
        self.program.set_outputs([output])
        return self.program


@cache
def decoder(mode: str, orientation: bool, from_file: bool, resizes: bool, has_window: bool) -> _core.Program:
    """Return the program that decodes an image. Its inputs: the data or the path, the window, the size."""
    build = _Builder(3)
    data, window, size = 0, 1 if has_window else _ABSENT, 2
    if from_file:
        data = build.step("read_named", data)
    color: dict[str, Any] = {"color": COLORS[mode], "orientation": orientation}
    geometry = _ABSENT
    if resizes and has_window:
        shape = build.step("join", *[build.step("element", window, index=number) for number in (2, 3)])
        geometry = _geometry(build, shape, size, "HW")
    elif resizes:
        geometry = _geometry(build, build.step("image_shape", data, **color), size, "HWC")
    image = build.step(
        "decode",
        data,
        window,
        geometry,
        outputs=2,
        dtype=_AS_STORED if mode == "unchanged" else _UINT8,
        fast_idct=False,
        padded_pixels=resizes,
        scaling=_SCALING_MARGIN if resizes else 0,
        **color,
        **_LINEAR,
    )
    if resizes:
        image = build.step("resample", image, image + 1, *[_ABSENT] * 6, **_PLAIN_RESAMPLE, **_LINEAR)
    return build.finished(image)


def _geometry(build: _Builder, shape: int, size: int, layout: str) -> int:
    rule: dict[str, Any] = {"layout": layout, "mode": "default", "subpixel_scale": True, "roi_relative": False}
    return build.step("resize_geometry", shape, size, *[_ABSENT] * 8, **rule)


@cache
def reader() -> _core.Program:
    """Return the program that reads a file. Its input: the path."""
    build = _Builder(1)
    return build.finished(build.step("read_named", 0))


@cache
def encoder(format: str, subsampling: str, level: int) -> _core.Program:
    """Return the program that encodes an image. Its inputs: the image, the quality."""
    build = _Builder(2)
    return build.finished(build.step("encode", 0, 1, format=format, subsampling=subsampling, level=level))
