"""docs/operators.md, written from the declared operators."""

from __future__ import annotations

import enum
import inspect
import sys
import typing
from collections.abc import Sequence
from typing import Any, Literal, TypeGuard

from api_stubs import OPTIONS, literal, wrapped

from pixelmill.operators import OLDER_FUNCTIONS
from pixelmill.operators.dali import EXACT, DaliCall
from pixelmill.operators.declare import COMMON_IGNORED, Argument, Floats, Ints, Operator, Strings, public_operators

NOTE = "<!-- Written by scripts/write_api.py from the declarations in src/pixelmill/operators. -->"

# Families in the order in which a pipeline uses them; others follow.
FAMILIES = ("readers", "sources", "decoders", "resize", "crop", "generic", "random")

INTRODUCTION = """\
# Operators

Every operator is a function of `pixelmill.fn` and a class of `pixelmill.ops`. Names, defaults and meanings are DALI's.
`fn.flip(images, horizontal=1)` adds a flip to the graph that is being built and returns a node;
`ops.Flip(horizontal=1)(images)` does the same in two steps.

Inputs are positional: nodes, numbers, arrays or `types.Constant`. An operator whose first input is a list of nodes is
applied to each of them, with the same random numbers, and returns a list. All other arguments are keywords. If the
column *per sample* is yes, an argument may also be a node, with a different value for each sample; a class takes such
nodes when it is called. A wrong name or value raises an error in the line that adds the operator, before anything
runs."""


def page() -> str:
    """Return the page."""
    by_family = families()
    parts = [NOTE, INTRODUCTION, options(), "## All operators"]
    for family, specs in by_family.items():
        rows = [f"| [{spec.name}](#{anchor(spec.name)}) | {_cell(spec.summary)} |" for spec in specs]
        parts.append("\n".join([f"| {title(family)} | |", "|---|---|", *rows]))
    for family, specs in by_family.items():
        parts += [f"## {title(family)}", family_doc(family), *(section(spec) for spec in specs)]
    return "\n\n".join([*parts, enumerations()]) + "\n"


def anchor(heading: str) -> str:
    """Return the address of a heading inside the page."""
    return "".join(letter for letter in heading.lower() if letter.isalnum() or letter in "_-")


def families() -> dict[str, list[Operator]]:
    """Return the operators by the module that declares them."""
    found: dict[str, list[Operator]] = {}
    for spec in public_operators().values():
        found.setdefault(spec.body.__module__, []).append(spec)

    def place(module: str) -> tuple[int, str]:
        last = module.rsplit(".", 1)[-1]
        return (FAMILIES.index(last) if last in FAMILIES else len(FAMILIES)), last

    return {module: found[module] for module in sorted(found, key=place)}


def title(module: str) -> str:
    """Return the title of a family."""
    return module.rsplit(".", 1)[-1].replace("_", " ").capitalize()


def family_doc(module: str) -> str:
    """Return what the module of a family says about it."""
    return (inspect.getdoc(sys.modules[module]) or "").split("\n\n")[0]


def options() -> str:
    """Return the list of arguments that every operator takes."""
    ignored = _names(sorted(COMMON_IGNORED))
    lines = [f"- `{name}`: {meaning}" for name, (_, meaning) in OPTIONS.items()]
    lines.append(f"- {ignored}: accepted for DALI, without effect.")
    return "\n".join(["Every operator also takes these:", "", *lines])


def section(spec: Operator) -> str:
    """Return the section of one operator."""
    parts = [f"### {spec.name}", spec.summary, spec.details, _signature(spec), _classes(spec)]
    parts.append("\n".join(f"- input `{name}`: {doc}" for name, doc in spec.input_docs.items()))
    if spec.arguments:
        head = ["| Argument | Type | Per sample | Default | Meaning |", "|---|---|---|---|---|"]
        parts.append("\n".join([*head, *map(_row, spec.arguments.values())]))
    if spec.renamed:
        older = ", ".join(f"`{old}` for `{new}`" for old, new in spec.renamed.items())
        parts.append(f"Older names of arguments: {older}.")
    own_ignored = sorted(spec.ignored - COMMON_IGNORED)
    if own_ignored:
        parts.append(f"Accepted without effect: {_names(own_ignored)}.")
    parts.append(_on_dali(spec))
    return "\n\n".join(part for part in parts if part)


