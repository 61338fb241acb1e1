"""Write the files derived from operators, steps, containers and the native module, or `--check` them.

These are the stubs of `fn`, `ops` and `_core`, docs/operators.md, docs/reference/{cli,api,exit-codes}.md,
docs/public_names.txt, docs/recipe.schema.json, the table of containers in docs/formats.md, the tables of docs/dali.md,
and the C++ side of the steps in native/core/steps/declared/.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib.metadata
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import api_steps
from api_cli import cli_page, exit_codes_page
from api_dali import with_tables
from api_formats import with_table
from api_page import page
from api_python import api_page
from api_stubs import stubs

from pixelmill import _core, fn, ops, types
from pixelmill.operators import OLDER_FUNCTIONS
from pixelmill.recipe.schema import recipe_schema

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pixelmill"
CORE_STUB = PACKAGE / "_core.pyi"
CORE_NOTE = """\
# Written by scripts/write_api.py with nanobind {version}; scripts/core_stub.pat adds what nanobind cannot know.
# fmt: off
# ruff: noqa
# mypy: disable-error-code=type-arg
"""
SHOWN_LINES = 20

# Modules that export names only to the rest of the package.
INTERNAL = ("operators", "steps", "engine", "formats", "cli")


def derived() -> dict[Path, str | None]:
    """Return all derived files with their contents; None for files that should not exist."""
    written: dict[Path, str | None] = {}
    for package in ("fn", "ops"):
        folder = PACKAGE / package
        written |= dict.fromkeys(folder.rglob("*.pyi"))
        written |= {folder / name: text for name, text in stubs(package).items()}
    written[ROOT / "docs" / "operators.md"] = page()
    written[ROOT / "docs" / "reference" / "cli.md"] = cli_page()
    written[ROOT / "docs" / "reference" / "exit-codes.md"] = exit_codes_page()
    written[ROOT / "docs" / "reference" / "api.md"] = api_page()
    written[ROOT / "docs" / "public_names.txt"] = "".join(f"{name}\n" for name in sorted(public_names()))
    written |= dict.fromkeys((ROOT / api_steps.FOLDER).iterdir())
    written |= {ROOT / path: text for path, text in api_steps.files().items()}
    written[ROOT / "docs" / "recipe.schema.json"] = json.dumps(recipe_schema(), indent=1) + "\n"
    formats = ROOT / "docs" / "formats.md"
    written[formats] = with_table(formats.read_text("utf-8"))
    dali = ROOT / "docs" / "dali.md"
    written[dali] = with_tables(dali.read_text("utf-8"))
    text = core_stub()
    if text is not None:
        written[CORE_STUB] = text
    return written


def core_stub() -> str | None:
    """Return the stub of the native module, written by nanobind; None if nanobind is not installed."""
    version = nanobind_version()
    if version is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "_core.pyi"
        command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "pixelmill._core", "-o", str(target)]
        subprocess.run([*command, "-p", str(ROOT / "scripts" / "core_stub.pat")], check=True)
        return CORE_NOTE.format(version=version) + target.read_text("utf-8")


def nanobind_version() -> str | None:
    try:
        return importlib.metadata.version("nanobind")
    except importlib.metadata.PackageNotFoundError:
        return None


def public_names() -> Iterator[str]:
    """List the public names: exports of modules, all operators, and the names of `types`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("")
        parts = [part for part in module.parts if part != "__init__"]
        if parts and (parts[0] in INTERNAL or parts[-1].startswith("_")):
            continue
        for name in exported(path):
            yield ".".join(["pixelmill", *parts, name])
    for package in (fn, ops):
        yield from operator_names(package)
    for name, value in vars(types).items():
        if not name.startswith("_") and getattr(value, "__module__", None) == types.__name__:
            yield f"{types.__name__}.{name}"


def exported(path: Path) -> list[str]:
    """Read `__all__` without importing the module, which may need a framework."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return list(ast.literal_eval(node.value))
    return []


def operator_names(package: ModuleType) -> Iterator[str]:
    """List the functions or classes of operators in `package` and its families."""
    for name in dir(package):
        if name.startswith("_"):
            continue
        value = getattr(package, name)
        if isinstance(value, ModuleType) and value.__name__ == f"{package.__name__}.{name}":
            yield from operator_names(value)
        elif name in OLDER_FUNCTIONS and package.__name__ == "pixelmill.fn":
            continue  # another name of a function that is listed
        elif getattr(value, "__module__", None) == package.__name__:
            yield f"{package.__name__}.{name}"


def differences() -> list[str]:
    """Return what is out of date, one message per file."""
    found = []
    for path, text in derived().items():
        old = path.read_text("utf-8") if path.exists() else ""
        if path == CORE_STUB and text is not None and old.splitlines()[:1] != text.splitlines()[:1]:
            continue  # other versions of nanobind format stubs differently; the names are compared below
        if path.name == "cli.md" and _has_older_click():
            continue  # its help has other empty defaults and paragraphs
        if text != old or not path.exists():
            found.append(_difference(path, old, text))
    stub = names_of_stub(CORE_STUB.read_text("utf-8")) if CORE_STUB.exists() else set()
    module = {name for name in vars(_core) if not name.startswith("_")}
    if stub != module:
        found.append(f"src/pixelmill/_core.pyi and the native module differ in: {', '.join(sorted(stub ^ module))}")
    return found


def names_of_stub(text: str) -> set[str]:
    """List the classes and functions of a stub."""
    return {node.name for node in ast.parse(text).body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def _has_older_click() -> bool:
    """Whether click is older than 8.2; the page is written with a newer one."""
    major, minor = importlib.metadata.version("click").split(".")[:2]
    return (int(major), int(minor)) < (8, 2)


def _difference(path: Path, old: str, new: str | None) -> str:
    name = path.relative_to(ROOT).as_posix()
    if new is None:
        return f"{name} belongs to no declaration any more"
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), "now", "should be", lineterm="", n=1))
    more = [f"... and {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
    return "\n".join([f"{name} is out of date", *lines[:SHOWN_LINES], *more])


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if something differs")
    if parser.parse_args().check:
        found = differences()
        print("\n".join([*found, "`make api` brings them up to date"] if found else []), end="\n" * bool(found))
        return 1 if found else 0
    for path, text in derived().items():
        if text is None:
            path.unlink()
        elif not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
