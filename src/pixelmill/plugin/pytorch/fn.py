"""Functions of PyTorch tensors as operators of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from pixelmill import fn
from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode
from pixelmill.tensors import Array


def torch_python_function(
    *inputs: DataNode,
    function: Callable[..., object],
    num_outputs: int = 1,
    batch_processing: bool = False,
    output_layouts: str | Sequence[str] | None = None,
    **options: Any,
) -> DataNode | list[DataNode]:
    """Call a function that takes and returns tensors. Its inputs are copies, so it may modify them.

    Args:
        inputs: The arguments of the function.
        function: The function.
        num_outputs: How many tensors it returns.
        batch_processing: Call it once per batch with lists of tensors, instead of once per sample.
        output_layouts: Layout of the results: one string, or one per result.
        options: `name` and `device`.
    """
    if not callable(function):
        raise ArgumentError(f"torch_python_function: function must be callable, got {function!r}")

    def of_arrays(*arrays: Any) -> Any:  # arrays, or lists of them with `batch_processing`
        tensors = [[_tensor(sample) for sample in batch] if batch_processing else _tensor(batch) for batch in arrays]
        results: Any = function(*tensors)
        parts = results if num_outputs > 1 else (results,)
        made = [[_array(sample) for sample in part] if batch_processing else _array(part) for part in parts]
        return made if num_outputs > 1 else made[0]

    made: DataNode | list[DataNode] = fn.python_function(
        *inputs,
        function=of_arrays,
        num_outputs=num_outputs,
        batch_processing=batch_processing,
        output_layouts=output_layouts,
        **options,
    )
    return made


def _tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(array.copy())


def _array(result: object) -> Array:
    if not isinstance(result, torch.Tensor):
        raise ArgumentError(f"torch_python_function: the function must return tensors, got {type(result).__name__}")
    array: Array = result.detach().cpu().numpy()
    return array
