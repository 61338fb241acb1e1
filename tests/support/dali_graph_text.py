"""What the DALI engine emits for a graph, read from DALI's own serialised form and written as text."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pixelmill import Pipeline
from pixelmill.engine import selection
from pixelmill.engine.compile import compile_graph
from pixelmill.engine.dali.pipeline_builder import build_pipeline
from pixelmill.engine.dali.split import SplitPlan
from pixelmill.graph.nodes import DataNode, OperatorNode, operators_of

# Of OpSpecs: where in the source an operator was made, and what DALI gives to all of them.
NOT_SHOWN = {"device", "preserve_name", "num_threads", "max_batch_size", "seed", "checkpointing"}


@dataclass(frozen=True)
class Edge:
    """A value that an operator takes or gives; `argument` names it where it is one."""

    name: str
    device: str
    argument: str = ""


@dataclass(frozen=True)
class Call:
    """One operator of a serialised pipeline."""

    schema: str
    device: str
    inputs: tuple[Edge, ...]
    outputs: tuple[Edge, ...]
    arguments: dict[str, str]


def serialised(build: Callable[[], Any], *, gpu: bool, batch_size: int = 8) -> tuple[SplitPlan, bytes]:
    """Cut a graph for DALI and serialise DALI's part. A GPU is needed to build it, but not for this."""
    with Pipeline(batch_size, 2, None):
        outputs = build()
    nodes: list[DataNode] = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    whole = compile_graph([node.expr for node in nodes], seed=7, optimize=True, decode_scaling=True)
    plan = selection.split_for_dali(whole, operators_of(nodes), nodes, seed=7, gpu=gpu)
    assert isinstance(plan, SplitPlan), "nothing of the graph is for DALI"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipe: Any = build_pipeline(plan, batch_size=batch_size, threads=2, device_id=0 if gpu else None)
        pipe._device_id = None  # asks for no driver; the operators keep their devices
        return plan, pipe.serialize()


def calls(data: bytes) -> tuple[list[Call], list[Edge]]:
    """Read a serialised pipeline: its operators, and its outputs."""
    parts = list(_fields(data))
    found = [_call(dict_of(value)) for number, value in parts if number == 5]
    return found, [_edge(value) for number, value in parts if number == 7]


def text(plan: SplitPlan, data: bytes) -> str:
    """Write what runs where: natively before DALI, on DALI call by call, natively after DALI."""
    found, outputs = calls(data)
    names: dict[str, str] = {}
    for call in found:
        for edge in call.outputs:
            names.setdefault(edge.name, f"%{len(names)}")
    lines = [f"native before: {_operators(plan.before)}"]
    for call in found:
        inputs = [_shown(edge, names) for edge in call.inputs]
        arguments = [f"{name}={value}" for name, value in sorted(call.arguments.items())]
        given = ", ".join(_shown(edge, names) for edge in call.outputs)
        lines.append(f"{given} = {call.schema}[{call.device}]({', '.join([*inputs, *arguments])})")
    lines.append(f"outputs: {', '.join(_shown(edge, names) for edge in outputs)}")
    lines.append(f"native after: {_operators(plan.after)}")
    return "\n".join(lines) + "\n"


def _operators(plan: Any) -> str:
    """Name the operators that a native program works for."""
    if plan is None:
        return "nothing"
    origins = [step.origin for segment in plan.segments for step in segment.steps]
    named = {origin.operator for origin in origins if isinstance(origin, OperatorNode)}
    return ", ".join(sorted(named - {"external_source"})) or "nothing"


def _shown(edge: Edge, names: dict[str, str]) -> str:
    value = f"{names.get(edge.name, edge.name)}:{edge.device}"
    return f"{edge.argument}={value}" if edge.argument else value


def dict_of(data: bytes) -> dict[int, list[Any]]:
    """Return the fields of a message by their numbers."""
    found: dict[int, list[Any]] = {}
    for number, value in _fields(data):
        found.setdefault(number, []).append(value)
    return found


def _call(fields: dict[int, list[Any]]) -> Call:
    arguments = {}
    device = ""
    for value in fields.get(4, []):
        argument = dict_of(value)
        name = argument[1][0].decode()
        if name == "device":
            device = argument[5][0].decode()
        if not name.startswith("_") and name not in NOT_SHOWN:
            arguments[name] = _value(argument)
    inputs, outputs = (tuple(map(_edge, fields.get(number, []))) for number in (2, 3))
    return Call(fields[1][0].decode(), device, inputs, outputs, arguments)


def _edge(data: bytes) -> Edge:
    fields = dict_of(data)
    argument = fields[4][0].decode() if 4 in fields else ("?" if fields.get(3, [0])[0] else "")
    return Edge(fields[1][0].decode(), fields[2][0].decode(), argument)


def _value(argument: dict[int, list[Any]]) -> str:
    if 7 in argument:
        return "[" + ", ".join(_value(dict_of(item)) for item in argument[7]) + "]"
    for number in (3, 4, 5, 6):
        if number in argument:
            return ", ".join(map(_scalar(number), argument[number]))
    return "[]"


def _scalar(number: int) -> Callable[[Any], str]:
    return {
        3: lambda value: f"{struct.unpack('<f', value)[0]:.7g}",
        4: lambda value: str(value - (1 << 64) if value >> 63 else value),
        5: lambda value: repr(value.decode()),
        6: lambda value: str(bool(value)),
    }[number]


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Walk over the fields of a protocol buffer."""
    place = 0
    while place < len(data):
        value: int | bytes
        key, place = _varint(data, place)
        kind = key & 7
        if kind == 0:
            value, place = _varint(data, place)
        elif kind == 2:
            length, place = _varint(data, place)
            value, place = data[place : place + length], place + length
        else:
            length = {1: 8, 5: 4}[kind]
            value, place = data[place : place + length], place + length
        yield key >> 3, value


def _varint(data: Sequence[int], place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
