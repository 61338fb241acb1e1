"""The changes that `make mutants` makes, and the tests that it chooses for them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from locations import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import mutants
import mutants_named
import mutants_sources
import mutants_tests

NAME = Path("src/pixelmill/a.py")
NATIVE = Path("native/core/a.cpp")


def changes(line: str) -> set[str]:
    return {mutant.applied(line) for mutant in mutants_sources.python_mutants(NAME, line)}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = a < b", {"x = a <= b"}),
        ("x = a not in b", {"x = a in b"}),
        ("x = ä + b", {"x = ä - b"}),
        ("x = '%d' % a", set()),
        ("x += a", {"x -= a"}),
        ("x = a and b", {"x = a or b"}),
        ("x = 3", {"x = 4", "x = (2)"}),
        ("x = True", {"x = False"}),
        ("x: Literal[3] = y", set()),
        ("f(a, b)", {"pass", "f(b, a)"}),
        ("if a: x = y", {"if (not (a)): x = y"}),
        ("def f(x: int) -> int:\n    'Text.'\n    return x", {"def f(x: int) -> int:\n    'Text.'\n    return None"}),
        ("if a:\n    raise E(3)", {"if (not (a)):\n    raise E(3)", "if a:\n    pass"}),
        ("if TYPE_CHECKING:\n    x = 3", set()),
    ],
)
def test_python_is_changed_in_one_place(line: str, expected: set[str]) -> None:
    assert changes(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("if (a < b) c();\n", {"if (a <= b) c();\n"}),
        ("std::vector<int> a;\n", set()),
        ("a = b + 7;  // 8 + 9\n", {"a = b - 7;  // 8 + 9\n", "a = b + 8;  // 8 + 9\n"}),
        ("a = b && c;\n", {"a = b || c;\n"}),
        ("static_assert(sizeof(a) == 4);\n", set()),
        ('throw Fault("a" + b);\n', set()),
        ("#include <a>\n", set()),
    ],
)
def test_cpp_is_changed_in_one_place(line: str, expected: set[str]) -> None:
    assert {mutant.applied(line) for mutant in mutants_sources.native_mutants(NATIVE, line)} == expected


def test_the_sample_follows_from_the_seed_and_can_be_parsed() -> None:
    found = mutants_sources.all_mutants(ROOT, "src/pixelmill/formats")
    chosen = mutants.sample(found, seed=1, count=40, native=5)
    assert (
        chosen == mutants.sample(found, seed=1, count=40, native=5) != mutants.sample(found, seed=2, count=40, native=5)
    )
    assert len(chosen) == 40
    for mutant in chosen:
        text = (ROOT / mutant.path).read_text("utf-8")
        assert ast.dump(ast.parse(mutant.applied(text))) != ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("src/pixelmill/storage/file_names.py", "tests/storage/test_file_names.py"),
        ("src/pixelmill/recipe/geometry.py", "tests/recipe/test_recipe_geometry.py"),
        ("src/pixelmill/inspect/overlays.py", "tests/inspect/test_overlays.py"),
        ("native/core/codecs/png_rows.cpp", "tests/native/test_png.py"),
        ("native/core/steps/affine.cpp", "tests/native/test_warp.py"),
    ],
)
def test_the_tests_of_a_module_come_first(path: str, test: str) -> None:
    assert test in mutants_tests.tests_for(ROOT, Path(path), 30, 3)


def test_native_sources_have_tests_that_exist() -> None:
    names = {name for names in mutants_tests.NATIVE_TESTS.values() for name in names.split()}
    assert not [name for name in sorted(names) if not (ROOT / "tests" / f"{name}.py").exists()]


def test_a_run_is_judged_by_its_first_failure() -> None:
    assert mutants._judged(0, "") == ("survived", "")
    assert mutants._judged(None, "") == ("timeout", "the limit")
    assert mutants._judged(1, "..F\nFAILED tests/a.py::test_b[x y-[1]] - assert 1\n")[0] == "killed"
    assert mutants._judged(1, "FAILED tests/a.py::test_b[x y] - assert 1\n") == ("killed", "tests/a.py::test_b[x y]")
    assert mutants._judged(-11, "..")[0] == "crashed"


@pytest.mark.parametrize("change", mutants_named.NAMED, ids=lambda change: change.what)
def test_named_changes_fit_the_sources(change: mutants_named.Named) -> None:
    mutant = change.mutant(ROOT)
    text = (ROOT / change.path).read_text("utf-8")
    assert mutant.applied(text) != text and text[mutant.start : mutant.end] == change.old
    assert (ROOT / change.tests).is_file()


def test_a_named_change_that_fits_no_longer_is_told() -> None:
    gone = mutants_named.Named("gone", "scripts/mutants_named.py", "no such" + " text", "", "tests/conftest.py")
    with pytest.raises(LookupError, match=r"occurs 0 times; update mutants_named\.py"):
        gone.mutant(ROOT)
