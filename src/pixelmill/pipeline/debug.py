"""Debug mode: the function of a pipeline runs for every batch, and each operator computes its values immediately."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from pixelmill.errors import ArgumentError, EngineError, UnknownNameError
from pixelmill.graph.calls import CallResult, calls_handled_by
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.operators import Operator
from pixelmill.pipeline.execution import Pipeline
from pixelmill.pipeline.one_operator import OneOperator
from pixelmill.pipeline.permutation import fold
from pixelmill.steps.step import Expr
from pixelmill.tensors import TensorListCPU
from pixelmill.types import default_array


class DataNodeDebug(DataNode):
    """A value that is known: `print` shows it, `get` returns the batch."""

    __slots__ = ("_data",)

    def __init__(self, operator: OperatorNode | None, expr: Expr, index: int, data: TensorListCPU) -> None:
        super().__init__(operator, expr, index)
        self._data = data

    def get(self) -> TensorListCPU:
        """Return the batch."""
        return self._data

    def shape(self, *, dtype: object = None, device: str = "cpu") -> list[tuple[int, ...]]:  # type: ignore[override]
        """Return the shape of each sample."""
        return self._data.shape()

    def with_expr(self, expr: Expr) -> DataNodeDebug:
        """Return a copy of the node."""
        copy = DataNodeDebug(self.operator, expr, self.index, self._data)
        copy.device = self.device
        return copy

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self.name!r} was used in conditional context: it is a batch, whose samples may differ; "
            "look at single samples with get().at(0)"
        )

    def __repr__(self) -> str:
        return f'DataNodeDebug(\n    name="{self.name}",\n    data={self._data!r})'

    __str__ = __repr__


class DebugPipeline(Pipeline):
    """A pipeline that calls its function for every batch.

    Args:
        function: Returns the outputs.
        options: The arguments of `Pipeline`.
    """

    def __init__(self, function: Callable[[], object], **options: Any) -> None:
        super().__init__(**options)
        self._function = function
        self._operators: list[OneOperator] = []
        self._position = 0
        self._waiting: dict[str, list[tuple[object, str | None]]] = {}
        self._kept: tuple[TensorListCPU, ...] | None = None

    def build(self) -> None:
        """Check the options. Operators are built when the function calls them first."""
        if self._batch_size < 1 or self._num_threads < 1:
            raise ArgumentError("Pipeline: batch_size and num_threads must be at least 1")

    def __enter__(self) -> NoReturn:
        raise EngineError("debug mode works with pipeline_def only, not with a `with` block")

    def run(self, **inputs: object) -> tuple[TensorListCPU, ...]:
        """Call the function and return its outputs.

        Args:
            inputs: Batches for external sources by name, as `feed_input` takes them.
        """
        self.build()
        for name, data in inputs.items():
            self.feed_input(name, data)
        if self._kept is not None:
            outputs, self._kept = self._kept, None
            return outputs
        self._position = 0
        with calls_handled_by(self._call):
            returned = self._function()
        values = returned if isinstance(returned, (tuple, list)) else () if returned is None else (returned,)
        return tuple(self._batch_of(value) for value in values)

    def reset(self) -> None:
        """Start the next epoch of the sources after StopIteration."""
        for one in self._operators:
            one.pipeline.reset()

    def feed_input(self, data_node: DataNode | str, data: object, layout: str | None = None) -> None:
        """Keep a batch for an `external_source` that has no source.

        Args:
            data_node: The node, or its name.
            data: An array with the samples along its first axis, or a list of arrays.
            layout: Names of the axes of a sample.
        """
        name = data_node if isinstance(data_node, str) else data_node.name
        self._waiting.setdefault(name, []).append((data, layout))

    def close(self) -> None:
        """Stop the threads of all operators."""
        for one in self._operators:
            one.pipeline.close()

    def _metas(self) -> dict[str, dict[str, int]]:
        if not self._operators:
            self._kept = self.run()  # readers are known after the first call of the function
        found: dict[str, dict[str, int]] = {}
        for one in self._operators:
            found |= one.pipeline.reader_meta()
        return found

    def _call(
        self, spec: Operator, inputs: Sequence[object], arguments: Mapping[str, object], options: Mapping[str, Any]
    ) -> CallResult:
        """Run an operator; the first batch builds it, and later ones use it in the order of the calls."""
        values = [self._value(value) for value in inputs]
        given = {key: self._value(value) for key, value in arguments.items()}
        number, self._position = self._position, self._position + 1
        if number == len(self._operators):
            seed = fold(self._seed, number) >> 1
            inner = Pipeline(self._batch_size, self._num_threads, self._device_id, seed, prefetch_queue_depth=1)
            self._operators.append(OneOperator(inner, spec, values, given, **options))
        one = self._operators[number]
        if one.spec is not spec:
            raise EngineError(
                f"{spec.name}: in debug mode the operators must be called in the same order for every batch; "
                f"this call was {one.spec.name} before"
            )
        self._feed(one, options.get("name"))
        return one.nodes(one.run(values, given), DataNodeDebug)

    def _feed(self, one: OneOperator, name: str | None) -> None:
        if one.spec.name != "external_source" or name not in self._waiting:
            return
        if not self._waiting[name]:
            raise UnknownNameError(f"external_source: no batch was fed to {name!r}; call feed_input before run")
        data, layout = self._waiting[name].pop(0)
        one.pipeline.feed_input(name, data, layout)

    def _value(self, value: object) -> object:
        if isinstance(value, DataNodeDebug):
            return value.get()
        if isinstance(value, (list, tuple)) and any(isinstance(item, DataNode) for item in value):
            return [self._value(item) for item in value]
        if isinstance(value, (list, tuple)) and any(hasattr(item, "__array__") for item in value):
            return TensorListCPU([np.asarray(self._value(item)) for item in value])
        return np.asarray(value) if hasattr(value, "__dlpack__") and not isinstance(value, TensorListCPU) else value

    def _batch_of(self, value: object) -> TensorListCPU:
        if isinstance(value, (list, tuple)):
            raise TypeError("an output of a pipeline in debug mode must be a node or an array, not a list of them")
        known = self._value(value)
        return known if isinstance(known, TensorListCPU) else TensorListCPU([default_array(known)] * self._batch_size)
