"""The JSON schema of recipes, for editors, derived from the declarations of operators and the methods of a scene."""

from __future__ import annotations

import enum
import inspect
import math
import re
import typing
from collections.abc import Mapping
from typing import Any

from pixelmill.operators import REGISTRY
from pixelmill.operators.declare import Argument, Floats, Ints
from pixelmill.recipe.draws import DRAWS
from pixelmill.recipe.scene import Scene
from pixelmill.recipe.vocabulary import CONTROL, DRAWING, GEOMETRY, JOINING, PIXELS, SHORT_NAMES, step_names

Schema = dict[str, Any]

_NUMBER: Schema = {"type": "number"}
_DRAW: Schema = {"$ref": "#/$defs/draw"}
_STEPS: Schema = {"type": "array", "items": {"$ref": "#/$defs/step"}, "minItems": 1}
_PROBABILITY: Schema = {
    "type": "number",
    "minimum": 0,
    "maximum": 1,
    "description": "Probability that a sample gets it.",
}
_PLAIN: dict[object, Schema] = {
    int: {"type": "integer"},
    float: _NUMBER,
    bool: {"enum": [True, False, 0, 1]},
    str: {"type": "string"},
    Floats: {"anyOf": [_NUMBER, {"type": "array", "items": {"anyOf": [_NUMBER, _DRAW]}}]},
    Ints: {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"anyOf": [{"type": "integer"}, _DRAW]}}]},
}


def recipe_schema() -> Schema:
    """Return the JSON schema of a recipe file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pixelmill recipe",
        "type": "object",
        "required": ["steps"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string"},
            "about": {"type": "string", "description": "What it does, in one sentence."},
            "steps": _STEPS,
            "keypoint_pairs": {
                "description": "Keypoints that swap when left and right do: coco, or pairs of numbers from 0.",
                "anyOf": [
                    {"const": "coco"},
                    {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
                ],
            },
        },
        "$defs": {"draw": _draw_schema(), "step": _step_schema()},
    }


def _draw_schema() -> Schema:
    numbers = {"type": "array", "items": _NUMBER}
    kinds: list[Schema] = []
    for name, what in DRAWS.items():
        kind = {"coin": _PROBABILITY, "permutation": {"type": "integer"}}.get(name, numbers)
        value: Schema = {**kind, "description": f"{what.capitalize()}."}
        properties: Schema = {name: value, "as": {"type": "string", "description": "A name for references."}}
        if name == "choice":
            properties["weights"] = numbers
        kinds.append({"properties": properties, "required": [name], "additionalProperties": False})
    reference: Schema = {"ref": {"type": "string"}, "times": _NUMBER, "plus": _NUMBER}
    kinds.append({"properties": reference, "required": ["ref"], "additionalProperties": False})
    return {"type": "object", "oneOf": kinds, "description": "A random value, or a reference to an earlier one."}


def _step_schema() -> Schema:
    steps: dict[str, Schema] = {}
    for name in step_names():
        if name in CONTROL:
            steps[name] = _control(name)
        elif name in (*GEOMETRY, *JOINING):
            steps[name] = _geometric(name)
        else:
            steps[name] = _pixels(SHORT_NAMES.get(name, name))
    one = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": False, "properties": steps}
    return {"anyOf": [{"enum": sorted({*GEOMETRY, *JOINING, *PIXELS, *SHORT_NAMES})}, one]}


def _control(name: str) -> Schema:
    weights: Schema = {"type": "array", "items": {"type": "number", "minimum": 0}}
    count: Schema = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}
    known: dict[str, Schema] = {
        "weights": weights,
        "count": count,
        "otherwise": _STEPS,
        "classes": {"type": "object", "additionalProperties": _STEPS},
    }
    properties = {"p": _PROBABILITY, **{argument: known[argument] for argument in CONTROL[name]}}
    if name == "per_class":
        return _arguments(properties, ["classes"], "Steps for images of some classes.")
    whole = _arguments({"steps": _STEPS, **properties}, ["steps"], "")
    about = {"one_of": "One of the steps.", "some_of": "Some of the steps.", "sequential": "All of the steps."}
    return {"anyOf": [_STEPS, whole], "description": about[name]}


def _pixels(name: str) -> Schema:
    operator = REGISTRY[name]
    properties = {argument.name: _argument(argument) for argument in operator.arguments.values()}
    required = [argument.name for argument in operator.arguments.values() if argument.required]
    return _arguments({**properties, "p": _PROBABILITY}, required, operator.summary)


def _argument(argument: Argument) -> Schema:
    kind = argument.kind
    if typing.get_origin(kind) is typing.Literal:
        found: Schema = {"enum": list(typing.get_args(kind))}
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        found = {"type": ["integer", "string", "null"]}
    else:
        found = dict(next((schema for known, schema in _PLAIN.items() if known == kind), {}))
    limits = argument.limits
    if limits is not None and "type" in found:
        bounds = {"minimum": limits.low, "maximum": limits.high}
        found |= {key: value for key, value in bounds.items() if math.isfinite(value)}
    if argument.per_sample:
        found = {"anyOf": [found, _DRAW]}
    return {**found, "description": argument.doc}


def _geometric(name: str) -> Schema:
    method = getattr(Scene, name)
    text = inspect.getdoc(method) or ""
    docs = _documented(text)
    properties: dict[str, Schema] = {}
    required = []
    for parameter in inspect.signature(method).parameters.values():
        given = name in JOINING and parameter.name in ("other", "others")
        if parameter.name == "self" or (parameter.name == "seed" and name in DRAWING) or given:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            properties |= _further_of_resize(properties)
            continue
        hint = str(parameter.annotation)
        found: Schema = {"type": "array", "items": _NUMBER} if hint.startswith("Sequence") else dict(_NUMBER)
        if hint.startswith(("bool", "str", "int")):
            found = dict(_PLAIN[{"bool": bool, "str": str, "int": int}[hint.split(" ")[0]]])
        elif "Number" in hint or "DataNode" in hint:
            found = {"anyOf": [_NUMBER, _DRAW, {"type": "array", "items": {"anyOf": [_NUMBER, _DRAW]}}]}
        properties[parameter.name] = {**found, "description": docs.get(parameter.name, "")}
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return _arguments({**properties, "p": _PROBABILITY}, required, text.partition("\n")[0])


def _further_of_resize(taken: Mapping[str, object]) -> dict[str, Schema]:
    arguments = REGISTRY["resize"].arguments
    return {name: _argument(argument) for name, argument in arguments.items() if name not in taken}


def _documented(text: str) -> dict[str, str]:
    """Return the sentences about arguments of a docstring."""
    found = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", text.partition("Args:\n")[2], re.MULTILINE)
    return {name: " ".join(sentence.split()) for name, sentence in found}


def _arguments(properties: Mapping[str, Schema], required: list[str], about: str) -> Schema:
    made: Schema = {"type": ["object", "null"], "properties": dict(properties), "additionalProperties": False}
    if required:
        made |= {"type": "object", "required": required}
    return {**made, "description": about} if about else made
