"""Rules of the repository that no linter knows."""

from __future__ import annotations

import ast
import re
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from locations import ROOT

PACKAGE = ROOT / "src" / "pixelmill"
SOURCES = sorted((ROOT / "src").rglob("*.py"))

# The parts of the package; a part imports from its own line and from lines above. `pixelmill` is what
# `import pixelmill` offers: it gathers names from the lines above it, so only the lines below may use them.
LAYERS = (
    {"errors", "types", "node_operators", "_core", "lazy_exports", "log", "amounts"},
    {"storage"},
    {"formats", "tfrecord", "options"},
    {"steps"},
    {"operators"},
    {"data_node", "tensors", "graph", "fn", "ops", "math"},
    {"engine", "backend", "backend_impl", "external_source", "codecs"},
    {"pipeline"},
    {"plugin", "plugin_manager", "experimental", "auto_aug", "mixing", "recipe", "ray"},
    {"pixelmill"},
    {"jobs"},
    {"dataset_jobs"},
    {"create", "conversion", "inspect", "ingest", "segmentation", "augmentation", "image_loader"},
    {"benchmark", "demo"},
    {"cli"},
    {"__main__"},
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
FRAMEWORKS = {"torch", "tensorflow", "jax", "lightning", "pytorch_lightning", "paddle", "numba", "torchdata", "ray"}
REFUSED_IMPORTS = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
REFUSED_CALLS = {"eval", "exec", "os.system", "os.popen", "yaml.load", "yaml.unsafe_load", "pickle.load"}
MAX_LINES = 400
MAX_LINES_OF_TESTS = 600


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def part_of(path: Path) -> str:
    """Name the part of the package that a file belongs to."""
    inside = path.relative_to(PACKAGE)
    if inside.as_posix() == "__init__.py":
        return "pixelmill"
    return inside.parts[0].removesuffix(".py")


def absolute_module(node: ast.ImportFrom, path: Path) -> str:
    if node.level == 0:
        return node.module or ""
    package = path.relative_to(ROOT / "src").parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def imported_modules(tree: ast.AST, path: Path) -> Iterator[tuple[str, int]]:
    """List everything that a file imports, anywhere in it, with line numbers.

    `from pixelmill import fn` counts as `pixelmill.fn` if there is such a module.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            module = absolute_module(node, path)
            for name in node.names:
                is_part = module == "pixelmill" and name.name in LEVEL
                yield (f"{module}.{name.name}" if is_part else module), node.lineno


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), relative(path))


def is_for_type_checkers(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and dotted(node.test) == "TYPE_CHECKING"


def test_every_part_has_its_place() -> None:
    parts = {part_of(path) for path in PACKAGE.rglob("*.py")}
    assert parts <= LEVEL.keys(), "new parts of the package need a place in LAYERS"


def test_imports_point_one_way() -> None:
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        part = part_of(path)
        tree = parse(path)
        if part == "pixelmill":  # what it offers lazily is imported for type checkers alone
            tree.body = [node for node in tree.body if not is_for_type_checkers(node)]
        for module, line in imported_modules(tree, path):
            root, _, rest = module.partition(".")
            if root != "pixelmill":
                continue
            target = rest.split(".")[0] or "pixelmill"
            if LEVEL[target] > LEVEL[part] and part != "pixelmill":
                wrong.append(f"{relative(path)}:{line}: {part} must not import {target}")
            if part == "pixelmill" and LEVEL[target] > LEVEL["pixelmill"]:
                wrong.append(f"{relative(path)}:{line}: import pixelmill must not bring in {target}")
    assert not wrong, "\n".join(wrong)


def test_errors_import_nothing_of_the_package() -> None:
    path = PACKAGE / "errors.py"
    assert not [name for name, _ in imported_modules(parse(path), path) if name.startswith("pixelmill")]


def test_frameworks_are_imported_by_plugins_only() -> None:
    wrong = [
        f"{relative(path)}:{line}: {module}"
        for path in PACKAGE.rglob("*.py")
        if part_of(path) not in ("plugin", "benchmark", "ray")
        for module, line in imported_modules(parse(path), path)
        if module.split(".")[0] in FRAMEWORKS
    ]
    assert not wrong, "\n".join(wrong)


def test_our_measurements_and_those_of_users_have_modules_of_different_names() -> None:
    ours = {path.name for path in (ROOT / "benchmarks").glob("*.py")}
    assert not ours & {path.name for path in (PACKAGE / "benchmark").glob("*.py")}


def test_nothing_runs_code_from_data() -> None:
    wrong = []
    for path in SOURCES:
        tree = parse(path)
        for module, line in imported_modules(tree, path):
            if module.split(".")[0] in REFUSED_IMPORTS:
                wrong.append(f"{relative(path)}:{line}: import of {module}")
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            if dotted(node.func) in REFUSED_CALLS:
                wrong.append(f"{relative(path)}:{node.lineno}: call of {dotted(node.func)}")
            for keyword in node.keywords:
                is_false = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                if keyword.arg in ("shell", "allow_pickle") and not is_false:
                    wrong.append(f"{relative(path)}:{node.lineno}: {keyword.arg}= must be False")
    assert not wrong, "\n".join(wrong)


def test_modules_stay_short() -> None:
    native = [path for path in (ROOT / "native").rglob("*") if path.suffix in (".cpp", ".h", ".inl")]
    tests = sorted((ROOT / "tests").rglob("*.py"))
    for paths, most in ((tests, MAX_LINES_OF_TESTS), ([*set(SOURCES) - set(tests), *native], MAX_LINES)):
        lengths = {relative(path): len(path.read_text("utf-8").splitlines()) for path in paths}
        assert not {name: lines for name, lines in lengths.items() if lines > most}


def test_no_private_structures_of_other_libraries_are_used() -> None:
    private = re.compile(r"simde__m\d+i?_(private|to_private|from_private)|m128i?_private")
    found = [path.name for path in (ROOT / "native").rglob("*.*") if private.search(path.read_text("utf-8"))]
    assert not found


def test_only_the_bindings_know_python() -> None:
    core = [path for path in (ROOT / "native" / "core").rglob("*") if path.is_file()]
    assert core
    assert not [relative(path) for path in core if re.search(r"nanobind|Python\.h", path.read_text("utf-8"))]


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=lambda path: path.stem)
def test_decision_records_have_their_parts(path: Path) -> None:
    text = path.read_text("utf-8")
    assert re.fullmatch(r"\d{4}(-[a-z0-9]+)+", path.stem)
    assert text.startswith(f"# {int(path.stem[:4])}. ")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]


def test_decision_records_are_numbered_without_gaps() -> None:
    numbers = sorted(int(path.stem[:4]) for path in (ROOT / "docs" / "adr").glob("*.md"))
    assert numbers == list(range(1, len(numbers) + 1))


def test_licence_is_apache() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license"] == "Apache-2.0"


def test_links_between_documents_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{relative(page)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
        if not re.match(r"\w+:", target) and not (page.parent / target).exists()
    ]
    assert not broken, "\n".join(broken)


def test_scripts_are_runnable() -> None:
    for name in (".ci/run", "scripts/check-tools.sh"):
        assert (ROOT / name).stat().st_mode & stat.S_IXUSR, name


def test_missing_tools_are_named_with_install_lines() -> None:
    command = ["/bin/sh", str(ROOT / "scripts" / "check-tools.sh"), sys.executable]
    result = subprocess.run(command, env={"PATH": "/nowhere"}, capture_output=True, text=True)
    assert result.returncode == 1
    for line in ("apt-get install -y", "dnf install -y", "brew install"):
        assert line in result.stderr
    for name in ("g++", "cmake", "libjpeg-dev", "libpng-dev", "libjpeg-turbo-devel", "jpeg-turbo"):
        assert name in result.stderr


def test_import_brings_in_no_framework() -> None:
    heavy = {*FRAMEWORKS, "nvidia", "click", "rich"}
    program = f"import sys, pixelmill; print(*sorted({heavy!r} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_readme_code_does_what_readme_says(tmp_path: Path) -> None:
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    program = "".join(code for kind, code in blocks if kind == "python")
    expected = "".join(output for kind, output in blocks if kind == "text")
    assert program and expected
    script = tmp_path / "readme.py"
    script.write_text(program, "utf-8")
    command = [sys.executable, "-W", "error::DeprecationWarning:__main__", script.name]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == expected


def test_only_the_tests_pin_torch() -> None:
    """A pin in an extra for users would make their choice of torch impossible."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    wanted = {name: [line for line in lines if re.match(r"torch\b", line)] for name, lines in extras.items()}
    assert wanted.pop("test") == ["torch==2.13.0"]
    assert all(">=" in line for lines in wanted.values() for line in lines)
