"""The stubs of `fn` and `ops`, written from the declared operators."""

from __future__ import annotations

import enum
import re
import textwrap
import typing
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pixelmill import types
from pixelmill.operators import OLDER_FUNCTIONS
from pixelmill.operators.declare import Argument, Floats, Ints, Operator, Strings, public_operators
from pixelmill.steps.step import Expr

WIDTH = 120
NOTE = "# Written by scripts/write_api.py from the declarations in pixelmill/operators."

# Arguments that decide whether an operator returns one value or a list of them.
DECIDING = ("num_outputs", "save_attrs")

# Arguments that every operator has in addition to its own: type and description.
OPTIONS = {
    "device": ("str | None", "Where it should run; the native engine runs everything on the CPU."),
    "name": ("str | None", "The name of its node."),
    "seed": ("int | None", "A seed for its random numbers."),
}

# Names for longer types. A list of nodes as the first input returns a list of results, which `_Data` expresses.
ALIASES = {
    "_Data": '_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)',
    "_Constant": "_Constant: TypeAlias = (\n"
    "    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]\n"
    ")",
    "_Node": "_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant",
    "_Ints": "_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]",
    "_Floats": "_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]",
    "_Strings": "_Strings: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]",
}

ENUMERATIONS = [name for name, kind in vars(types).items() if isinstance(kind, enum.EnumType)]

# Imports that a stub may need, in order. A stub never runs, so typing_extensions need not be installed.
IMPORTS = (
    (
        ("collections.abc", "Callable Sequence"),
        ("os", "PathLike"),
        ("typing", "Any ClassVar Literal TypeAlias overload"),
    ),
    (("numpy.typing", "NDArray"), ("typing_extensions", "TypeVar")),
    (
        ("pixelmill.graph.nodes", "DataNode"),
        ("pixelmill.operators", "Operator"),
        ("pixelmill.ops", "OperatorClass"),
        ("pixelmill.types", " ".join(sorted(["ArrayConstant", "ScalarConstant", *ENUMERATIONS]))),
    ),
)

BASE_CLASS = '''\
class OperatorClass:
    """An operator with its constant arguments, to be called with its inputs."""

    spec: ClassVar[Operator]

class Compose:
    """Several operators in a row, to be called like one."""

    def __init__(self, op_list: Sequence[Callable[..., Any]]) -> None: ...
    def __call__(self, *inputs: Any, **arguments: Any) -> Any: ...'''


def stubs(package: Literal["fn", "ops"]) -> dict[str, str]:
    """Return all stubs of `fn` or `ops` by file name: one for each family, and `__init__.pyi`."""
    bodies: dict[str, list[str]] = {"": [] if package == "fn" else [BASE_CLASS]}
    for name, spec in sorted(public_operators().items()):
        bodies.setdefault(_family(name), []).append(_function(spec) if package == "fn" else _class(spec))
    bodies[""] += _older_classes() if package == "ops" else _older_functions()
    for family in list(bodies):  # a nested family, such as io.file, needs its parent
        bodies.setdefault(_family(family), [])
    written = {}
    for family, parts in bodies.items():
        inner = sorted(name.rpartition(".")[2] for name in bodies if name and _family(name) == family)
        title = ".".join(filter(None, [package, family])) + ": operators as "
        title += "functions." if package == "fn" else "classes."
        module = ".".join(filter(None, ["pixelmill", package, family]))
        imported = [(module, f"{name} as {name}") for name in inner]
        path = f"{family.replace('.', '/')}/__init__" if inner and family else family.replace(".", "/") or "__init__"
        written[f"{path}.pyi"] = _file(title, "\n\n".join(parts), imported)
    return written


def _family(name: str) -> str:
    return name.rpartition(".")[0]


def _file(title: str, body: str, imported: list[tuple[str, str]]) -> str:
    """Return a stub: its imports and type names, then its body."""
    needed = [text for name, text in ALIASES.items() if re.search(rf"\b{name}\b", body)]
    if "class Sequence(" in body:  # `ops.readers.Sequence` hides the type of this name
        body, *needed = (re.sub(r"\bSequence\[", "abc.Sequence[", part) for part in [body, *needed])
    text = "\n".join([*needed, body])
    groups = []
    for group in IMPORTS:
        wanted = [(module, _used(names.split(), text)) for module, names in group]
        groups.append([(module, names) for module, names in wanted if names])
    groups[0] = [("collections", "abc")] * ("abc.Sequence[" in text) + groups[0]
    groups[-1] = sorted(groups[-1] + imported)
    imports = ["\n".join(_import(module, names) for module, names in group) for group in groups if group]
    parts = [f'{NOTE}\n"""{title}"""', *imports, "\n".join(needed), body]
    return "\n\n".join(part for part in parts if part) + "\n"


