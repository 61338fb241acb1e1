"""Recipes from a stranger: refused at once and by name, whatever their size and depth."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from pixelmill.errors import ArgumentError
from pixelmill.recipe import load_recipe
from pixelmill.storage.yaml_file import MOST_BYTES, MOST_LEVELS, read_yaml

SECONDS_OF_CPU = 20  # for starting Python and PyYAML on any machine; a quadratic parser takes minutes
MEMORY = 2 << 30

HOSTILE = {
    "brackets": ("steps: " + "[" * 100_000, "more than the limit|levels deep"),
    "brackets that fit": ("steps: " + "[" * 60_000, "levels deep"),
    "braces": ("{a: " * 15_000, "levels deep"),
    "dashes": ("- " * 30_000, "levels deep"),
    "indents": ("".join(" " * level + "a:\n" for level in range(350)), "levels deep"),
    "questions": ("? " * 30_000, "levels deep|is not YAML"),
    "mixed": ("steps:\n" + "- [{a: " * 8_000, "levels deep"),
    "alias": ("a: &a [1]\nsteps: [*a, *a]", "aliases"),
    "laughs": ("a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(99)), "aliases"),
    "large": ("steps: [" + "a" * (1 << 20) + "]", "more than the limit"),
    "long number": ("steps: [" + "9" * 5_000 + "]", "is not YAML|64 bits"),
    "long time": ("steps: [1" + ":59" * 20_000 + "]", "is not YAML|64 bits"),
    "no date": ("steps: [2001-99-99]", "is not YAML"),
    "python": ("steps: [!!python/object/apply:os.system [id]]", "is not YAML"),
    "bytes": ("steps: [\udcff]", "is not YAML"),
    "control": ("steps: [\x01]", "is not YAML"),
    "merge": ("steps:\n- <<: [" + "{a: 1}," * 5_000 + "]", "step|recipe"),
}


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_OF_CPU, SECONDS_OF_CPU))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_recipes_are_refused(name: str, tmp_path: Path) -> None:
    text, words = HOSTILE[name]
    path = tmp_path / "recipe.yaml"
    path.write_bytes(os.fsencode(text))
    with pytest.raises(ArgumentError, match=words):
        load_recipe(str(path))


def test_they_are_refused_in_bounded_time_and_memory(tmp_path: Path) -> None:
    """All of them in one process with little time of the processor; the first alone took a minute of it."""
    for number, (text, _) in enumerate(HOSTILE.values()):
        (tmp_path / f"{number}.yaml").write_bytes(os.fsencode(text))
    program = """
import sys, pathlib
from pixelmill.errors import ArgumentError
from pixelmill.recipe import load_recipe
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    try:
        load_recipe(str(path))
    except ArgumentError:
        print(path.name)
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        preexec_fn=limited,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == len(HOSTILE)


def test_what_just_fits_is_read(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text("[" * MOST_LEVELS + "]" * MOST_LEVELS)
    assert read_yaml(str(path))
    path.write_text("[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1))
    with pytest.raises(ArgumentError, match=f"line 1 of .* more than {MOST_LEVELS} levels"):
        read_yaml(str(path))
    path.write_text("[1]" + " " * (MOST_BYTES - 3))
    assert read_yaml(str(path)) == [1]
    path.write_text("[" + ", ".join(["[1]"] * 1000) + "]")
    assert len(read_yaml(str(path))) == 1000, "closed brackets do not count"
    path.write_text("a: 9223372036854775807\nb: -9223372036854775808")
    assert read_yaml(str(path)) == {"a": 2**63 - 1, "b": -(2**63)}


def test_recipes_are_files(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="Is a directory"):
        load_recipe(str(tmp_path))
    with pytest.raises(ArgumentError, match="no file"):
        load_recipe(str(tmp_path / "missing.yaml"))
