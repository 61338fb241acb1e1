"""Graphs as JSON: operators by name, their arguments, and how they are connected. No code is stored or run."""

from __future__ import annotations

import base64
import binascii
import contextlib
import enum
import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pixelmill import tfrecord, types
from pixelmill.errors import ArgumentError
from pixelmill.graph.calls import as_node, call
from pixelmill.graph.nodes import DataNode, OperatorNode, inside_branch, operators_of
from pixelmill.operators import REGISTRY, Operator
from pixelmill.operators.arithmetic import OPERATIONS
from pixelmill.operators.subscripts import SUBSCRIPT
from pixelmill.steps.sources import constant_array
from pixelmill.types import ArrayConstant

FORMAT, VERSION = "pixelmill pipeline", 1
_ENUMS: dict[str, type[enum.Enum]] = {
    kind.__name__: kind
    for kind in (types.DALIDataType, types.DALIImageType, types.DALIInterpType, tfrecord.FeatureType)
}
_FEATURES = {"FixedLenFeature": tfrecord.FixedLenFeature, "VarLenFeature": tfrecord.VarLenFeature}

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def dump(outputs: Sequence[DataNode], options: Mapping[str, object], *, with_credentials: bool = False) -> bytes:
    """Return a graph and the options of its pipeline as JSON.

    Args:
        outputs: What the graph returns.
        options: Arguments of `Pipeline`.
        with_credentials: Whether to keep `storage_options`, for a graph that stays in memory. They do not belong into
            files; who loads the graph has those of the environment.
    """
    nodes = operators_of(outputs)
    numbers = {node: number for number, node in enumerate(nodes)}
    families = {node.same_draws_as or node: number for number, node in reversed(list(enumerate(nodes)))}
    omitted = () if with_credentials else ("storage_options",)
    try:
        saved = {
            "format": FORMAT,
            "version": VERSION,
            "pipeline": {name: _saved(value, numbers) for name, value in options.items()},
            "operators": [_operator(node, numbers, families[node.same_draws_as or node], omitted) for node in nodes],
            "outputs": [_saved(node, numbers) for node in outputs],
        }
    except TypeError as error:
        raise ArgumentError(f"serialize: {error}") from None
    return json.dumps(saved, allow_nan=False).encode()


def _operator(
    node: OperatorNode, numbers: Mapping[OperatorNode, int], family: int, omitted: Container[str]
) -> dict[str, Json]:
    try:
        given = {key: value for key, value in node.arguments.items() if key not in omitted and value is not None}
        arguments = {key: _saved(value, numbers) for key, value in given.items()}
    except TypeError as error:
        raise TypeError(f"{node.name!r} ({node.operator}): {error}") from None
    return {
        "operator": node.operator,
        "name": node.name,
        "device": node.device,
        "seed": node.seed,
        "family": family,
        "inputs": [_saved(value, numbers) for value in node.inputs],
        "arguments": arguments,
        "branch": [[_saved(condition, numbers), number, equal] for condition, number, equal in node.branch],
    }


def _saved(value: object, numbers: Mapping[OperatorNode, int]) -> Json:
    if isinstance(value, DataNode):
        return _saved_node(value, numbers)
    if isinstance(value, enum.Enum):
        return {"enum": type(value).__name__, "name": value.name}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        return _saved_array(np.asarray(value))
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, (list, tuple)):
        return [_saved(item, numbers) for item in value]
    if isinstance(value, Mapping):
        return {"dict": [[_saved(key, numbers), _saved(item, numbers)] for key, item in value.items()]}
    if isinstance(value, (tfrecord.FixedLenFeature, tfrecord.VarLenFeature)):
        shape = value.shape if isinstance(value, tfrecord.FixedLenFeature) else value.partial_shape
        parts = [_saved(part, numbers) for part in (shape, value.dtype, value.default_value)]
        return {"feature": type(value).__name__, "arguments": parts}
    what = "a Python function" if callable(value) else f"a value of type {type(value).__name__}"
    raise TypeError(
        f"{what} cannot be stored; for data from the program, use external_source(name=...) without a source"
    )


def _saved_node(node: DataNode, numbers: Mapping[OperatorNode, int]) -> dict[str, Json]:
    if node.operator is None:
        array = constant_array(node.expr)
        assert array is not None, "only constants have no operator"
        return {"constant": _saved_array(array), "layout": node.expr.layout}
    return {"node": numbers[node.operator], "output": node.index, "device": node.device}


def _saved_array(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> dict[str, Json]:
    if array.dtype.hasobject:
        raise TypeError("an array of Python objects cannot be stored")
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"array": array.dtype.str, "shape": list(array.shape), "data": data}