def _import(module: str, names: str) -> str:
    line = f"from {module} import {names}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in names.split(", ")), ")"])


def _used(names: Sequence[str], text: str) -> str:
    return ", ".join(
        name for name in names if re.search(rf"\b{name}\b", text) and not re.search(rf"class {name}\b", text)
    )


def _function(spec: Operator) -> str:
    """Return the function of an operator; two overloads if an argument decides the type of its result."""
    name, doc = spec.name.rsplit(".", 1)[-1], _doc(spec, [*spec.input_docs, *spec.arguments])
    own, (result, deciding) = _own(spec, nodes=True), _result(spec)

    def variant(own: dict[str, str], result: str) -> str:
        parameters = [*_inputs(spec), *own.values()] if spec.inputs else _led(spec, own)
        return _signature(name, [*parameters, *_options(*OPTIONS)], result, doc)

    if deciding is None:
        return variant(own, result)
    argument = spec.arguments[deciding]
    default = literal(argument.default)
    one = _parameter(deciding, "None" if argument.default is None else f"Literal[{default}]", default)
    more = _parameter(deciding, "Literal[True]" if argument.kind is bool else _plain(argument))
    # num_outputs=1 returns one value; an int that is not a literal may be that 1, so the result is not known.
    several = f"list[{result}]" if argument.kind is bool or argument.default is None else "Any"
    single, plural = variant({**own, deciding: one}, result), variant({**own, deciding: more}, several)
    return f"@overload\n{single}\n\n@overload\n{plural}"


def _class(spec: Operator) -> str:
    """Return the class of an operator: the constructor takes constants, a call inputs and per-sample arguments."""
    own = _own(spec, nodes=False)
    varying = {}
    for name, argument in spec.arguments.items():
        if argument.per_sample:
            varying[name] = _parameter(name, f"{_plain(argument)} | _Node | None", "None")
            if argument.required:
                own[name] = _parameter(name, f"{_plain(argument)} | None", "None")
    result, deciding = _result(spec)
    constructor = ["self", *_led(spec, own), *_options(*OPTIONS)]
    call = ["self", *_inputs(spec), *varying.values(), *_options("name")]
    return "\n".join(
        [
            f"class {spec.class_name}(OperatorClass):",
            _docstring(_doc(spec, spec.arguments), "    "),
            "",
            _signature("__init__", constructor, "None", indent="    "),
            _signature("__call__", call, "Any" if deciding else result, indent="    "),
        ]
    )


def _older_classes() -> list[str]:
    """Return the older names of operators, all of them directly below `ops`."""
    written = {}
    for name, spec in public_operators().items():
        current = ".".join(filter(None, [_family(name), spec.class_name]))
        for alias in spec.aliases:
            if alias != current:
                excuse = "" if alias[0].isupper() else "  # noqa: N801 - DALI's name"
                written[alias] = f'class {alias}({current}):{excuse}\n    """An older name of `ops.{current}`."""'
    return [written[alias] for alias in sorted(written)]


def _older_functions() -> list[str]:
    """Return the older names of functions that are directly below `fn`."""
    return ["\n".join(f"{older} = {name}" for older, name in sorted(OLDER_FUNCTIONS.items()) if "." not in older)]


def _signature(name: str, parameters: Sequence[str], result: str, doc: str = "", indent: str = "") -> str:
    lines = [f"def {name}(", *(f"    {parameter}," for parameter in parameters), f") -> {result}:"]
    text = textwrap.indent("\n".join(lines), indent)
    return f"{text}\n{_docstring(doc, indent + '    ')}" if doc else f"{text} ..."


def _parameter(name: str, kind: str, default: str | None = None) -> str:
    return f"{name}: {kind}" if default is None else f"{name}: {kind} = {default}"


