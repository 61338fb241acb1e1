"""An operator in a pipeline of its own, whose inputs are fed: for the frames of sequences, and for debug mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pixelmill.graph.calls import CallResult, call, calls_handled_by
from pixelmill.graph.frames import ByFrame
from pixelmill.graph.nodes import DataNode
from pixelmill.operators import REGISTRY, Operator
from pixelmill.pipeline.execution import Pipeline
from pixelmill.tensors import TensorListCPU


class OneOperator:
    """A pipeline of one operator.

    Args:
        pipeline: The pipeline to add the operator to.
        spec: The operator.
        inputs: Its inputs: constants, and batches in place of all batches that `run` will take.
        arguments: Its arguments, likewise.
        options: `device`, `name` and `seed` of the call.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        spec: Operator,
        inputs: Sequence[object],
        arguments: Mapping[str, object],
        **options: Any,
    ) -> None:
        self.spec = spec
        self.pipeline = pipeline
        self._fed: list[DataNode] = []
        with pipeline, calls_handled_by(None):
            nodes = [self._node(value) for value in inputs]
            given = {key: self._node(value) for key, value in arguments.items()}
            self.made: CallResult = call(spec, nodes, given, **options)
        pipeline.set_outputs(*_flat(self.made))

    def run(self, inputs: Sequence[object], arguments: Mapping[str, object]) -> tuple[TensorListCPU, ...]:
        """Return the outputs for the next batch of each input and argument that is fed."""
        batches = [batch for value in (*inputs, *arguments.values()) for batch in _batches(value)]
        for node, batch in zip(self._fed, batches, strict=True):
            self.pipeline.feed_input(node, batch)
        return self.pipeline.run()

    def nodes(self, outputs: Sequence[TensorListCPU], kind: Callable[..., DataNode]) -> CallResult:
        """Return the outputs as a call returns its nodes, each made by `kind` from a node of the graph and a batch."""
        rest = iter(outputs)

        def known(made: CallResult) -> CallResult:
            if isinstance(made, list):
                return [known(item) for item in made]
            if isinstance(made, dict):
                return {key: kind(node.operator, node.expr, node.index, next(rest)) for key, node in made.items()}
            return kind(made.operator, made.expr, made.index, next(rest))

        return known(self.made)

    def _node(self, value: object) -> object:
        if isinstance(value, list) and all(isinstance(item, TensorListCPU) for item in value):
            return [self._node(item) for item in value]
        if not isinstance(value, TensorListCPU):
            return value
        node = call(REGISTRY["external_source"], (), {"layout": value.layout() or None, "ndim": value.ndim()})
        assert isinstance(node, DataNode)
        self._fed.append(node)
        return node


def _batches(value: object) -> list[TensorListCPU]:
    if isinstance(value, list):
        return [batch for item in value for batch in _batches(item)]
    return [value] if isinstance(value, TensorListCPU) else []


def _flat(made: CallResult) -> list[DataNode]:
    if isinstance(made, DataNode):
        return [made]
    return [node for item in (made.values() if isinstance(made, dict) else made) for node in _flat(item)]


def _run_frames(
    spec: Operator, inputs: Sequence[object], arguments: Mapping[str, object], seed: int
) -> tuple[TensorListCPU, ...]:
    batches = [value for value in (*inputs, *arguments.values()) if isinstance(value, TensorListCPU)]
    # One thread: the samples of a batch come one after the other, and frames are few.
    pipeline = Pipeline(len(batches[0]), 1, None, seed, prefetch_queue_depth=1)
    try:
        return OneOperator(pipeline, spec, inputs, arguments).run(inputs, arguments)
    finally:
        pipeline.close()


ByFrame.run = _run_frames
