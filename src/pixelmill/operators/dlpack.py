"""Python functions inside a graph that exchange DLPack capsules, as array libraries do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.declare import Anything, Tensor, operator
from pixelmill.operators.sources import output_layouts_of
from pixelmill.steps.batch import callback
from pixelmill.types import Array

NAME = "dl_tensor_python_function"
CPU = (1, 0)  # kDLCPU and device 0


@operator(
    NAME,
    outputs=None,
    leading=("function", "num_outputs"),
    ignored=("synchronize_stream",),
    class_name="DLTensorPythonFunction",
    dali=None,
)
def dl_tensor_python_function(
    *inputs: Tensor,
    function: Anything,
    num_outputs: int = 1,
    batch_processing: bool = True,
    output_layouts: Anything | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Call a Python function that takes and returns DLPack capsules.

    Inside a branch of a conditional, it is called only for the samples that take the branch.

    Args:
        inputs: The inputs of the function.
        function: The function. It may also return arrays that implement `__dlpack__`.
        num_outputs: The number of capsules it returns.
        batch_processing: Whether to call it once per batch, with lists of capsules, instead of once per sample.
        output_layouts: The layouts of the outputs: one string, or one per output.
    """
    if not callable(function):
        raise ArgumentError(f"function must be callable, got {function!r}")
    layouts = output_layouts_of(output_layouts, num_outputs)
    called = _of_batch(function, num_outputs) if batch_processing else _of_sample(function, num_outputs)
    results = callback(called, *inputs, layouts=layouts, batch=batch_processing, whole=False)
    return results[0] if num_outputs == 1 else results


def _of_sample(function: Callable[..., Any], outputs: int) -> Callable[..., object]:
    def call(*arrays: Array) -> Array | tuple[Array, ...]:
        made = function(*map(_capsule, arrays))
        return _array(made) if outputs == 1 else tuple(map(_array, made))

    return call


def _of_batch(function: Callable[..., Any], outputs: int) -> Callable[..., object]:
    def call(*batches: list[Array]) -> list[Array] | tuple[list[Array], ...]:
        made = function(*([_capsule(array) for array in batch] for batch in batches))
        lists = (made,) if outputs == 1 else made
        arrays = tuple([_array(value) for value in batch] for batch in lists)
        return arrays[0] if outputs == 1 else arrays

    return call


def _capsule(array: Array) -> object:
    """Return the capsule of an array. Read-only arrays are copied, because a capsule cannot be marked read-only."""
    return (array if array.flags.writeable else array.copy()).__dlpack__()


class _Holder:
    """Wraps a capsule for `np.from_dlpack`, which takes objects."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: object) -> object:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


def _array(value: object) -> Array:
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    if type(value).__name__ != "PyCapsule":
        raise ArgumentError(f"{NAME}: the function must return DLPack capsules, got {type(value).__name__}")
    return np.from_dlpack(_Holder(value))
