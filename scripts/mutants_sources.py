"""Small semantic changes of Python and C++ sources, found one by one, for scripts/mutants.py."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "+"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
# clang-format puts spaces around binary operators and none around those of templates, references and pointers.
TOKENS = {
    " < ": " <= ",
    " <= ": " < ",
    " > ": " >= ",
    " >= ": " > ",
    " == ": " != ",
    " != ": " == ",
    " + ": " - ",
    " - ": " + ",
    " * ": " + ",
    " / ": " * ",
    " && ": " || ",
    " || ": " && ",
    " << ": " >> ",
    " >> ": " << ",
}
NATIVE_TOKEN = re.compile(
    "|".join(sorted(map(re.escape, TOKENS), key=len, reverse=True)) + r"|(?<![\w.'])\d+(?![\w.'])"
)
NATIVE_SKIPPED = re.compile(r'^\s*(#|//|static_assert|template|using|throw\b)|operator[<>+\-*/=!&|]|"')


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes:
        path: The file, relative to the root of the repository.
        start: Where the change begins, in characters.
        end: Where the replaced text ends.
        new: What takes its place.
        kind: What sort of change it is.
    """

    path: Path
    start: int
    end: int
    new: str
    kind: str

    def applied(self, text: str) -> str:
        """Return the text of the file with this change."""
        return text[: self.start] + self.new + text[self.end :]

    def line(self, text: str) -> int:
        """Return the number of the line that changes, from 1."""
        return text.count("\n", 0, self.start) + 1


class _Finder(ast.NodeVisitor):
    """Collects the changes of a Python module; annotations, messages of errors and doc strings stay as they are."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.found: list[Mutant] = []
        encoded = text.encode().splitlines(keepends=True)
        self._lines = [0]
        for line in encoded:
            self._lines.append(self._lines[-1] + len(line))
        self._encoded = b"".join(encoded)

    def _place(self, line: int, column: int) -> int:
        return len(self._encoded[: self._lines[line - 1] + column].decode())

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._place(node.lineno, node.col_offset), self._place(node.end_lineno, node.end_col_offset)

    def _replace(self, node: ast.expr | ast.stmt, new: str, kind: str) -> None:
        self.found.append(Mutant(self.path, *self._span(node), new, kind))

    def _replace_between(self, left: ast.expr, right: ast.expr, change: tuple[str, str], kind: str) -> None:
        """Replace the operator that stands between two expressions."""
        start, end = self._span(left)[1], self._span(right)[0]
        old, new = change
        at = self.text.find(old, start, end)
        if at >= 0:
            self.found.append(Mutant(self.path, at, at + len(old), new, kind))

    def _source(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self.text[start:end]

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self._replace_between(left, right, COMPARISONS[type(operator)], "comparison")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        sides = (node.left, node.right)
        is_text = any(isinstance(s, ast.JoinedStr) or isinstance(getattr(s, "value", None), str | bytes) for s in sides)
        if type(node.op) in ARITHMETIC and not is_text:
            self._replace_between(node.left, node.right, ARITHMETIC[type(node.op)], "arithmetic")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        change = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        self._replace_between(node.values[0], node.values[1], change, "logic")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace(node, str(not node.value), "constant")
        elif isinstance(node.value, int | float):
            self._replace(node, repr(node.value + 1), "constant")
            self._replace(node, f"({node.value - 1!r})", "constant")

    def _negate(self, test: ast.expr) -> None:
        self._replace(test, f"(not ({self._source(test)}))", "negated")

    def visit_If(self, node: ast.If) -> None:
        if self._source(node.test) != "TYPE_CHECKING":
            self._negate(node.test)
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._replace(node, "return None", "dropped return")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._replace(node, "pass", "dropped call")
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        if node.exc is not None:
            self._replace(node, "pass", "dropped raise")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in ARITHMETIC:
            old, new = ARITHMETIC[type(node.op)]
            self._replace_between(node.target, node.value, (old + "=", new + "="), "arithmetic")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if len(node.args) >= 2 and not any(isinstance(argument, ast.Starred) for argument in node.args[:2]):
            first, second = (self._source(argument) for argument in node.args[:2])
            start, end = self._span(node.args[0])[0], self._span(node.args[1])[1]
            self.found.append(Mutant(self.path, start, end, f"{second}, {first}", "swapped arguments"))
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for child in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(child)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for child in node.body:
            self.visit(child)


def python_mutants(path: Path, text: str) -> list[Mutant]:
    """Return every change of a Python module."""
    finder = _Finder(path, text)
    finder.visit(ast.parse(text))
    return finder.found


def native_mutants(path: Path, text: str) -> Iterator[Mutant]:
    """Yield every change of a C++ source: operators between spaces, and integers."""
    at = 0
    for line in text.splitlines(keepends=True):
        if not NATIVE_SKIPPED.search(line):
            code = line.split("//")[0]
            for token in NATIVE_TOKEN.finditer(code):
                old = token.group()
                new = TOKENS.get(old) or str(int(old) + 1)
                yield Mutant(path, at + token.start(), at + token.end(), new, "token")
        at += len(line)


def all_mutants(root: Path, only: str) -> list[Mutant]:
    """Return every change of the files under `src` and `native` whose path begins with `only`."""
    found: list[Mutant] = []
    for path in sorted(root.glob("src/**/*.py")):
        name = path.relative_to(root)
        if name.as_posix().startswith(only):
            found += python_mutants(name, path.read_text("utf-8"))
    for path in sorted(root.glob("native/**/*")):
        name = path.relative_to(root)
        if path.suffix in (".cpp", ".h", ".inl") and name.as_posix().startswith(only):
            text = path.read_text("utf-8")
            if "Written by scripts/" not in text[:200]:
                found += native_mutants(name, text)
    return found
