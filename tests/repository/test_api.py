"""What is derived from the operators is up to date, complete, and of use to a type checker."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from locations import ROOT

from pixelmill import fn, ops
from pixelmill.operators import declare
from pixelmill.operators.declare import Operator, operator, public_operators
from pixelmill.steps.step import Expr

PACKAGE = ROOT / "src" / "pixelmill"
PROGRAMS = ROOT / "tests" / "typing"
OPERATORS = pytest.mark.parametrize("spec", public_operators().values(), ids=public_operators())


@pytest.fixture(scope="module")
def write_api() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
        yield importlib.import_module("write_api")


@pytest.fixture
def copied(write_api: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Let write_api work on a copy of what it writes and reads."""
    for name in ("src/pixelmill", "docs", "scripts", "native/core/steps/declared"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(write_api, "ROOT", tmp_path)
    monkeypatch.setattr(write_api, "PACKAGE", tmp_path / "src" / "pixelmill")
    monkeypatch.setattr(write_api, "CORE_STUB", tmp_path / "src" / "pixelmill" / "_core.pyi")
    return write_api


def run(write_api: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["write_api.py", *arguments])
    return int(write_api.main())


# Up to date


def test_nothing_is_out_of_date(write_api: ModuleType) -> None:
    assert not write_api.differences(), "\n".join([*write_api.differences(), "run `make api`"])


def test_check_names_what_differs_and_writing_repairs_it(
    copied: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = tmp_path / "src/pixelmill/fn/random.pyi"
    old = stub.read_text("utf-8")
    stub.write_text(old.replace("def uniform(", "def uniformly("), "utf-8")
    (tmp_path / "docs/public_names.txt").unlink()
    left_over = tmp_path / "src/pixelmill/ops/forgotten.pyi"
    left_over.write_text("", "utf-8")
    header = tmp_path / "native/core/steps/declared/resampling.h"
    declared = header.read_text("utf-8")
    header.write_text(declared.replace("Filter filter_min;", "int64_t filter_min;"), "utf-8")

    assert run(copied, monkeypatch, "--check") == 1
    said = capsys.readouterr().out
    assert "src/pixelmill/fn/random.pyi is out of date" in said
    assert "-def uniformly(\n+def uniform(\n" in said
    assert "docs/public_names.txt is out of date" in said
    assert "src/pixelmill/ops/forgotten.pyi belongs to no declaration any more" in said
    assert "native/core/steps/declared/resampling.h is out of date" in said
    assert left_over.exists() and "uniformly" in stub.read_text("utf-8")

    assert run(copied, monkeypatch) == 0
    assert stub.read_text("utf-8") == old
    assert header.read_text("utf-8") == declared
    assert not left_over.exists()
    capsys.readouterr()
    assert run(copied, monkeypatch, "--check") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("version", [None, "0.0.1"])
def test_names_of_the_native_module_count_whatever_nanobind_there_is(
    copied: ModuleType, monkeypatch: pytest.MonkeyPatch, version: str | None
) -> None:
    monkeypatch.setattr(copied, "nanobind_version", lambda: version)
    if version is not None:
        monkeypatch.setattr(copied, "core_stub", lambda: copied.CORE_NOTE.format(version=version))
    assert not [text for text in copied.differences() if "_core" in text]
    text = copied.CORE_STUB.read_text("utf-8")
    copied.CORE_STUB.write_text(text.replace("class Executor", "class Runner"), "utf-8")
    assert copied.differences()[-1] == "src/pixelmill/_core.pyi and the native module differ in: Executor, Runner"


# Complete


def stub_of(package: str, path: list[str]) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    file = PACKAGE / package / f"{'/'.join(path) or '__init__'}.pyi"
    tree = ast.parse(file.read_text("utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def keywords(function: ast.FunctionDef) -> set[str]:
    return {argument.arg for argument in [*function.args.args, *function.args.kwonlyargs]} - {"self"}


def member(module: Any, path: list[str], name: str) -> Any:
    for part in path:
        module = getattr(module, part)
    return getattr(module, name)


@OPERATORS
def test_function_and_class_are_there_with_the_same_arguments(spec: Operator) -> None:
    *path, name = spec.name.split(".")
    assert member(fn, path, name).__name__ == name
    assert member(ops, path, spec.class_name).spec is spec
    everything = {*spec.arguments, *spec.renamed, *spec.ignored, "device", "name", "seed"}
    function = stub_of("fn", path)[name]
    assert isinstance(function, ast.FunctionDef)
    assert keywords(function) == everything
    described = stub_of("ops", path)[spec.class_name]
    assert isinstance(described, ast.ClassDef)
    methods = {node.name: node for node in described.body if isinstance(node, ast.FunctionDef)}
    assert keywords(methods["__init__"]) == everything
    varying = {argument.name for argument in spec.arguments.values() if argument.per_sample}
    assert keywords(methods["__call__"]) == varying | {"name"}


def test_stubs_have_what_the_modules_have(write_api: ModuleType) -> None:
    for package, module in (("fn", fn), ("ops", ops)):
        folder = PACKAGE / package
        files = [path.relative_to(folder).with_suffix("").parts for path in folder.rglob("*.pyi")]
        stubs = [[part for part in parts if part != "__init__"] for parts in files]
        written = {
            ".".join(["pixelmill", package, *path, name])
            for path in stubs
            if not (folder / "/".join(path) / "__init__.pyi").exists() or not path
            for name in stub_of(package, path)
        }
        assert written == set(write_api.operator_names(module))


@OPERATORS
def test_older_classes_are_there(spec: Operator) -> None:
    for alias in spec.aliases:
        assert getattr(ops, alias).spec is spec


@OPERATORS
def test_everything_is_explained(spec: Operator) -> None:
    page = (ROOT / "docs/operators.md").read_text("utf-8")
    (section,) = re.findall(rf"^### {re.escape(spec.name)}$(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL)
    assert spec.summary.endswith(".") and spec.summary in section
    docs = {**spec.input_docs, **{name: argument.doc for name, argument in spec.arguments.items()}}
    for name, doc in docs.items():
        assert doc.endswith("."), f"the explanation of {name} is no sentence: {doc!r}"
        assert f"`{name}`" in section
    for name in (*spec.renamed, *spec.aliases):
        assert name in section


def test_links_inside_the_page_lead_somewhere(write_api: ModuleType) -> None:
    page = (ROOT / "docs/operators.md").read_text("utf-8")
    anchor = importlib.import_module("api_page").anchor
    headings = {anchor(heading) for heading in re.findall(r"^#+ (.*)$", page, re.MULTILINE)}
    assert set(re.findall(r"\]\(#(.*?)\)", page)) <= headings


# Refused: what an operator does not explain


def undocumented(data: Expr) -> Expr:
    return data


def forgets_an_argument(data: Expr, *, size: int) -> Expr:
    """Do something.

    Args:
        data: Images.
    """
    return data


def explains_too_much(data: Expr) -> Expr:
    """Do something.

    Args:
        data: Images.
        size: How large.
    """
    return data


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (undocumented, "operator test_only has no docstring"),
        (forgets_an_argument, "operator test_only: the docstring does not document size"),
        (explains_too_much, "operator test_only: the docstring documents size, which is not a parameter"),
    ],
)
def test_an_operator_must_explain_its_arguments(
    body: Callable[..., Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = declare.Registry()
    monkeypatch.setattr(declare, "REGISTRY", registry)
    assert operator("test_only")(body) is body
    assert list(registry) == ["test_only"]
    with pytest.raises(LookupError, match=f"^{message}$"):
        registry["test_only"]


# Of use


def mypy(*arguments: str) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", *arguments]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert not result.stderr, result.stderr
    return result.stdout


def test_a_type_checker_accepts_correct_programs_and_finds_mistakes() -> None:
    found: dict[str, set[tuple[int, str]]] = {"correct.py": set(), "wrong.py": set()}
    output = mypy(*(f"tests/typing/{name}" for name in found))
    for file, line, code in re.findall(r"^(.+?):(\d+): error: .*\[([\w-]+)\]$", output, re.MULTILINE):
        if Path(file).name in found:  # `make lint` checks the package, which needs the types of a newer Pillow
            found[Path(file).name].add((int(line), code))
    assert not found["correct.py"], output
    lines = (PROGRAMS / "wrong.py").read_text("utf-8").splitlines()
    marked = [(number, re.search(r"# error: ([\w-]+)$", line)) for number, line in enumerate(lines, start=1)]
    expected = {(number, mark[1]) for number, mark in marked if mark}
    assert expected and found["wrong.py"] == expected, output


def test_import_brings_in_nothing_heavy() -> None:
    heavy = {"PIL", "click", "rich", "yaml", "torch", "tensorflow"}
    program = f"import sys, pixelmill; print(*sorted({heavy!r} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_the_names_of_a_training_program_bring_in_nothing_that_it_does_not_need() -> None:
    unneeded = {"difflib", "random", "shutil", "sysconfig", "tempfile", "asyncio", "multiprocessing", "yaml"}
    names = "import sys, numpy; before = set(sys.modules); from pixelmill import Loader, fn, pipeline_def"
    program = f"{names}; print(*sorted({unneeded!r} & (set(sys.modules) - before)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""