def _inputs(spec: Operator) -> list[str]:
    """Return the inputs, and the separator between them and the arguments."""
    if spec.many_inputs:
        return [f"*{spec.inputs[0]}: DataNode | _Constant"]
    written = []
    for place, name in enumerate(spec.inputs):
        kind = "_Data | _Constant" if place == 0 else "DataNode | list[DataNode] | _Constant"
        optional = place >= spec.required_inputs
        written.append(_parameter(name, f"{kind} | None", "None") if optional else _parameter(name, kind))
    return [*written, "/", "*"] if written else ["*"]


def _led(spec: Operator, own: dict[str, str]) -> list[str]:
    """Move positional arguments before the others, as far as the result is a valid signature."""
    leading: list[str] = []
    for name in spec.leading:
        if leading and "=" in leading[-1] and "=" not in own[name]:
            break
        leading.append(own[name])
    return [*leading, "*", *(parameter for parameter in own.values() if parameter not in leading)]


def _own(spec: Operator, *, nodes: bool) -> dict[str, str]:
    """Return the arguments of an operator, their older names, and those that it ignores."""
    written = {}
    for name, argument in spec.arguments.items():
        default = None if argument.required else literal(argument.default)
        written[name] = _parameter(name, _type(argument, nodes=nodes), default)
    for old, new in spec.renamed.items():
        kind = _type(spec.arguments[new], nodes=nodes).removesuffix(" | None")
        written[old] = _parameter(old, f"{kind} | None", "None")
    return written | {name: _parameter(name, "object", "None") for name in sorted(spec.ignored)}


def _options(*names: str) -> list[str]:
    return [_parameter(name, OPTIONS[name][0], "None") for name in names]


def _type(argument: Argument, *, nodes: bool) -> str:
    parts = [_plain(argument)]
    if nodes and argument.per_sample:
        parts.append("_Node")
    if not argument.required and argument.default is None and parts != ["Any"]:
        parts.append("None")
    return " | ".join(parts)


def _plain(argument: Argument) -> str:
    """Return the type of the constants that an argument takes."""
    kind = argument.kind
    if typing.get_origin(kind) is Literal:
        return f"Literal[{', '.join(map(literal, typing.get_args(kind)))}]"
    names: list[tuple[Any, str]] = [(Ints, "_Ints"), (Floats, "_Floats"), (Strings, "_Strings"), (Any, "Any")]
    return next((name for known, name in names if known == kind), None) or str(getattr(kind, "__name__", kind))


def _result(spec: Operator) -> tuple[str, str | None]:
    """Return the type of an operator's result, and the argument that decides whether there are several of them."""
    hint = typing.get_type_hints(spec.body)["return"]
    one = "_Data" if spec.inputs and not spec.many_inputs else "DataNode"
    if hint is Expr:
        return one, None
    if typing.get_origin(hint) is tuple:
        return f"list[{one}]", None
    if typing.get_origin(hint) is dict:
        return f"dict[str, {one}]", None
    deciding = next((name for name in DECIDING if name in spec.arguments), None)
    return (one, deciding) if deciding else ("Any", None)


def literal(value: Any) -> str:
    """Return a default as code: strings in double quotes, lists as tuples, members of enumerations by name."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def _doc(spec: Operator, names: Iterable[str]) -> str:
    explained = {**spec.input_docs, **{name: argument.doc for name, argument in spec.arguments.items()}}
    lines = [f"    {name}: {explained[name]}" for name in names]
    lines += [f"    {name}: {meaning}" for name, (_, meaning) in OPTIONS.items()]
    return "\n\n".join(filter(None, [spec.summary, spec.details, "\n".join(["Args:", *lines])]))


def _docstring(text: str, indent: str) -> str:
    """Return a docstring with wrapped lines."""
    lines = []
    for line in text.replace("\\", "\\\\").splitlines():
        lead = indent + line[: len(line) - len(line.lstrip())]
        hanging = lead + "    " * line.startswith("    ")
        lines += wrapped(line.strip(), width=WIDTH, first=lead, later=hanging) or [""]
    lines[0] = f'{indent}"""{lines[0].lstrip()}'
    return "\n".join([*lines, f'{indent}"""'])


def wrapped(text: str, *, width: int, first: str = "", later: str = "") -> list[str]:
    """Break a text into lines, at spaces only."""
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=later, break_on_hyphens=False, break_long_words=False
    )
