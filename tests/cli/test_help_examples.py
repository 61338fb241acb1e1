"""Examples can be pasted: a shell understands each, and those of --help run on data of the names that they use."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest
from command_runner import CliRunner
from dataset_cases import encoded
from locations import ROOT
from PIL import Image

import pixelmill
from pixelmill.cli import main
from pixelmill.cli.commands import printable_errors
from pixelmill.create import create_images

PAGES = ("README.md", *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))))
JOBS = {"augment", "convert", "create-images", "create-recordio", "create-tfrecords", "ingest", "segmentation"}
ELSEWHERE = ("s3://", "--runner ray")  # needs a bucket, or a cluster
SLOW = {"bench", "demo"}  # tests/benchmark and tests/cli/test_demo.py run them


def commands(group: click.Group) -> Iterator[click.Command]:
    yield group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from commands(command) if isinstance(command, click.Group) else (command,)


def help_examples() -> Iterator[str]:
    for command in commands(main):
        _, _, listed = (command.help or "").partition("Examples:\n")
        for line in listed.splitlines():
            if line.strip():
                yield line.strip()


def page_examples() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in re.findall(r"^```(?:sh|bash|shell)\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.M | re.S):
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("pixelmill "):
                    yield page, line


def parsed(example: str) -> list[str]:
    """Split an example as a shell does; return the words after `pixelmill`, without comments and redirections."""
    words = shlex.split(example, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    for sign in (">", "|", "&&"):
        words = words[: words.index(sign)] if sign in words else words
    return words[1:] if words[:1] == ["pixelmill"] else []


def check_options(words: list[str]) -> None:
    """Let click read the words, without running the command."""
    command: click.Command = main
    context = click.Context(main, info_name="pixelmill", token_normalize_func=lambda name: name.replace("_", "-"))
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, words[0]
        command, words = found, words[1:]
    if "--help" in words or words == ["--version"]:
        return
    with printable_errors():
        command.make_context(command.name, list(words), parent=context)


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_pages_have_valid_options(page: str) -> None:
    for _, line in (found for found in page_examples() if found[0] == page):
        check_options(parsed(line))


def test_every_command_has_examples() -> None:
    without = [command.name for command in commands(main) if "Examples:" not in (command.help or "")]
    assert without == []


@pytest.fixture(scope="module")
def materials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Datasets by the names that examples use."""
    root = tmp_path_factory.mktemp("materials")
    for number in range(12):
        put(root / "photos" / ("cat" if number % 2 else "dog") / f"{number}.jpg", encoded("jpeg", seed=number))
        put(root / "images" / f"{number}.jpg", encoded("jpeg", seed=number))
        put(root / "pairs" / "Images" / str(number % 3) / f"{number}.png", encoded("png", seed=number))
    for path in (root / "pairs" / "Images").rglob("*.png"):
        put(root / "pairs" / "Masks" / path.relative_to(root / "pairs" / "Images"), binary_mask())
    shutil.copytree(root / "photos", root / "imagenet")
    create_images(root / "boxed", "s_", 32, 32, 8, "png", content="shapes", boxes=True, workers=1)
    pixelmill.convert(root / "photos", root / "out", to="tfrecord", workers=1)
    create_images(root / "noise", "n_", 8, 8, 125, "jpg", workers=1)
    pixelmill.convert(root / "noise", root / "records", to="tfrecord", workers=1)
    put(root / "list.csv", b"path,label\nimages/0.jpg,0\nimages/1.jpg,1\n")
    put(root / "labels.csv", b"cat,0,cat\ndog,1,dog\n")
    put(root / "mine.py", b"def augment(scene):\n    return scene.flip(horizontal=1)\n")
    flip = {"__class_fullname__": "HorizontalFlip", "p": 0.5}
    chain = {"__class_fullname__": "Compose", "p": 1.0, "transforms": [flip]}
    put(root / "albumentations.json", json.dumps({"__version__": "2.0.8", "transform": chain}).encode())
    program = b"from torchvision.transforms import v2\n\ntrain_transform = v2.Compose([v2.RandomHorizontalFlip(0.5)])\n"
    put(root / "train.py", program)
    put(root / "mine.yaml", b"steps:\n  - flip: {horizontal: {coin: 0.5}}\n")
    return root


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def binary_mask() -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.eye(9, 13, dtype=np.uint8) * 255).save(stream, "png")
    return stream.getvalue()


def lay_out(words: list[str], materials: Path, folder: Path) -> None:
    """Copy the data that an example reads into a folder."""
    for word in words:
        name = word.rpartition("=")[2].partition(":")[0].rstrip("/")
        kept = {"data": "pairs" if words[0] == "segmentation" else "boxed", "labels.csv": "list.csv"}
        if words[0] == "ingest":
            del kept["labels.csv"]
        source = materials / kept.get(name, name)
        is_output = words[0] in JOBS and name in ("records", "out")
        if source.is_dir() and not is_output:
            written = shutil.ignore_patterns("*.idx") if words[0] == "index" else None
            shutil.copytree(source, folder / name, dirs_exist_ok=True, ignore=written)
        elif source.is_file():
            shutil.copy(source, folder / name)
        if name.startswith("train-"):
            ending = ".tfrecord" if name.endswith(".tfrecord") else "-of-01024"
            for number in (0, 3):
                shutil.copy(materials / "records" / "data.tfrecord", folder / f"train-{number:05d}{ending}")
    if (folder / "labels.csv").exists() and words[0] != "ingest":
        shutil.copytree(materials / "images", folder / "images")


@pytest.mark.parametrize("example", sorted(set(help_examples())))
def test_examples_of_help_run(example: str, materials: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = parsed(example)
    if not words:
        assert example.startswith("pip install ")
        return
    check_options(words)
    if any(mark in example for mark in ELSEWHERE) or words[0] in SLOW:
        return
    monkeypatch.chdir(tmp_path)
    lay_out(words, materials, tmp_path)
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    dry = words[0] in JOBS and "--help" not in words
    done = CliRunner().invoke(main, [*words, *(["--dry-run"] if dry and "--dry-run" not in words else [])])
    # The made data has boxes of another class.
    assert done.exit_code == 0 or "data/ has no sample of class 'dog' with boxes" in done.output, done.output
    if dry:
        assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
        assert "nothing was written" in done.output
