"""Running one operator at once: a graph of this operator alone, for one batch."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from pixelmill import fn
from pixelmill.errors import ArgumentError
from pixelmill.experimental.dynamic.modes import get_num_threads
from pixelmill.experimental.dynamic.values import Batch, Tensor
from pixelmill.graph import calls as graph
from pixelmill.graph.calls import call
from pixelmill.operators import Operator
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.permutation import fold
from pixelmill.tensors import TensorListCPU


class RNG:
    """A source of random choices: each operator that draws from it gets its next one.

    Args:
        seed: What all choices follow from; a new one each time when left out.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.seed = int.from_bytes(os.urandom(6), "little") if seed is None else int(seed)
        self.drawn = 0

    def next_seed(self) -> int:
        """Give the seed for the next operator."""
        self.drawn += 1
        return fold(self.seed, self.drawn) >> 1

    def clone(self) -> RNG:
        """Give a source that makes the same choices from here on."""
        copy = RNG(self.seed)
        copy.drawn = self.drawn
        return copy


DEFAULT_RNG = RNG()


def run(
    spec: Operator, inputs: tuple[Any, ...], arguments: dict[str, Any], *, batch_size: int | None, rng: RNG | None
) -> Any:
    """Call an operator on arrays, tensors or batches.

    Returns:
        A Batch where one of the values is a Batch or `batch_size` is given, a Tensor where all are single; a tuple of
        these where the operator gives several.
    """
    size = _common_size(spec.name, [*inputs, *arguments.values()], batch_size)
    seed = (rng or DEFAULT_RNG).next_seed() if spec.draws else 0
    options = {key: arguments.pop(key, None) for key in ("device", "name")}
    pipe = _pipeline(size or 1, seed)
    with pipe:
        nodes = [_node(value, size or 1, is_input=True) for value in inputs]
        given = {key: _node(value, size or 1, is_input=_varies(spec, key)) for key, value in arguments.items()}
        made = call(spec, nodes, given, **options)
    return _evaluated(pipe, made, single=size is None)


def operate(operation: str, *operands: Any) -> Any:
    """Do what one of Python's own operators, or a function of `math`, stands for."""
    key = operands[1] if operation == "subscript" else ()
    bounds = [part for item in key for part in _parts(item)]
    size = _common_size(operation, [*operands, *bounds], None)
    pipe = _pipeline(size or 1, 0)

    def node(value: Any) -> Any:
        if isinstance(value, slice):
            return slice(*map(node, _parts(value)))
        if isinstance(value, tuple):
            return tuple(map(node, value))
        return _node(value, size or 1, is_input=True)

    with pipe:
        made = graph.operate(operation, *map(node, operands))
    return _evaluated(pipe, made, single=size is None)


def _parts(item: Any) -> tuple[Any, ...]:
    return (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)


def _common_size(name: str, values: list[Any], batch_size: int | None) -> int | None:
    """Give the number of samples that batches agree in; None where there is none."""
    sizes = {len(value) for value in values if isinstance(value, Batch)} | ({batch_size} if batch_size else set())
    if len(sizes) > 1:
        raise ArgumentError(f"{name}: batches of different sizes: {sorted(sizes)}")
    return sizes.pop() if sizes else None


def _pipeline(size: int, seed: int) -> Pipeline:
    return Pipeline(size, min(size, get_num_threads()), None, seed, prefetch_queue_depth=1)


def _evaluated(pipe: Pipeline, made: Any, *, single: bool) -> Any:
    """Run a graph once; give its only output, or a tuple of several."""
    several = isinstance(made, (list, tuple))
    pipe.set_outputs(*(made if several else [made]))
    lists = pipe.run()
    pipe.close()
    results = tuple(_result(batch, single=single) for batch in lists)
    return results if several else results[0]


def _varies(spec: Operator, key: str) -> bool:
    argument = spec.arguments.get(spec.renamed.get(key, key))
    return argument is not None and argument.per_sample


def _node(value: Any, size: int, *, is_input: bool) -> Any:
    """Give what stands for a value in the graph: the data of tensors comes from outside, the rest is constant."""
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


def _result(batch: TensorListCPU, *, single: bool) -> Any:
    made = Batch([batch.at(index) for index in range(len(batch))], layout=batch.layout())
    return made.tensors[0] if single else made
