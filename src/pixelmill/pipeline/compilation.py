"""From the nodes of a pipeline to its plan, its feeds and its readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pixelmill.engine import selection
from pixelmill.engine.compile import Plan, compile_graph
from pixelmill.errors import ArgumentError
from pixelmill.graph.calls import as_node
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.pipeline.external_source import Feed
from pixelmill.steps.sources import ExternalInput, Reader, reader_of


@dataclass(frozen=True)
class CompileOptions:
    """How a graph is compiled.

    Attributes:
        optimize: Whether to fuse operators.
        decode_scaling: Whether JPEGs that are downscaled may be decoded at a lower resolution.
    """

    optimize: bool = True
    decode_scaling: bool = True

    def plan(
        self, nodes: Sequence[OperatorNode], outputs: Sequence[DataNode], *, engine: str, seed: int, gpu: bool
    ) -> Plan:
        """Compile a graph for an engine.

        Args:
            nodes: All operators of the graph.
            outputs: Its outputs.
            engine: `native` or `dali`.
            seed: The seed that random keys are derived from.
            gpu: Whether outputs that are requested on a GPU are delivered there.
        """
        exprs = [node.expr for node in outputs]
        plan = compile_graph(exprs, seed=seed, optimize=self.optimize, decode_scaling=self.decode_scaling)
        if engine == "dali":
            plan = selection.split_for_dali(plan, nodes, outputs, seed=seed, gpu=gpu)
        return plan


def feeds_of(plan: Plan, nodes: Sequence[OperatorNode], batch_size: int) -> list[Feed]:
    """Return a feed for each external source of a plan, named after its node."""
    names = {}
    for node in nodes:
        for step in {expr.step for expr in node.exprs}:
            if isinstance(step, ExternalInput):
                names[step.source] = node.name
    return [Feed(source, names[source], batch_size) for source in plan.sources]


def readers_of(nodes: Sequence[OperatorNode]) -> dict[str, Reader]:
    """Return the readers of a graph by the names of their nodes."""
    found = {node.name: reader_of(node.exprs[0]) for node in nodes if node.operator.startswith("readers.")}
    return {name: reader for name, reader in found.items() if reader is not None}


def output_nodes(outputs: Sequence[object]) -> list[DataNode]:
    """Return the outputs of a graph as nodes; lists among them are flattened, and numbers become constants."""
    flat = [node for value in outputs for node in (value if isinstance(value, (list, tuple)) else [value])]
    nodes = [as_node(value) for value in flat]
    if any(node.within for node in nodes):
        raise ArgumentError("set_outputs: a part of a batch cannot be an output; merge it with the other part")
    return nodes


def check_names(nodes: Sequence[OperatorNode]) -> None:
    """Raise ArgumentError if two operators have one name. Those of one call with lists of inputs may share it."""
    seen: set[str] = set()
    for node in nodes:
        if node.same_draws_as is None and node.name in seen:
            raise ArgumentError(f"Pipeline: operators must not have non-unique names, and two are named {node.name!r}")
        seen.add(node.name)