def _on_dali(spec: Operator) -> str:
    """Describe how the DALI engine runs an operator, and how close the results are."""
    if spec.dali is None:
        return "On the DALI engine it runs natively."
    if not isinstance(spec.dali, DaliCall):
        return "On the DALI engine it runs natively, before DALI."
    call = "DALI's own"
    if spec.dali.drawn:
        call = f"`{spec.dali.name}`, with what is drawn natively{' added' if spec.dali.adds else ''}"
    where = " or ".join(
        {"cpu": "the CPU", "gpu": "a GPU", "mixed": "CPU and GPU (`mixed`)"}[d] for d in spec.dali.devices
    )
    close = "the same numbers"
    if spec.tolerance != EXACT:
        level = f"{spec.tolerance.level} level or " if spec.tolerance.level else ""
        close = f"results within {level}{spec.tolerance.relative:g} of the largest float"
    return f"On the DALI engine: {call}, on {where}; {close}."


def _signature(spec: Operator) -> str:
    inputs = [name if place < spec.required_inputs else f"{name}=None" for place, name in enumerate(spec.inputs)]
    if spec.many_inputs:
        inputs = [f"*{name}" for name in spec.inputs]
    arguments = [
        argument.name if argument.required else f"{argument.name}={_default(argument.default)}"
        for argument in spec.arguments.values()
    ]
    start = f"fn.{spec.name}("
    star = [] if spec.many_inputs else ["*"]
    whole = [part.replace(" ", "\0") for part in [*inputs, *star, *arguments]]  # no line breaks inside a default
    lines = wrapped(", ".join(whole) + ")", width=100, first=start, later="    ")
    return "\n".join(["```text", *(line.replace("\0", " ") for line in lines), "```"])


def _classes(spec: Operator) -> str:
    path = spec.name.split(".")[:-1]
    current = ".".join(["ops", *path, spec.class_name])
    older = [f"ops.{alias}" for alias in spec.aliases if f"ops.{alias}" != current]
    text = f"As a class: `{current}`" + (f", under older names {_names(older)}" if older else "") + "."
    functions = [f"fn.{name}" for name, meant in OLDER_FUNCTIONS.items() if meant == spec.name]
    text += f" Older names of the function: {_names(functions)}." if functions else ""
    return text + (" It draws random numbers, which follow from the seed of the pipeline." if spec.draws else "")


def _row(argument: Argument) -> str:
    default = "required" if argument.required else "" if argument.default is None else f"`{_default(argument.default)}`"
    cells = [f"`{argument.name}`", _type(argument), "yes" if argument.per_sample else "no", default, argument.doc]
    return f"| {' | '.join(map(_cell, cells))} |"


def _type(argument: Argument) -> str:
    kind = argument.kind
    if typing.get_origin(kind) is Literal:
        return ", ".join(f"`{literal(choice)}`" for choice in typing.get_args(kind))
    if _is_enum(kind):
        return f"[{kind.__name__}](#{anchor(kind.__name__)})"
    lists: list[tuple[Any, str]] = [
        (Ints, "`int` or list"),
        (Floats, "`float` or list"),
        (Strings, "`str` or list"),
        (Any, "anything"),
    ]
    text = next((name for known, name in lists if known == kind), None) or f"`{getattr(kind, '__name__', kind)}`"
    if argument.limits is None:
        return text
    low, high = argument.limits.low, argument.limits.high
    return f"{text}, at least {low:g}" if high == float("inf") else f"{text}, {low:g} to {high:g}"


def _default(value: Any) -> str:
    """Format a default for readers: fractions with few digits, members of enumerations without their class."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, float):
        text = f"{value:.6g}"
        return f"{text}.0" if text.lstrip("-").isdigit() else text
    if isinstance(value, list):
        return f"[{', '.join(map(_default, value))}]"
    return literal(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def enumerations() -> str:
    """List the values of the enumerations that arguments take."""
    arguments = [argument for spec in public_operators().values() for argument in spec.arguments.values()]
    kinds = {kind for argument in arguments if _is_enum(kind := argument.kind)}
    parts = ["## Enumerations", "Their values are names of `pixelmill.types`, such as `types.RGB`."]
    for kind in sorted(kinds, key=lambda kind: str(kind.__name__)):
        parts += [f"### {kind.__name__}", (kind.__doc__ or "").strip(), _names([member.name for member in kind])]
    return "\n\n".join(parts)


def _is_enum(kind: object) -> TypeGuard[type[enum.Enum]]:
    return isinstance(kind, type) and issubclass(kind, enum.Enum)
