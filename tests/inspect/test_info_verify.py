"""info, verify and index: figures against NumPy, every planted fault named with its place."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_runner import CliRunner, Result
from dataset_cases import encoded, odd_samples, plain_samples, write
from PIL import Image

import pixelmill
from pixelmill.cli import main
from pixelmill.errors import ArgumentError, DataError, OutputExists
from pixelmill.formats.registry import FORMATS, open_dataset
from pixelmill.formats.sample import Sample

EXISTS = ("error", "resume", "overwrite")
SIZES = [(20, 30), (40, 30), (100, 25), (64, 64), (7, 90)]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def pictures() -> list[Sample]:
    kinds = ("png", *["jpeg"] * 4)
    return [
        Sample(f"c{i % 2}/{i}", encoded(kind, seed=i, size=size), kind.replace("jpeg", "jpg"), (i % 2,), f"c{i % 2}")
        for i, (kind, size) in enumerate(zip(kinds, SIZES, strict=True))
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_info_counts_what_is_there(format: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"classes": ("c0", "c1")} if format == "folder" else {}
    found = pixelmill.info(write(tmp_path / "x", format, pictures(), **options))
    heights, widths = np.array(SIZES).T
    assert (found.format, found.samples, found.examined) == (format, 5, 5)
    assert found.height == (heights.min(), heights.mean().round(1), heights.max())
    assert found.width == (widths.min(), widths.mean().round(1), widths.max())
    assert (found.labels, found.class_names) == ({"0": 3, "1": 2}, {"0": "c0", "1": "c1"})
    assert found.extensions == {"jpg": 4, "png": 1}
    sides = np.min(SIZES, axis=1)
    expected = [int(((sides >= low) & (sides < high)).sum()) for low, high in pairwise(found.sizes.edges)]
    assert list(found.sizes.counts) == expected and sum(expected) == 5
    assert sum(found.aspects.counts) == 5 and found.aspects.counts[-1] == 1
    assert not found.bad and not found.faults


def test_info_tells_of_bad_samples_and_rare_things(tmp_path: Path) -> None:
    result = run("info", write(tmp_path / "x", "webdataset", odd_samples()), "--json")
    found = json.loads(result.output)
    assert result.exit_code == 0
    assert (found["boxes"], found["masks"]) == (12, 3)
    assert found["objects"] == {"polygons": 4, "oriented boxes": 2, "run-length masks": 2, "keypoints": 4}
    assert found["splits"] == {"train": 1, "väl/1": 1}
    assert {event["kind"] for event in found["bad"]} == {"not_an_image"} and len(found["bad"]) == 2
    assert found["fields"]["mask"] == "encoded image"


def test_info_looks_at_some_samples_evenly(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "recordio", plain_samples(12))
    found = pixelmill.info(source, samples=3)
    assert (found.samples, found.examined, found.labels) == (12, 3, {"0": 1, "1": 1, "2": 1})
    shown = run("info", source, "--samples", 3).output
    assert "about 3 of them" in shown and "2 cat" in shown and "shorter side" in shown


@pytest.mark.parametrize("format", FORMATS)
def test_a_whole_dataset_is_whole(format: str, tmp_path: Path) -> None:
    samples = [sample for sample in odd_samples() if sample.key not in ("not-an-image", "magic")]
    write(tmp_path / "x", "tfrecord", samples)
    pixelmill.convert(tmp_path / "x", tmp_path / "y", to=format)
    found = pixelmill.verify(tmp_path / "y")
    assert found.is_whole, found.problems
    assert found.samples == len(samples) and found.manifest == str(tmp_path / "y/manifest.json") and found.hashed > 0
    assert run("verify", tmp_path / "y").exit_code == 0


@pytest.mark.parametrize("format", FORMATS)
def test_every_changed_file_is_found_by_its_hash(format: str, tmp_path: Path) -> None:
    write(tmp_path / "x", "tfrecord", plain_samples(5))
    pixelmill.convert(tmp_path / "x", tmp_path / "y", to=format, samples_per_shard=2)
    files = [
        file for entry in json.loads((tmp_path / "y/manifest.json").read_text())["entries"] for file in entry["files"]
    ]
    for file in files:
        path = tmp_path / "y" / file["name"]
        data = path.read_bytes()
        changed = bytearray(data)
        changed[len(data) // 2] ^= 4
        path.write_bytes(changed)
        result = run("verify", tmp_path / "y", "--json", "--no-decode")
        problems = json.loads(result.output)["problems"] if result.exit_code == 4 else []
        assert [p for p in problems if p["kind"] == "checksum" and p["path"] == str(path)], (file, result.output)
        path.write_bytes(data)
    assert run("verify", tmp_path / "y").exit_code == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"data.tfrecord", "sha256"', '"data.tfrecord", "sha255"'),
        lambda text: text.replace('"data.tfrecord"', '"../x/data.tfrecord"', 1),
        lambda text: text.replace('"data.tfrecord"', "7", 1),
        lambda text: re.sub(r'"entries": \[.*\]', '"entries": [5]', text, flags=re.DOTALL),
    ],
)
def test_a_damaged_manifest_is_a_problem(tmp_path: Path, damage: Callable[[str], str]) -> None:
    write(tmp_path / "x", "tfrecord", plain_samples(2))
    pixelmill.convert(tmp_path / "x", tmp_path / "y", to="tfrecord")
    manifest = tmp_path / "y/manifest.json"
    text = manifest.read_text()
    assert damage(text) != text
    manifest.write_text(damage(text))
    (problem,) = pixelmill.verify(tmp_path / "y").problems
    assert (problem.kind, problem.path) == ("corrupt", str(manifest))
    assert problem.message.startswith("manifest: damaged: ")


def test_a_manifest_of_another_program_is_none(tmp_path: Path) -> None:
    write(tmp_path / "x", "tfrecord", plain_samples(2))
    (tmp_path / "x/manifest.json").write_text('{"name": "an app"}')
    found = pixelmill.verify(tmp_path / "x")
    assert found.is_whole and found.manifest is None


def test_planted_faults_are_listed_with_their_places(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", plain_samples(9))
    path = source / "data.tfrecord"
    frames = [tuple(map(int, line.split())) for line in (source / "data.idx").read_text().splitlines()]
    data = bytearray(path.read_bytes())
    data[frames[2][0] + 40] ^= 1  # a payload
    data[frames[5][0] + 3] ^= 1  # a length
    del data[frames[8][0] + 50 :]  # the end
    path.write_bytes(data)
    found = pixelmill.verify(path)
    assert {(problem.kind, problem.offset) for problem in found.problems} == {
        ("checksum", frames[2][0]),
        ("checksum", frames[5][0]),
        ("truncated", frames[8][0]),
    }
    assert (found.samples, found.decoded) == (6, 6)
    result = run("verify", path)
    assert result.exit_code == 4
    assert all(f"{path} at byte {frames[number][0]}" in result.output for number in (2, 5, 8))


def test_images_that_cannot_be_decoded(tmp_path: Path) -> None:
    samples = plain_samples(70)
    cut = samples[40].image[: len(samples[40].image) * 2 // 3]
    samples[40] = Sample("cut", cut, "jpg", (1,))
    samples[3] = Sample("page", b"<html></html>", "jpg", (1,))
    samples[66] = Sample("mask", samples[66].image, "jpg", mask=b"\x89PNG\r\n\x1a\n....")
    source = write(tmp_path / "x", "webdataset", samples)
    found = pixelmill.verify(source)
    assert [(problem.sample, problem.kind) for problem in found.problems][:2] == [
        (3, "not_an_image"),
        (40, "truncated"),
    ]
    assert found.problems[2].sample == 66 and found.problems[2].message.startswith("mask: ")
    assert len(found.problems) == 3 and found.samples == 70 and found.decoded == 71
    assert all(problem.path == str(source / "data.tar") for problem in found.problems)


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path / "x", "tfrecord", plain_samples(4))
    pixelmill.convert(tmp_path / "x", tmp_path / "y", to="list")
    (tmp_path / "y/bee/0001.jpg").unlink()
    found = pixelmill.verify(tmp_path / "y")
    assert {problem.kind for problem in found.problems} == {"io"} and len(found.problems) == 2
    assert all("0001.jpg" in str(problem.path) for problem in found.problems)


@pytest.mark.parametrize("format", ["tfrecord", "recordio", "webdataset"])
def test_index_files_equal_those_of_the_writer(format: str, tmp_path: Path) -> None:
    source = write(tmp_path / "x", format, plain_samples(7))
    expected = (source / "data.idx").read_bytes()
    result = run("index", source, "--output", tmp_path / "idx")
    assert result.exit_code == 0 and (tmp_path / "idx/data.idx").read_bytes() == expected
    assert run("index", source).exit_code == 5
    with pytest.raises(OutputExists, match=r"data\.idx"):
        pixelmill.index(source)
    (source / "data.idx").write_bytes(b"old")
    assert pixelmill.index(source, overwrite=True) == [str(source / "data.idx")]
    assert (source / "data.idx").read_bytes() == expected


def test_index_refuses_what_has_none(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "folder", plain_samples(3))
    with pytest.raises(ArgumentError, match="needs no index"):
        pixelmill.index(source)
    records = write(tmp_path / "y", "recordio", plain_samples(3)) / "data.rec"
    records.write_bytes(records.read_bytes()[:-20])
    with pytest.raises(DataError, match="verify"):
        pixelmill.index(records, overwrite=True)


def test_sixteen_bit_images_are_described(tmp_path: Path) -> None:
    stream = io.BytesIO()
    Image.fromarray(np.arange(600, dtype=np.uint16).reshape(20, 30) * 100).save(stream, "png")
    write(tmp_path / "x", "list", [Sample("deep", stream.getvalue(), "png")])
    assert pixelmill.info(tmp_path / "x").height == (20, 20, 20)
    assert pixelmill.verify(tmp_path / "x").is_whole


def cut_and_closed(data: bytes, *, part: float) -> bytes:
    """Cut a JPEG and close it with an end-of-image marker, as some programs repair files."""
    return data[: int(len(data) * part)] + b"\xff\xd9"


@pytest.mark.parametrize("part", [0.25, 0.5, 0.9])
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart_marker_rows": 1}, {"subsampling": 0}])
def test_images_with_missing_rows_are_damaged_though_they_end_well(
    tmp_path: Path, options: dict[str, Any], part: float
) -> None:
    stream = io.BytesIO()
    pixels = np.random.default_rng(1).integers(0, 256, (96, 80, 3), np.uint8)
    Image.fromarray(pixels).save(stream, "jpeg", quality=90, **options)
    cut = cut_and_closed(stream.getvalue(), part=part)
    samples = [*plain_samples(3), Sample("cut", cut, "jpg", (1,)), Sample("end", stream.getvalue(), "jpg", (0,))]
    source = write(tmp_path / "x", "tfrecord", samples)
    (problem,) = pixelmill.verify(source).problems
    assert (problem.sample, problem.kind) == (3, "missing_pixels")
    assert "pixels are missing from row" in problem.message
    assert run("verify", source).exit_code == 4


def test_warnings_that_cost_no_pixels_are_notes(tmp_path: Path) -> None:
    stream = io.BytesIO()
    pixels = np.random.default_rng(1).integers(0, 256, (96, 80, 3), np.uint8)
    Image.fromarray(pixels).save(stream, "jpeg", progressive=True)
    data = stream.getvalue()
    samples = [Sample("extra", data[:-2] + b"\0\0\0\0more\xff\xd9", "jpg"), Sample("good", data, "jpg")]
    source = write(tmp_path / "x", "tfrecord", samples)
    found = pixelmill.verify(source)
    assert found.is_whole and found.notes == {"decoder_warning": 1}
    result = run("verify", source)
    assert result.exit_code == 0 and "images with notes: decoder_warning 1" in result.output


def test_an_unfinished_job_is_not_whole(tmp_path: Path) -> None:
    samples = plain_samples(15)
    samples[7] = Sample("bad", b"", "jpg", (1,))
    write(tmp_path / "x", "tfrecord", samples)
    with pytest.raises(DataError):
        pixelmill.convert(tmp_path / "x", tmp_path / "y", to="webdataset", samples_per_shard=1, resize=8, workers=1)
    for source in (tmp_path / "y", f"{tmp_path}/y/*.tar"):
        found = pixelmill.verify(source)
        assert [problem.kind for problem in found.problems] == ["unfinished"]
        assert found.problems[0].message.startswith("unfinished: 7 of 15 shards")
        result = run("verify", source)
        assert result.exit_code == 4 and "unfinished: 7 of 15 shards" in result.output
    assert "unfinished: 7 of 15 shards" in run("info", tmp_path / "y").output
    (tmp_path / "y/.pixelmill/plan.json").write_text("[")
    assert "without a plan" in run("verify", tmp_path / "y").output
    with pytest.raises(DataError):  # nothing is there but the state of a job
        pixelmill.convert(tmp_path / "x", tmp_path / "z", to="list", num_shards=1, resize=8, workers=1)
    assert [problem.kind for problem in pixelmill.verify(tmp_path / "z").problems] == ["unfinished", "corrupt"]


@pytest.mark.parametrize("format", FORMATS)
def test_hidden_names_are_found_again(format: str, tmp_path: Path) -> None:
    image = encoded("jpeg", seed=1)
    samples = [
        Sample(".net/.b", image, "jpg", (0,), ".net"),
        Sample("_net/b", image, "jpg", (1,), "_net"),
        Sample("c/.b", image, "jpg", (2,), "c"),
        Sample("c/d/.e/f", image, "jpg", (2,), "c"),
        Sample(".g", image, "jpg"),
    ]
    write(tmp_path / "x", "tfrecord", samples)
    pixelmill.convert(tmp_path / "x", tmp_path / "y", to=format)
    found = pixelmill.verify(tmp_path / "y")
    assert found.is_whole and found.samples == 5, found.problems
    again = {sample.key: (sample.labels, sample.class_name) for sample in open_dataset(tmp_path / "y")}
    assert again == {sample.key: (sample.labels, sample.class_name) for sample in samples}


@pytest.mark.parametrize("format", FORMATS)
def test_what_the_manifest_counts_must_be_found(format: str, tmp_path: Path) -> None:
    write(tmp_path / "x", "tfrecord", plain_samples(6))
    pixelmill.convert(tmp_path / "x", tmp_path / "y", to=format, samples_per_shard=2)
    manifest = tmp_path / "y/manifest.json"
    text = manifest.read_text()
    content = json.loads(text)
    content["entries"][1]["samples"] += 1
    content["samples"] += 1
    manifest.write_text(json.dumps(content))
    (problem,) = pixelmill.verify(tmp_path / "y").problems
    assert (problem.kind, problem.message) == ("missing", "6 samples are found, the manifest counts 7")
    del content["entries"][1]
    manifest.write_text(json.dumps(content))
    kinds = [problem.kind for problem in pixelmill.verify(tmp_path / "y", decode=False).problems]
    assert kinds[0] == "missing" and set(kinds[1:]) == {"corrupt"}


@pytest.mark.parametrize("name", ["entries", "files", "samples", "number", "errors", "shards", "notes", "job"])
@pytest.mark.parametrize("value", [None, -5, [5], {"a": "b"}, True])
def test_a_manifest_of_another_form_is_a_sentence(tmp_path: Path, name: str, value: object) -> None:
    write(tmp_path / "x", "tfrecord", plain_samples(2))
    pixelmill.convert(tmp_path / "x", tmp_path / "y", to="tfrecord")
    manifest = tmp_path / "y/manifest.json"
    content = json.loads(manifest.read_text())
    if name in ("entries", "shards", "job"):
        content[name] = value
    else:
        content["entries"][0][name] = value
    manifest.write_text(json.dumps(content))
    results = [
        run("verify", tmp_path / "y"),
        run("info", tmp_path / "y"),
        run("job", "status", tmp_path / "y"),
        *(run("convert", tmp_path / "x", tmp_path / "y", "--to", "tfrecord", "--exists", e) for e in EXISTS),
    ]
    for result in results:
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
