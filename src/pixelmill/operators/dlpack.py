"""Calls of Python functions that take DLPack capsules, such as those of array libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.declare import Anything, Tensor, operator
from pixelmill.operators.sources import output_layouts_of
from pixelmill.steps.batch import callback

NAME = "dl_tensor_python_function"
CPU = (1, 0)  # DLPack's number for main memory, and which one


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
    """Call a Python function in the middle of a graph. It gets and gives DLPack capsules.

    In a branch of a condition it is called for the samples that take the branch.

    Args:
        inputs: What the function is called with.
        function: The function. It may also give arrays that can be turned into capsules.
        num_outputs: How many capsules it gives.
        batch_processing: Call it once with lists of capsules, one for each sample, instead of for every sample.
        output_layouts: Names of the axes of the results; one string or one for each of them.
    """
    if not callable(function):
        raise ArgumentError(f"function must be callable, got {function!r}")
    layouts = output_layouts_of(output_layouts, num_outputs)
    called = _of_batch(function, num_outputs) if batch_processing else _of_sample(function, num_outputs)
    results = callback(called, *inputs, layouts=layouts, batch=batch_processing, whole=False)
    return results[0] if num_outputs == 1 else results


def _of_sample(function: Callable[..., Any], outputs: int) -> Callable[..., Any]:
    def call(*arrays: Any) -> Any:
        made = function(*map(_capsule, arrays))
        return _array(made) if outputs == 1 else tuple(map(_array, made))

    return call


def _of_batch(function: Callable[..., Any], outputs: int) -> Callable[..., Any]:
    def call(*batches: Any) -> Any:
        made = function(*([_capsule(array) for array in batch] for batch in batches))
        lists = (made,) if outputs == 1 else made
        arrays = tuple([_array(value) for value in batch] for batch in lists)
        return arrays[0] if outputs == 1 else arrays

    return call


def _capsule(array: Any) -> Any:
    """Give the capsule of an array; what nobody may write to is copied, since a capsule does not say so."""
    return (array if array.flags.writeable else array.copy()).__dlpack__()


class _Holder:
    """What NumPy takes a capsule from."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


def _array(value: Any) -> Any:
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    if type(value).__name__ != "PyCapsule":
        raise ArgumentError(f"{NAME}: the function must give DLPack capsules, got {type(value).__name__}")
    return np.from_dlpack(_Holder(value))
