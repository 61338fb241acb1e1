"""Immediate execution of one operator: a graph of this operator alone, run for one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from pixelmill import fn
from pixelmill.errors import ArgumentError
from pixelmill.experimental.dynamic.modes import get_num_threads
from pixelmill.experimental.dynamic.rng import RNG, get_default_rng
from pixelmill.experimental.dynamic.values import Batch, Tensor
from pixelmill.graph import calls
from pixelmill.graph.calls import CallResult, call
from pixelmill.operators import Operator
from pixelmill.pipeline import Pipeline
from pixelmill.tensors import TensorListCPU

# What an operator returns: one value per output; operators with named outputs are readers, which run elsewhere.
Result = Tensor | Batch | tuple[Tensor | Batch, ...]


def run(
    spec: Operator, inputs: tuple[object, ...], arguments: dict[str, object], *, batch_size: int | None, rng: RNG | None
) -> Result:
    """Run an operator on arrays, tensors or batches.

    Returns:
        A Batch if one of the values is a Batch or `batch_size` is given, a Tensor if all are single; a tuple of these
        if the operator has several outputs.
    """
    size = _common_size(spec.name, [*inputs, *arguments.values()], batch_size)
    seed = (rng or get_default_rng()).next_seed() if spec.draws else 0
    device, name = (cast("str | None", arguments.pop(key, None)) for key in ("device", "name"))
    pipe = _pipeline(size or 1, seed)
    with pipe:
        nodes = [_node(value, size or 1, is_input=True) for value in inputs]
        given = {key: _node(value, size or 1, is_input=_varies(spec, key)) for key, value in arguments.items()}
        made = call(spec, nodes, given, device=device, name=name)
    return _evaluated(pipe, made, single=size is None)


def operate(operation: str, *operands: object) -> Result:
    """Run one of Python's own operators, or a function of `math`."""
    key = cast("tuple[object, ...]", operands[1]) if operation == "subscript" else ()
    bounds = [part for item in key for part in _parts(item)]
    size = _common_size(operation, [*operands, *bounds], None)
    pipe = _pipeline(size or 1, 0)

    def node(value: object) -> object:
        if isinstance(value, slice):
            return slice(*map(node, _parts(value)))
        if isinstance(value, tuple):
            return tuple(map(node, value))
        return _node(value, size or 1, is_input=True)

    with pipe:
        made = calls.operate(operation, *map(node, operands))
    return _evaluated(pipe, made, single=size is None)


def _parts(item: object) -> tuple[object, ...]:
    return (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)


def _common_size(name: str, values: Sequence[object], batch_size: int | None) -> int | None:
    """Return the common size of all batches; None if there is no batch."""
    sizes = {len(value) for value in values if isinstance(value, Batch)} | ({batch_size} if batch_size else set())
    if len(sizes) > 1:
        raise ArgumentError(f"{name}: the batches have different sizes: {sorted(sizes)}")
    return sizes.pop() if sizes else None


def _pipeline(size: int, seed: int) -> Pipeline:
    return Pipeline(size, min(size, get_num_threads()), None, seed, prefetch_queue_depth=1)


def _evaluated(pipe: Pipeline, made: CallResult, *, single: bool) -> Result:
    """Run a graph once; return its only output, or a tuple of several."""
    pipe.set_outputs(*(made if isinstance(made, list) else [made]))
    lists = pipe.run()
    pipe.close()
    results = tuple(_result(batch, single=single) for batch in lists)
    return results if isinstance(made, list) else results[0]


def _varies(spec: Operator, key: str) -> bool:
    argument = spec.arguments.get(spec.renamed.get(key, key))
    return argument is not None and argument.per_sample


def _node(value: object, size: int, *, is_input: bool) -> object:
    """Return the graph node for a value: tensors become external sources, everything else is a constant."""
    if isinstance(value, np.ndarray) and is_input:
        value = Tensor(value)
    if isinstance(value, bytes):
        value = Tensor(value)
    if isinstance(value, Tensor):
        value = Batch([value] * size)
    if not isinstance(value, Batch):
        return value
    samples = [tensor.array for tensor in value.tensors]
    return fn.external_source(source=[samples], layout=value.layout or None)


def _result(batch: TensorListCPU, *, single: bool) -> Tensor | Batch:
    made = Batch([batch.at(index) for index in range(len(batch))], layout=batch.layout())
    return made.tensors[0] if single else made