def load(data: bytes | str) -> Restored:
    """Parse what `dump` returned. Raises ArgumentError if it is damaged or not from `dump`."""
    try:
        saved = json.loads(data)
        if not isinstance(saved, dict) or saved.get("format") != FORMAT:
            raise ValueError("it does not start with the name of the format")
        if saved.get("version") != VERSION:
            raise ValueError(f"its version is {saved.get('version')!r}, and this release reads {VERSION}")
        restored = Restored({})
        restored.options |= {str(name): restored.value(value) for name, value in saved["pipeline"].items()}
        restored.add_operators(saved["operators"])
        restored.outputs += [as_node(restored.value(node)) for node in saved["outputs"]]
    except ArgumentError as error:
        raise ArgumentError(f"deserialize: {error}") from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, binascii.Error) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ArgumentError(
            f"deserialize: this is not a pipeline that pixelmill's Pipeline.serialize wrote: {what}"
        ) from None
    return restored


@dataclass
class Restored:
    """A graph under construction.

    Attributes:
        options: Arguments of `Pipeline`.
        outputs: What the graph returns.
    """

    options: dict[str, object]
    outputs: list[DataNode] = field(default_factory=list)
    _made: dict[int, list[DataNode]] = field(default_factory=dict)

    def add_operators(self, operators: Sequence[Mapping[str, Json]]) -> None:
        """Call the operators in their order; those of one family, which draw the same numbers, in one call."""
        members: dict[object, list[int]] = {}
        for number, saved in enumerate(operators):
            members.setdefault(saved["family"], []).append(number)
        for number in range(len(operators)):
            if number not in self._made:
                family = members[operators[number]["family"]]
                if family[0] != number:
                    raise ValueError("its operators are not in order")
                self._call([operators[member] for member in family], family)

    def _call(self, family: Sequence[Mapping[str, Json]], numbers: Sequence[int]) -> None:
        first = family[0]
        name, device, seed = first["name"], first["device"], first["seed"]
        if not isinstance(name, str) or not isinstance(device, str) or not isinstance(seed, int | None):
            raise ValueError(f"the operator {name!r} is damaged")
        inputs = [self._list(saved["inputs"]) for saved in family]
        given: list[object] = inputs[0] if len(family) == 1 else list(zip(*inputs, strict=True))
        with contextlib.ExitStack() as stack:
            for item in self._items(first["branch"]):
                condition, number, equal = self._items(item)
                stack.enter_context(inside_branch(as_node(self.value(condition)), int(str(number)), equal=bool(equal)))
            arguments = self._mapping(first["arguments"])
            made = call(_spec(first["operator"]), given, arguments, device=device, name=name, seed=seed)
        results = made if len(family) > 1 and isinstance(made, list) else [made]
        for number, result in zip(numbers, results, strict=True):
            nodes = result.values() if isinstance(result, dict) else result if isinstance(result, list) else [result]
            self._made[number] = [node for node in nodes if isinstance(node, DataNode)]

    @staticmethod
    def _items(saved: Json) -> list[Json]:
        if not isinstance(saved, list):
            raise ValueError("its inputs or branches are damaged")
        return saved

    def _list(self, saved: Json) -> list[object]:
        return [self.value(item) for item in self._items(saved)]

    def _mapping(self, saved: Json) -> dict[str, object]:
        if not isinstance(saved, dict):
            raise ValueError("its arguments are damaged")
        return {key: self.value(item) for key, item in saved.items()}

    def value(self, saved: Json) -> object:
        """Return what a value was before `dump`."""
        if isinstance(saved, list):
            return [self.value(item) for item in saved]
        if not isinstance(saved, dict):
            return saved
        match saved:
            case {"node": int(number), "output": int(index), "device": str(device)}:
                node = self._made[number][index]
                return node.gpu() if device == "gpu" else node.cpu()
            case {"constant": dict(array), "layout": str(layout)}:
                return as_node(ArrayConstant(_array(array), layout))
            case {"enum": str(kind), "name": str(name)}:
                return _ENUMS[kind][name]
            case {"float": ("inf" | "-inf" | "nan") as number}:
                return float(number)
            case {"array": str()}:
                return _array(saved)
            case {"bytes": str(text)}:
                return base64.b64decode(text, validate=True)
            case {"dict": list(items)}:
                return dict(self._list(item) for item in items)  # type: ignore[arg-type]
            case {"feature": str(kind), "arguments": [shape, dtype, default]}:
                return _FEATURES[kind](self.value(shape), self.value(dtype), self.value(default))
        raise ValueError(f"it contains a value of an unknown kind: {', '.join(saved)[:80]}")


def _array(saved: Mapping[str, Json]) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    match saved:
        case {"array": str(dtype), "shape": list(shape), "data": str(data)}:
            kind = np.dtype(dtype)
            if kind.hasobject or kind.kind not in "biuf":
                raise ValueError(f"it contains an array of type {dtype}")
            array = np.frombuffer(base64.b64decode(data, validate=True), kind)
            return array.reshape([int(str(extent)) for extent in shape]).copy()
    raise ValueError("it contains a damaged array")


def _spec(name: Json) -> Operator:
    if name == SUBSCRIPT.name:
        return SUBSCRIPT
    found = OPERATIONS.get(str(name)) or (REGISTRY[str(name)] if name in REGISTRY else None)
    if found is None:
        raise ArgumentError(f"there is no operator {name!r} in this release")
    return found
