"""One bad item never ends a job that skips bad ones: every fault is an event with file, line and kind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runner import CliRunner, Result
from dataset_cases import encoded, write

import pixelmill
from pixelmill.cli import main
from pixelmill.formats.registry import FORMATS
from pixelmill.formats.sample import Sample

JPEG = encoded("jpeg", seed=1)
GOOD = 6


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def images(folder: Path) -> Path:
    for number in range(GOOD):
        path = folder / "ab"[number % 2] / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(JPEG)
    return folder


def rows(text: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (images(folder) / "annotations.jsonl").write_text(text)
        return folder

    return make


def lines(text: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        names = sorted(path.relative_to(folder).as_posix() for path in images(folder).glob("*/*.jpg"))
        (folder / "list.txt").write_text("".join(f"{name}\t1\n" for name in names) + text)
        return folder / "list.txt"

    return make


def table(text: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        names = sorted(path.relative_to(folder).as_posix() for path in images(folder).glob("*/*.jpg"))
        rows = "".join(f"{name},1,,\n" for name in names)
        (folder / "list.csv").write_text("path,label,boxes,mask\n" + rows + text)
        return folder / "list.csv"

    return make


def link(name: str, target: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (images(folder) / name).symlink_to(target)
        return folder

    return make


def vanished(folder: Path) -> Path:
    source = lines("a/gone.jpg\t1\n")(folder)
    (folder / "a/gone.jpg").mkdir()
    return source


# What is bad, how many samples of the six others stay, the kind of the event, and what its message or path names.
CASES: dict[str, tuple[Callable[[Path], Path], int, str, str]] = {
    "half a character as class": (rows('{"path":"a/0.jpg","class":"\\ud800"}\n'), 5, "corrupt", "annotations.jsonl:1"),
    "half a character as key": (rows('{"path":"a/0.jpg","key":"x\\udbff"}\n'), 5, "corrupt", "annotations.jsonl:1"),
    "half a character as ending": (rows('{"path":"a/0.jpg","extension":"\\ud800"}\n'), 5, "corrupt", "jsonl:1"),
    "half a character as feature": (
        rows('{"path":"a/0.jpg","extra":{"\\ud800":{"int64":[1]}}}\n'),
        5,
        "corrupt",
        "annotations.jsonl:1",
    ),
    "label of text": (rows('{"path":"a/0.jpg","labels":["x"]}\n'), 5, "corrupt", "annotations.jsonl:1"),
    "box of two numbers": (rows('{"path":"a/0.jpg","boxes":[[1,2]]}\n'), 5, "corrupt", "annotations.jsonl:1"),
    "box without end": (rows('{"path":"a/0.jpg","boxes":[[1,2,3,NaN]]}\n'), 5, "corrupt", "annotations.jsonl:1"),
    "mask that is no base64": (rows('{"path":"a/0.jpg","mask":"?"}\n'), 5, "corrupt", "annotations.jsonl:1"),
    "row that is no JSON": (rows('{"path":"a/0.jpg"}\n{"path"\n'), 6, "corrupt", "annotations.jsonl:2"),
    "row that is a list": (rows("[1]\n"), 6, "corrupt", "annotations.jsonl:1"),
    "link to itself": (link("a/loop.jpg", "loop.jpg"), 6, "io", "loop.jpg"),
    "link to nothing": (link("a/gone.jpg", "nowhere"), 6, "io", "gone.jpg"),
    "line with a label nan": (lines("a/0.jpg\tnan\n"), 6, "corrupt", "list.txt:7"),
    "line outside of the root": (lines("../../secret.jpg\t1\n"), 6, "corrupt", "list.txt:7"),
    "line with an absolute path": (lines("/etc/passwd\t1\n"), 6, "corrupt", "list.txt:7"),
    "line with an address": (lines("http://x/y.jpg\t1\n"), 6, "corrupt", "list.txt:7"),
    "line with a zero byte": (lines("a\0b\t1\n"), 6, "corrupt", "list.txt:7"),
    "line with a name too long": (lines("x" * 5000 + ".jpg\t1\n"), 6, "io", "list.txt:7"),
    "line of a file that is gone": (lines("a/gone.jpg\t1\n"), 6, "io", "list.txt:7"),
    "line of a file that is a folder": (vanished, 6, "io", "list.txt:7"),
    "line below a file": (lines("a/0.jpg/y.jpg\t1\n"), 6, "io", "list.txt:7"),
    "row with a label nan": (table("a/0.jpg,nan,,\n"), 6, "corrupt", "list.csv:8"),
    "row with a word as label": (table("a/0.jpg,cat,,\n"), 6, "corrupt", "list.csv:8"),
    "row outside of the root": (table("../../secret.jpg,1,,\n"), 6, "corrupt", "list.csv:8"),
    "row with too few fields": (table("a/0.jpg,1\n"), 6, "corrupt", "list.csv:8"),
    "row without a path": (table(",1,,\n"), 6, "corrupt", "list.csv:8"),
    "row with a bad box": (table('a/0.jpg,1,"[[1]]",\n'), 6, "corrupt", "list.csv:8"),
    "row with a box that is no JSON": (table('a/0.jpg,1,"nope",\n'), 6, "corrupt", "list.csv:8"),
    "row with a mask outside": (table("a/0.jpg,1,,../../m.png\n"), 6, "corrupt", "list.csv:8"),
    "row with a mask that is gone": (table("a/0.jpg,1,,gone.png\n"), 6, "io", "list.csv:8"),
}


def listed(output: Path) -> list[dict[str, Any]]:
    manifest = json.loads((output / "manifest.json").read_text())
    return [event for entry in manifest["entries"] for event in entry["errors"]]


@pytest.mark.parametrize("name", CASES)
def test_a_bad_item_is_skipped_and_named(name: str, tmp_path: Path) -> None:
    make, samples, kind, place = CASES[name]
    source = make(tmp_path / "x")
    report = pixelmill.convert(source, tmp_path / "out", to="tfrecord", on_error="skip", workers=1)
    assert (report.samples, report.errors) == (samples, 1)
    (event,) = listed(tmp_path / "out")
    assert event["kind"] == kind and place in f"{event['path']} {event['message']}", event
    assert event["path"] is not None
    assert run("convert", source, tmp_path / "fail", "--to", "tfrecord").exit_code == 1
    assert run("verify", source).exit_code == 4
    again = pixelmill.augment(
        source, tmp_path / "augmented", recipe="segmentation", to="tfrecord", on_error="quarantine", workers=1
    )
    assert (again.samples, again.errors) == (samples, 1)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("keys", [("x.jpg/y", "x"), ("x", "x.jpg/y"), ("A/b", "a/B.jpg/c/d"), ("x", "X.JPG/y/z")])
def test_a_file_is_never_named_like_a_folder(keys: tuple[str, str], to: str, tmp_path: Path) -> None:
    write(tmp_path / "t", "tfrecord", [Sample(key, JPEG, "jpg", (0,)) for key in (*keys, "z")])
    for name, options in (("copied", {}), ("encoded", {"format": "png"})):
        report = pixelmill.convert(tmp_path / "t", tmp_path / name, to=to, workers=1, **options)
        assert report.samples == 3
        assert {sample.key for sample in pixelmill.open_dataset(tmp_path / name)} == {*keys, "z"}


@pytest.mark.parametrize("to", ["folder", "list", "npy"])
@pytest.mark.parametrize("key", ["manifest.json/a", "list.txt/a", "classes.txt/b", ".pixelmill/tmp/a", "table.csv/a"])
def test_no_sample_takes_the_place_of_what_jobs_write(key: str, to: str, tmp_path: Path) -> None:
    write(tmp_path / "t", "tfrecord", [Sample(name, JPEG, "jpg", (0,), name.partition("/")[0]) for name in (key, "b")])
    pixelmill.convert(tmp_path / "t", tmp_path / "out", to=to, workers=1)
    found = pixelmill.verify(tmp_path / "out")
    assert found.is_whole and found.samples == 2, found.problems
    assert {sample.key for sample in pixelmill.open_dataset(tmp_path / "out")} == {key, "b"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_skipped(tmp_path: Path) -> None:
    (images(tmp_path / "x") / "a/0.jpg").chmod(0)
    report = pixelmill.convert(tmp_path / "x", tmp_path / "out", to="tfrecord", on_error="skip", workers=1)
    assert (report.samples, report.errors) == (5, 1)
    assert listed(tmp_path / "out")[0]["kind"] == "io"


@pytest.mark.parametrize("target", ["loop.jpg", "nowhere"])
def test_ingest_skips_links_that_lead_nowhere(tmp_path: Path, target: str) -> None:
    (images(tmp_path / "x") / "a/loop.jpg").symlink_to(target)
    (tmp_path / "x/round").symlink_to("round")
    arguments = ["--input_dir", tmp_path / "x", "--output_dir", tmp_path / "out", "--num_shards", 1, "--img_size", 8]
    assert run("ingest", *arguments, "--on-error", "skip", "--num_workers", 1).exit_code == 3
    assert [(event["kind"], Path(event["path"]).name) for event in listed(tmp_path / "out")] == [("io", "loop.jpg")]
