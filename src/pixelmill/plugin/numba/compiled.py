"""Runs a function that Numba compiled on the samples of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

from pixelmill import fn
from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode
from pixelmill.tensors import Array
from pixelmill.types import DALIDataType, numpy_dtype

_MOST = 6  # inputs, and outputs, as in DALI


def numba_function(
    *inputs: DataNode,
    run_fn: Callable[..., object],
    out_types: DALIDataType | Sequence[DALIDataType],
    in_types: DALIDataType | Sequence[DALIDataType],
    outs_ndim: int | Sequence[int],
    ins_ndim: int | Sequence[int],
    setup_fn: Callable[..., object] | None = None,
    batch_processing: bool = False,
    device: str | None = None,
    blocks: Sequence[int] | None = None,
    threads_per_block: Sequence[int] | None = None,
    **options: Any,
) -> DataNode | list[DataNode]:
    """Call a function that Numba compiles. It writes to its outputs and returns nothing.

    Args:
        inputs: The inputs of the function.
        run_fn: Takes the outputs and then the inputs: arrays, or lists of arrays with `batch_processing`.
        out_types: The types of the outputs.
        in_types: The types of the inputs.
        outs_ndim: The numbers of axes of the outputs.
        ins_ndim: The numbers of axes of the inputs.
        setup_fn: Sets the shapes of the outputs: takes `outs` and `ins`, where `outs[output][sample]` is an array of
            extents to write to, and `ins[input][sample]` one to read. If None, outputs have the shapes of the inputs.
        batch_processing: Whether to call `run_fn` once per batch instead of once per sample.
        device: Where it should run; must not be `"gpu"`.
        blocks: Accepted for compatibility, for GPUs.
        threads_per_block: Accepted for compatibility, for GPUs.
        options: `name`.
    """
    if device == "gpu":
        raise ArgumentError("numba_function: functions for GPUs are not supported; write it for the CPU")
    outs = _Side("out", _listed(out_types), _listed(outs_ndim))
    ins = _Side("in", _listed(in_types), _listed(ins_ndim))
    if len(inputs) != len(ins.dtypes):
        raise ArgumentError(f"numba_function: {len(inputs)} inputs, but in_types has {len(ins.dtypes)}")
    if setup_fn is None and len(outs.dtypes) > len(ins.dtypes):
        raise ArgumentError("numba_function: without setup_fn there is an input for each output, whose shape it takes")
    batch = _Batch(numba.njit(run_fn), setup_fn, outs, ins, together=batch_processing)
    made: DataNode | list[DataNode] = fn.python_function(
        *inputs, function=batch, num_outputs=len(outs.dtypes), batch_processing=True, **options
    )
    return made


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


class _Side:
    """The declared types and numbers of axes of inputs or outputs."""

    def __init__(self, name: str, types: list[DALIDataType], ndims: list[int]) -> None:
        if len(types) != len(ndims):
            raise ArgumentError(
                f"numba_function: {name}_types has {len(types)} entries, and {name}s_ndim has {len(ndims)}"
            )
        if not 1 <= len(types) <= _MOST:
            raise ArgumentError(f"numba_function: 1 to {_MOST} {name}puts are supported, got {len(types)}")
        if DALIDataType.FLOAT16 in types:
            raise ArgumentError("numba_function: Numba does not support FLOAT16")
        self.dtypes = [numpy_dtype(dtype) for dtype in types]
        self.ndims = ndims

    def check(self, arrays: Sequence[Sequence[Array]]) -> None:
        """Raise ArgumentError unless the samples are as declared."""
        for number, (samples, dtype, ndim) in enumerate(zip(arrays, self.dtypes, self.ndims, strict=True)):
            for sample in samples:
                if sample.dtype != dtype or sample.ndim != ndim:
                    raise ArgumentError(
                        f"numba_function: input {number} was declared as {dtype} with {ndim} axes, got {sample.dtype} "
                        f"with {sample.ndim}"
                    )


class _Batch:
    """Calls the function for a batch."""

    def __init__(
        self, run: Any, setup: Callable[..., object] | None, outs: _Side, ins: _Side, *, together: bool
    ) -> None:
        self._run, self._setup, self._outs, self._ins, self._together = run, setup, outs, ins, together

    def __call__(self, *inputs: list[Array]) -> list[list[Array]] | list[Array]:
        self._ins.check(inputs)
        outputs = self._outputs(inputs)
        # Compiled code takes arrays of one layout in memory; it must not change the arrays of other operators.
        sources = [[np.array(sample, order="C") for sample in samples] for samples in inputs]
        if self._together:
            self._run(*(numba.typed.List(samples) for samples in [*outputs, *sources]))
        else:
            for samples in zip(*outputs, *sources, strict=True):
                self._run(*samples)
        return outputs if len(outputs) > 1 else outputs[0]

    def _outputs(self, inputs: Sequence[list[Array]]) -> list[list[Array]]:
        shapes = [[np.array(sample.shape, np.int64) for sample in samples] for samples in inputs]
        wanted = shapes
        if self._setup is not None:
            count = len(inputs[0])
            wanted = [[np.zeros(ndim, np.int64) for _ in range(count)] for ndim in self._outs.ndims]
            self._setup(wanted, shapes)
        made = []
        for number, (dtype, ndim) in enumerate(zip(self._outs.dtypes, self._outs.ndims, strict=True)):
            for shape in wanted[number]:
                if len(shape) != ndim or (shape < 0).any():
                    raise ArgumentError(
                        f"numba_function: output {number} was declared with {ndim} axes, its shape is {shape.tolist()}"
                    )
            made.append([np.zeros(tuple(shape), dtype) for shape in wanted[number]])
        return made
