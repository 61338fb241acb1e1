"""Print figures about the sources of the package, to compare with other projects and with earlier versions.

.venv/bin/python scripts/code_figures.py                # of this checkout
.venv/bin/python scripts/code_figures.py /work/before   # of another one
"""

from __future__ import annotations

import argparse
import ast
import io
import statistics
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Figures:
    """The figures of one module.

    Attributes:
        lines: All lines.
        anys: Uses of `Any`, imports not counted.
        lazy: Imports of the package's own modules inside functions.
        comments: Lines with only a comment.
    """

    lines: int
    anys: int
    lazy: int
    comments: int


def figures_of(path: Path) -> Figures:
    """Return the figures of one module."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    anys = sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = sum(token.type == tokenize.COMMENT and token.line.lstrip().startswith("#") for token in tokens)
    return Figures(text.count("\n"), anys, len(lazy_imports(tree)), comments)


def lazy_imports(tree: ast.Module) -> set[ast.stmt]:
    """Find imports of the package's own modules inside functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {
        node
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and is_internal(node)
    }


def is_internal(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether an import is of the package itself."""
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").split(".")[0] == "pixelmill"
    return any(name.name.split(".")[0] == "pixelmill" for name in node.names)


def summary(package: Path) -> dict[str, str]:
    """Return all figures of a package by name."""
    modules = [figures_of(path) for path in sorted(package.rglob("*.py"))]
    lengths = sorted(module.lines for module in modules)
    total = sum(lengths)
    tenth = lengths[round(0.9 * (len(lengths) - 1))]

    def per_thousand(count: int) -> str:
        return f"{1000 * count / total:.1f}"

    return {
        "modules": str(len(modules)),
        "lines": str(total),
        "lines of a module, median / p90 / max": f"{statistics.median(lengths):.0f} / {tenth} / {lengths[-1]}",
        "modules at the package root": str(len(list(package.glob("*.py")))),
        "Any per 1000 lines": per_thousand(sum(module.anys for module in modules)),
        "lazy internal imports per 1000 lines": per_thousand(sum(module.lazy for module in modules)),
        "comment lines per 1000": per_thousand(sum(module.comments for module in modules)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "checkout", nargs="?", type=Path, default=ROOT, help="folder of the sources; default: this checkout"
    )
    package = parser.parse_args().checkout / "src" / "pixelmill"
    for name, value in summary(package).items():
        print(f"{name:40} {value}")


if __name__ == "__main__":
    main()
