"""Python functions of tensors, in the middle of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from pixelmill import fn
from pixelmill.errors import ArgumentError
from pixelmill.tensors import Array


def torch_python_function(
    *inputs: Any,
    function: Callable[..., Any],
    num_outputs: int = 1,
    batch_processing: bool = False,
    output_layouts: str | Sequence[str] | None = None,
    **options: Any,
) -> Any:
    """Call a function that gets and gives tensors. Its inputs are copies, so it may change them.

    Args:
        inputs: What the function is called with.
        function: The function.
        num_outputs: How many tensors it gives.
        batch_processing: Call it once with lists of tensors, instead of for every sample.
        output_layouts: Names of the axes of the results; one string or one for each of them.
        options: `name` and `device`.
    """
    if not callable(function):
        raise ArgumentError(f"torch_python_function: function must be callable, got {function!r}")

    def of_arrays(*arrays: Any) -> Any:
        given = [[_tensor(sample) for sample in batch] if batch_processing else _tensor(batch) for batch in arrays]
        results = function(*given)
        parts = results if num_outputs > 1 else (results,)
        made = [[_array(sample) for sample in part] if batch_processing else _array(part) for part in parts]
        return made if num_outputs > 1 else made[0]

    return fn.python_function(
        *inputs,
        function=of_arrays,
        num_outputs=num_outputs,
        batch_processing=batch_processing,
        output_layouts=output_layouts,
        **options,
    )


def _tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(array.copy())


def _array(result: Any) -> Array:
    if not isinstance(result, torch.Tensor):
        raise ArgumentError(f"torch_python_function: the function must give tensors, got {type(result).__name__}")
    array: Array = result.detach().cpu().numpy()
    return array
