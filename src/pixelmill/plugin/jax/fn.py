"""Functions of JAX arrays as operators of a graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from pixelmill import fn
from pixelmill.errors import ArgumentError
from pixelmill.graph.calls import as_node
from pixelmill.graph.nodes import DataNode
from pixelmill.operators.sources import Guessed
from pixelmill.plugin.jax.arrays import array_of
from pixelmill.tensors import Array

ArrayFunction = Callable[..., jax.Array | Sequence[jax.Array]]
SampleFunction = Callable[..., list[Array] | list[list[Array]]]


def jax_function(
    function: ArrayFunction | None = None,
    num_outputs: int = 1,
    output_layouts: str | Sequence[str] | None = None,
    sharding: jax.sharding.Sharding | None = None,
    device: str | None = None,
    preserve: bool = True,
) -> Callable[..., Any]:
    """Turn a function of JAX arrays into an operator. It receives whole batches; all samples must have the same shape.

    Args:
        function: Takes and returns arrays whose first axis is the batch; it may be wrapped in `jax.jit` or `jax.vmap`.
        num_outputs: How many arrays it returns.
        output_layouts: Layout of a sample of the results: one string, or one per result. If omitted, a result has the
            layout of the input at the same position, provided it has as many axes.
        sharding: Not supported; the function runs where the pipeline runs.
        device: Accepted for compatibility; the native engine runs everything on the CPU.
        preserve: Accepted for compatibility.
    """
    if sharding is not None:
        raise ArgumentError("jax_function: sharding is not supported here; pass it to the iterator")
    if num_outputs < 1:
        raise ArgumentError("jax_function: a function without outputs would not be part of the graph")

    def decorate(called: ArrayFunction) -> Callable[..., Any]:
        if not callable(called):
            raise ArgumentError(f"jax_function: function must be callable, got {called!r}")

        @functools.wraps(called)
        def operator(*inputs: DataNode) -> DataNode | list[DataNode]:
            made: DataNode | list[DataNode] = fn.python_function(
                *inputs,
                function=_of_batches(called, num_outputs),
                num_outputs=num_outputs,
                batch_processing=True,
                output_layouts=_layouts_of(inputs, num_outputs) if output_layouts is None else output_layouts,
            )
            return made

        return operator

    return decorate if function is None else decorate(function)


def _layouts_of(inputs: tuple[DataNode, ...], count: int) -> Guessed:
    known = [as_node(value).expr.layout for value in inputs[:count]]
    return Guessed([*known, *[""] * (count - len(known))])


def _of_batches(called: ArrayFunction, num_outputs: int) -> SampleFunction:
    def of_samples(*batches: list[Array]) -> list[Array] | list[list[Array]]:
        made = called(*(array_of(_block(samples)) for samples in batches))
        parts = made if isinstance(made, (tuple, list)) else (made,)
        if len(parts) != num_outputs:
            raise ArgumentError(f"jax_function: the function returned {len(parts)} arrays, not {num_outputs}")
        lists = [list(_samples(part, len(batches[0]))) for part in parts]
        return lists[0] if num_outputs == 1 else lists

    return of_samples


def _block(samples: list[Array]) -> Array:
    if len({sample.shape for sample in samples}) > 1:
        shapes = sorted({sample.shape for sample in samples})[:3]
        raise ArgumentError(
            f"jax_function: shapes {shapes} cannot form one array; resize, crop or pad the samples first"
        )
    whole = samples[0].base
    if (
        isinstance(whole, np.ndarray)
        and whole.shape == (len(samples), *samples[0].shape)
        and whole.ctypes.data == samples[0].ctypes.data
        and whole.flags.c_contiguous
    ):
        return whole  # the samples are views of one block: the batch as the native core made it
    return np.asarray(samples)


def _samples(part: object, count: int) -> Array:
    if not isinstance(part, jax.Array):
        raise ArgumentError(f"jax_function: the function must return JAX arrays, got {type(part).__name__}")
    if len(part) != count:
        raise ArgumentError(f"jax_function: a batch of {count} samples went in, one of {len(part)} came out")
    return np.asarray(part)


__all__ = ["jax_function"]
