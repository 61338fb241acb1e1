"""The compiled programs of the calls: the steps that a pipeline would run for the same work."""

from __future__ import annotations

from enum import Enum
from functools import cache

from pixelmill import _core
from pixelmill.steps.codecs import Color, Decode, Encode, FileFormat, ImageShape, Subsampling
from pixelmill.steps.resampling import Resample, ResizeGeometry
from pixelmill.steps.shapes import Element, Join
from pixelmill.steps.sources import BatchSource, ExternalInput, ReadNamed
from pixelmill.steps.step import Expr, Step
from pixelmill.types import UINT8, Limits

COLORS: dict[str, Color] = {"RGB": "rgb", "BGR": "bgr", "GRAY": "gray", "unchanged": "any"}

# A scaled decode keeps at least the size that was asked for; pipelines keep twice as much (engine/rules.py).
_SCALING_MARGIN = 1


@cache
def native_limits(limits: Limits | None) -> _core.Limits:
    """Return the limits as the native core takes them."""
    return _core.Limits(**vars(limits or Limits()))


def _inputs(count: int) -> list[Expr]:
    return [ExternalInput(source=BatchSource(), output=0).value() for _ in range(count)]


def _program(inputs: list[Expr], output: Expr) -> _core.Program:
    """Return the program that makes `output` of the inputs of a call, one slot for each value."""
    program = _core.Program()
    slots: dict[tuple[Step, int], int] = {}
    for number, value in enumerate(inputs):
        slots[value.step, 0] = number
        program.add_input(number, number)

    def slot_of(value: Expr) -> int:
        if (value.step, value.index) not in slots:
            add(value.step)
        return slots[value.step, value.index]

    def add(step: Step) -> None:
        named = [(name, -1 if value is None else slot_of(value)) for name, value in step.named_inputs()]
        for index in range(step.outputs):
            slots[step, index] = len(slots)
        made = [slots[step, index] for index in range(step.outputs)]
        params = {key: value.value if isinstance(value, Enum) else value for key, value in step.parameters().items()}
        program.add_step(step.kind, params, named, made, [])

    program.set_outputs([slot_of(output)])
    return program


@cache
def decoder(mode: str, orientation: bool, from_file: bool, resizes: bool, has_window: bool) -> _core.Program:
    """Return the program that decodes an image. Its inputs: the data or the path, the window, the size."""
    inputs = _inputs(3)
    data, window, size = inputs
    if from_file:
        data = ReadNamed(path=data).value()
    geometry = None
    if resizes and has_window:
        shape = Join(parts=tuple(Element(vector=window, index=number).value() for number in (2, 3))).value()
        geometry = _geometry(shape, size, "HW")
    elif resizes:
        shape = ImageShape(encoded=data, color=COLORS[mode], orientation=orientation).value()
        geometry = _geometry(shape, size, "HWC")
    decode = Decode(
        encoded=data,
        window=window if has_window else None,
        geometry=geometry,
        color=COLORS[mode],
        dtype=None if mode == "unchanged" else UINT8,
        orientation=orientation,
        padded_pixels=resizes,
        scaling=_SCALING_MARGIN if resizes else 0,
    )
    if not resizes:
        return _program(inputs, decode.value("HWC"))
    image, fitting = decode.values("HWC", "")
    resample = Resample(
        image=image,
        geometry=fitting,
        layout="HWC",
        filter_min=decode.filter_min,
        filter_mag=decode.filter_mag,
        antialias=decode.antialias,
        dtype=None,
    )
    return _program(inputs, resample.value("HWC"))


def _geometry(shape: Expr, size: Expr, layout: str) -> Expr:
    return ResizeGeometry(
        shape=shape, size=size, layout=layout, mode="default", subpixel_scale=True, roi_relative=False
    ).value()


@cache
def reader() -> _core.Program:
    """Return the program that reads a file. Its input: the path."""
    inputs = _inputs(1)
    return _program(inputs, ReadNamed(path=inputs[0]).value())


@cache
def encoder(format: FileFormat, subsampling: Subsampling, level: int) -> _core.Program:
    """Return the program that encodes an image. Its inputs: the image, the quality."""
    inputs = _inputs(2)
    image, quality = inputs
    step = Encode(image=image, quality=quality, format=format, subsampling=subsampling, level=level)
    return _program(inputs, step.value())
