"""`{000..146}` and `{a,b}` in names stand for what they stand for in a shell."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_s3 import LoopbackS3

from pixelmill import convert, storage
from pixelmill.create import create_images
from pixelmill.errors import ArgumentError
from pixelmill.formats.registry import open_dataset
from pixelmill.storage.braces import expanded
from pixelmill.storage.options import using

PATTERNS = [
    "train-{000..011}.tar",
    "train-{0..12}.tar",
    "train-{8..011}.tar",
    "train-{3..0}.tar",
    "train-{03..0}.tar",
    "{train,valid}-{0..2}.tar",
    "{train,,valid}.tar",
    "x{a}y{1..}z{..2}",
    "x{5..5}",
    "no-braces.tar",
    "{0..1}",
    "a{b",
    "a}b{1..2}c",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_names_are_those_of_a_shell(pattern: str) -> None:
    done = subprocess.run(["bash", "-c", f"printf '%s\\n' {pattern}"], capture_output=True, text=True, check=True)
    assert expanded(pattern) == done.stdout.splitlines()


@pytest.mark.parametrize("pattern", ["{0..1000000}", "{0..999}{0..999}{0..1}", "{0..999999999999999999}"])
def test_too_many_names_are_refused_at_once(pattern: str) -> None:
    with pytest.raises(ArgumentError, match="stands for more than 1,000,000 files"):
        expanded(pattern)


def test_a_file_whose_name_has_braces_is_itself(tmp_path: Path) -> None:
    (tmp_path / "x{0..1}.tar").touch()
    assert storage.matching(f"{tmp_path}/x{{0..1}}.tar") == [f"{tmp_path}/x{{0..1}}.tar"]


def test_braces_and_stars_are_expanded_together(tmp_path: Path) -> None:
    for name in ("b1", "a2", "a1", "c1"):
        (tmp_path / name).touch()
    assert [Path(path).name for path in storage.matching(f"{tmp_path}/{{b,a}}*")] == ["b1", "a1", "a2"]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackS3]:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    create_images(tmp_path / "photos", "i", 24, 32, 10, "jpg", 5, classes=2, workers=1)
    convert(tmp_path / "photos", tmp_path / "w", to="webdataset", samples_per_shard=4, workers=1)
    found = LoopbackS3()
    found.put_folder("data", tmp_path / "w")
    with found.running(), using({}):
        yield found


def test_archives_behind_a_web_server_are_named_by_ranges(server: LoopbackS3, tmp_path: Path) -> None:
    found = open_dataset(f"{server.endpoint}/data/data-{{00000..00002}}-of-00003.tar")
    assert [sample.image for sample in found] == [sample.image for sample in open_dataset(tmp_path / "w")]


def test_a_web_server_lists_no_files(server: LoopbackS3) -> None:
    with pytest.raises(ArgumentError, match=r"matches no file; web servers .* such as \{000\.\.146\}"):
        open_dataset(f"{server.endpoint}/data/data-*.tar")
    with pytest.raises(ArgumentError, match=r"matches no file$"):
        open_dataset("nothing-*.tar")
