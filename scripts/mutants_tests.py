"""Which test files are most likely to notice a change of a source file, for scripts/mutants.py."""

from __future__ import annotations

import ast
import re
from collections import deque
from functools import cache
from pathlib import Path

# Test files that know a part of the core, by words in the path of a C++ source. The contract of operators is for all.
NATIVE_TESTS = {
    r"jpeg": "native/test_jpeg_decoder native/test_jpeg_encoder operators/test_decode pipeline/test_errors",
    r"pack": "pack/test_packed_images pack/test_pack_codebook pack/test_partial_reads",
    r"png|deflate|inflate|zlib": "native/test_png operators/test_decode operators/test_encoders",
    r"codecs|headers|decode|orientation": "operators/test_decode codecs/test_codecs pipeline/test_errors",
    r"encode": "operators/test_encoders codecs/test_codecs_writing conversion/test_convert",
    r"resampl|resize": "operators/test_resize_dali engine/test_engine operators/test_decode",
    r"warp|rotate|affine": "native/test_warp operators/test_geometry",
    r"filter|convol|blur|median|water|sphere|equal": "operators/test_filters",
    r"colou?r|brightness|hsv": "operators/test_color operators/test_operators_dali",
    r"noise|rng|random|draw": "operators/test_random operators/test_noise",
    r"box|window|crop": "operators/test_boxes operators/test_box_windows operators/test_operators_dali",
    r"mask|segment|polygon": "operators/test_segmentation_ops operators/test_readers_coco",
    r"arith|element|cast|math": "operators/test_arithmetic operators/test_operator_types",
    r"reduc|normal": "operators/test_reductions operators/test_operators_dali",
    r"shape|join|slice|copy|pad|subscript|transpose|layout": "operators/test_shapes native/test_copies",
    r"batch|permute|executor|program|arena|block|pool|call|value": "engine/test_engine operators/test_batch "
    "engine/test_quick_batches codecs/test_codecs graph/test_branches",
    r"tfrecord|crc|example|proto": "formats/test_tfrecord formats/test_example operators/test_readers_tfrecord",
    r"recordio|mxnet": "formats/test_recordio operators/test_readers_containers",
    r"tar|webdataset": "formats/test_webdataset operators/test_readers_containers",
    r"npy|numpy": "formats/test_npy operators/test_npy_headers operators/test_readers_numpy",
    r"zip": "formats/test_zip",
    r"create|content|photo|pattern": "create/test_content create/test_create create/test_create_photo",
    r"mix": "test_mixing",
    r"declar|step": "steps/test_steps",
}


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.AST, package: str, known: frozenset[str]) -> set[str]:
    """Return which of the known modules a file imports, anywhere in it, lazily exported ones included."""
    found: set[str] = set()
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package.split(".")[: len(package.split(".")) - node.level + 1], base]).rstrip(".")
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value, f"{package}.{node.value}"]
        found.update(name for name in names if name in known)
    return found


@cache
def _graph(root: Path) -> dict[str, set[str]]:
    """Return what every module of the package, every test file and every helper of tests imports."""
    sources = {_module(path.relative_to(root)): path for path in root.glob("src/**/*.py")}
    helpers = {path.stem: path for path in root.glob("tests/support/*.py")}
    tests = {path.relative_to(root).as_posix(): path for path in root.glob("tests/**/test_*.py")}
    known = frozenset(sources) | frozenset(helpers)
    graph = {}
    for name, path in {**sources, **helpers, **tests}.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        graph[name] = _imports(ast.parse(path.read_text("utf-8")), package, known) - {name}
    return graph


@cache
def _distances(root: Path, test: str) -> dict[str, int]:
    graph = _graph(root)
    found, queue = {test: 0}, deque([test])
    while queue:
        name = queue.popleft()
        for other in graph.get(name, ()):
            if other not in found:
                found[other] = found[name] + 1
                queue.append(other)
    return found


@cache
def _words(root: Path, test: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", (root / test).read_text("utf-8")))


def _stems(name: str) -> set[str]:
    return {word.rstrip("s") for word in name.removeprefix("test_").split("_")}


def _around(text: str, line: int) -> set[str]:
    """Return the names of the functions and classes that a line belongs to."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, definitions)]
    return {node.name for node in nodes if node.lineno <= line <= (node.end_lineno or 0)}


def python_tests(root: Path, path: Path, line: int, most: int) -> list[str]:
    """Return the test files to run for a change of a Python module: those that import it, by the shortest way, first.

    What brings a file forward: the folder of the same package, a name like the module's, and mentioning the module or
    the function that is changed. Between equals the smaller file comes first.
    """
    module, folder = _module(path), "/".join(("tests", *path.parts[2:-1]))
    stem = path.stem if path.stem != "__init__" else path.parts[-2]
    named = {stem, *_around((root / path).read_text("utf-8"), line)}
    ranked = []
    for test in (name for name in _graph(root) if name.startswith("tests/")):
        away = _distances(root, test).get(module)
        if away is not None and not test.startswith("tests/repository"):
            clues = test.startswith(folder + "/") + len(_stems(stem) & _stems(Path(test).stem))
            clues += len(named & _words(root, test))
            ranked.append((away - 2 * clues, (root / test).stat().st_size, test))
    return [test for _, _, test in sorted(ranked)[:most]]


def native_tests(root: Path, path: Path, most: int) -> list[str]:
    """Return the test files to run for a change of a C++ source, by the words in its path."""
    words = path.with_suffix("").as_posix().removeprefix("native/")
    names = [name for words_, names in NATIVE_TESTS.items() if re.search(words_, words) for name in names.split()]
    chosen = [f"tests/{name}.py" for name in dict.fromkeys(names)][: most - 1]
    return [name for name in (*chosen, "tests/operators/test_operators.py") if (root / name).exists()]


def tests_for(root: Path, path: Path, line: int, most: int) -> list[str]:
    """Return at most so many test files for a change of a line, the most promising first."""
    if path.parts[0] == "native":
        return native_tests(root, path, most)
    return python_tests(root, path, line, most)
