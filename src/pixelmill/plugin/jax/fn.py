"""Functions of JAX arrays in the middle of a graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from pixelmill import fn
from pixelmill.errors import ArgumentError
from pixelmill.graph.calls import as_node
from pixelmill.operators.sources import Guessed
from pixelmill.plugin.jax.arrays import array_of
from pixelmill.tensors import Array


def jax_function(
    function: Callable[..., Any] | None = None,
    num_outputs: int = 1,
    output_layouts: str | Sequence[str] | None = None,
    sharding: jax.sharding.Sharding | None = None,
    device: str | None = None,
    preserve: bool = True,
) -> Callable[..., Any]:
    """Turn a function of JAX arrays into an operator. It gets whole batches, whose samples must agree in shape.

    Args:
        function: Gets and gives arrays, with the batch in front; it may have been through `jax.jit` or `jax.vmap`.
        num_outputs: How many arrays it gives.
        output_layouts: Names of the axes of a sample of the results; one string or one for each of them. Where they are
            left out, a result has those of the input with the same number, if it has as many axes.
        sharding: Not supported; the function runs where the pipeline runs.
        device: Accepted for compatibility; the native engine runs everything on the CPU.
        preserve: Accepted for compatibility.
    """
    if sharding is not None:
        raise ArgumentError("jax_function: sharding is not supported; give it to the iterator")
    if num_outputs < 1:
        raise ArgumentError("jax_function: a function without outputs would not be part of the graph")

    def decorate(called: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(called):
            raise ArgumentError(f"jax_function: function must be callable, got {called!r}")

        @functools.wraps(called)
        def operator(*inputs: Any) -> Any:
            return fn.python_function(
                *inputs,
                function=_of_batches(called, num_outputs),
                num_outputs=num_outputs,
                batch_processing=True,
                output_layouts=_layouts_of(inputs, num_outputs) if output_layouts is None else output_layouts,
            )

        return operator

    return decorate if function is None else decorate(function)


def _layouts_of(inputs: tuple[Any, ...], count: int) -> Guessed:
    known = [as_node(value).expr.layout for value in inputs[:count]]
    return Guessed([*known, *[""] * (count - len(known))])


def _of_batches(called: Callable[..., Any], num_outputs: int) -> Callable[..., Any]:
    def of_samples(*batches: Any) -> Any:
        made = called(*(array_of(_block(samples)) for samples in batches))
        parts = made if isinstance(made, (tuple, list)) else (made,)
        if len(parts) != num_outputs:
            raise ArgumentError(f"jax_function: the function gave {len(parts)} arrays, not {num_outputs}")
        lists = [list(_samples(part, len(batches[0]))) for part in parts]
        return lists[0] if num_outputs == 1 else lists

    return of_samples


def _block(samples: Any) -> Array:
    if len({sample.shape for sample in samples}) > 1:
        shapes = sorted({sample.shape for sample in samples})[:3]
        raise ArgumentError(f"jax_function: samples of shapes {shapes} make no array; resize, crop or pad them before")
    whole = samples[0].base
    together = isinstance(whole, np.ndarray) and whole.shape == (len(samples), *samples[0].shape)
    if together and whole.ctypes.data == samples[0].ctypes.data and whole.flags.c_contiguous:
        samples = whole  # the batch as the core made it
    return np.asarray(samples)


def _samples(part: Any, count: int) -> Array:
    if not isinstance(part, jax.Array):
        raise ArgumentError(f"jax_function: the function must give JAX arrays, got {type(part).__name__}")
    if len(part) != count:
        raise ArgumentError(f"jax_function: a batch of {count} samples went in, one of {len(part)} came out")
    return np.asarray(part)


__all__ = ["jax_function"]
