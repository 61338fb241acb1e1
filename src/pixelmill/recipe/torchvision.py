"""Recipes from pipelines of torchvision: a Python file with transforms (v1 or v2), and what has no translation.

The file is parsed and never run, and torchvision is not needed. Arguments must be numbers, lists, or names that the
file assigns such values to.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from pixelmill import storage
from pixelmill.errors import ArgumentError, unreadable
from pixelmill.recipe.torchvision_steps import OUTSIDE, TRANSFORMS, Transform
from pixelmill.recipe.translation import Step, Translation, UntranslatableError, with_probability

MOST_BYTES = 1 << 20
_MOST_LEVELS = 32
_GROUPS = ("Compose", "Sequential", "RandomApply", "RandomChoice", "RandomOrder")


@dataclass(frozen=True)
class _Found:
    """A pipeline of the file: its name, and the call that makes it."""

    name: str
    call: ast.Call


def import_torchvision(path: str, name: str | None = None) -> Translation:
    """Translate a pipeline of a Python file. Raises ArgumentError if there is none, or several and no name.

    Args:
        path: The file.
        name: The variable or function that the pipeline belongs to.
    """
    try:
        tree = ast.parse(storage.read_file(path, limit=MOST_BYTES).decode("utf-8"), path)
    except OSError as error:
        raise unreadable("recipe", path, error) from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ArgumentError(f"recipe: {path} is not a Python file: {error}") from None
    finder = _Finder()
    try:
        finder.visit(tree)
    except RecursionError:
        raise ArgumentError(f"recipe: {path} is nested too deeply") from None
    call = _chosen(finder.pipelines, path, name)
    made = Translation()
    made.steps = _Reader(finder.constants, made).group(call, call_name(call), "Compose", level=0)
    if not made.steps:
        raise ArgumentError(f"recipe: {path}: nothing could be translated: {'; '.join(made.untranslated)}")
    return made


def _chosen(found: list[_Found], path: str, name: str | None) -> ast.Call:
    names = ", ".join(sorted({pipeline.name for pipeline in found}))
    chosen = [pipeline for pipeline in found if name in (None, pipeline.name)]
    if not found:
        raise ArgumentError(f"recipe: {path} has no pipeline: no Compose([...]) of torchvision was found")
    if not chosen:
        raise ArgumentError(f"recipe: {path} has no pipeline {name!r}; it has {names}")
    if len(chosen) > 1:
        raise ArgumentError(f"recipe: {path} has several pipelines ({names}); name one, as in {path}:NAME")
    return chosen[0].call


class _Finder(ast.NodeVisitor):
    """Finds pipelines that are not part of others, and names of constants."""

    def __init__(self) -> None:
        self.pipelines: list[_Found] = []
        self.constants: dict[str, ast.expr] = {}
        self._names = ["pipeline"]

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "pipeline")
        if isinstance(target, ast.Name):
            self.constants[target.id] = node.value
        self._within(name, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if isinstance(node.target, ast.Name) and node.value is not None:
            self.constants[node.target.id] = node.value
            self._within(node.target.id, node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._within(node.name, *node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._within(node.name, *node.body)

    def visit_Call(self, node: ast.Call) -> None:
        if call_name(node) in ("Compose", "Sequential"):
            self.pipelines.append(_Found(self._names[-1], node))
        else:
            self.generic_visit(node)

    def _within(self, name: str, *nodes: ast.AST) -> None:
        self._names.append(name)
        for node in nodes:
            self.visit(node)
        self._names.pop()


def call_name(node: ast.AST) -> str:
    """Return the last part of the name of what is called; empty if it has none."""
    function = node.func if isinstance(node, ast.Call) else node
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


class _Reader:
    """Translates calls.

    Args:
        constants: What names of the file stand for.
        made: Where everything is noted that has no step.
    """

    def __init__(self, constants: dict[str, ast.expr], made: Translation) -> None:
        self._constants = constants
        self._made = made

    def group(self, call: ast.Call, path: str, name: str, *, level: int) -> list[Step]:
        """Translate a call that holds transforms."""
        listed = self._listed(call)
        if listed is None or level > _MOST_LEVELS:
            self._made.untranslated.append(f"{path}: it has no list of transforms that could be read")
            return []
        members = [self._translated(member, f"{path}[{place}]", level=level) for place, member in enumerate(listed)]
        steps = [step for found in members for step in found]
        if not steps:
            return []
        if name == "RandomApply":
            return [{"sequential": {"steps": steps, "p": self._argument(call, 1, "p", 0.5)}}]
        if name == "RandomChoice":
            weights = self._argument(call, 1, "p", None)
            several = [found[0] if len(found) == 1 else {"sequential": found} for found in members if found]
            weighted = weights is not None and len(weights) == len(several)
            return [{"one_of": {"steps": several, **({"weights": list(weights)} if weighted else {})}}]
        if name == "RandomOrder":
            self._made.approximate.append(f"{path} (RandomOrder): in the order of the list")
        return steps

    def _listed(self, call: ast.Call) -> list[ast.expr] | None:
        given = next((keyword.value for keyword in call.keywords if keyword.arg == "transforms"), None)
        if given is None and call_name(call) == "Sequential":
            return list(call.args)
        value = self._resolved(given or (call.args[0] if call.args else None))
        return list(value.elts) if isinstance(value, (ast.List, ast.Tuple)) else None

    def _translated(self, node: ast.expr, path: str, *, level: int) -> list[Step]:
        call = self._resolved(node)
        if not isinstance(call, ast.Call):
            self._made.untranslated.append(f"{path}: it is not a call of a transform")
            return []
        name = call_name(call)
        here = f"{path} ({name})"
        if name in _GROUPS:
            return self.group(call, path, name, level=level + 1)
        if name in OUTSIDE:
            self._made.outside.append(here)
            return []
        if name not in TRANSFORMS:
            self._made.untranslated.append(f"{here}: there is no such step")
            return []
        try:
            return self._made_of(TRANSFORMS[name], call, here)
        except UntranslatableError as error:
            self._made.untranslated.append(f"{here}: {error}")
        except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
            self._made.untranslated.append(f"{here}: its arguments are not understood ({error!r})")
        return []

    def _made_of(self, transform: Transform, call: ast.Call, here: str) -> list[Step]:
        arguments = self._arguments(transform, call)
        steps = transform.translate(arguments)
        if not transform.exact:
            self._made.approximate.append(here)
        probability = arguments.get("p", 1.0)
        if len(steps) == 1:
            return [with_probability(steps[0], probability)]
        return steps if probability in (1, 1.0) else [{"sequential": {"steps": steps, "p": probability}}]

    def _arguments(self, transform: Transform, call: ast.Call) -> dict[str, Any]:
        values = dict(transform.defaults)
        names = list(values)
        for name, node in zip(names, call.args, strict=False):
            values[name] = self._value(node)
        for keyword in call.keywords:
            if keyword.arg in names:
                values[keyword.arg] = self._value(keyword.value)
            elif keyword.arg not in ("interpolation", "antialias", "inplace", "center", "resample", "dtype"):
                raise UntranslatableError(f"its argument {keyword.arg!r} is not known")
        return values

    def _argument(self, call: ast.Call, place: int, name: str, default: Any) -> Any:
        node = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
        node = node or (call.args[place] if len(call.args) > place else None)
        try:
            return default if node is None else self._value(node)
        except UntranslatableError:
            return default

    def _resolved(self, node: ast.expr | None) -> ast.expr | None:
        for _ in range(_MOST_LEVELS):
            if not isinstance(node, ast.Name) or node.id not in self._constants:
                break
            node = self._constants[node.id]
        return node

    def _value(self, given: ast.expr, level: int = 0) -> Any:
        node = self._resolved(given)
        if level > _MOST_LEVELS or node is None:
            raise UntranslatableError("its arguments are nested too deeply")
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, bool, type(None))):
            return node.value
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self._value(item, level + 1) for item in node.elts]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._value(node.operand, level + 1)
        if isinstance(node, ast.BinOp):
            left, right = self._value(node.left, level + 1), self._value(node.right, level + 1)
            if isinstance(left, (int, float)) and isinstance(right, (int, float)):
                return _computed(node.op, left, right)
        if isinstance(node, ast.Attribute):  # such as InterpolationMode.BILINEAR, which no step takes
            return node.attr
        raise UntranslatableError(f"the value {ast.unparse(given)[:40]!r} is known only when the file runs")


def _computed(operator: ast.operator, left: float, right: float) -> float:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case ast.FloorDiv():
            return left // right
    raise UntranslatableError("only +, -, * and / are computed")
