"""Conversion as a job: shards, order, splits, new encodings, bad samples, and the command."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_runner import CliRunner, Result
from dataset_cases import encoded, odd_samples, plain_samples, write
from locations import SUPPORT
from PIL import Image, ImageOps

import pixelmill
from pixelmill.cli import main
from pixelmill.conversion import Encoding, native_encoding
from pixelmill.create import photo
from pixelmill.dataset_jobs.selection import select, shard_bounds
from pixelmill.errors import ArgumentError, DataError, OutputExists
from pixelmill.formats import npy
from pixelmill.formats.registry import FORMATS, open_dataset
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.options.values import parse_split


def by_name(samples: Any) -> list[Sample]:
    return sorted(samples, key=lambda sample: (sample.name, sample.labels))


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("photos"), "folder", plain_samples(20), classes=("ant", "bee", "cat"))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize(("first", "second"), list(combinations(FORMATS, 2)))
def test_there_and_back(first: str, second: str, tmp_path: Path) -> None:
    samples = odd_samples()
    masks = {"masks": True} if first == "folder" else {}
    write(tmp_path / "1", first, samples, **masks)
    pixelmill.convert(tmp_path / "1", tmp_path / "2", to=second, samples_per_shard=11, workers=1)
    pixelmill.convert(tmp_path / "2", tmp_path / "3", to=first, num_shards=2, workers=1)
    assert by_name(open_dataset(tmp_path / "3")) == by_name(samples)


@pytest.mark.parametrize("to", FORMATS)
def test_class_folders_need_no_annotations(photos: Path, to: str, tmp_path: Path) -> None:
    pixelmill.convert(photos, tmp_path / "x", to=to)
    pixelmill.convert(tmp_path / "x", tmp_path / "y", to="folder")
    names = {str(path.relative_to(tmp_path / "y")) for path in (tmp_path / "y").rglob("*") if path.is_file()}
    originals = {str(path.relative_to(photos)) for path in photos.rglob("*.jpg")}
    assert names == {*originals, "classes.txt", "manifest.json"}
    assert all((tmp_path / "y" / name).read_bytes() == (photos / name).read_bytes() for name in originals)


def test_labels_with_gaps_are_kept_by_the_list_of_classes(tmp_path: Path) -> None:
    samples = [
        Sample(f"{i}", encoded("png", seed=i), "png", (label,), f"c{label}") for i, label in enumerate((7, 2, 7))
    ]
    write(tmp_path / "x", "tfrecord", samples)
    pixelmill.convert(tmp_path / "x", tmp_path / "y", to="folder")
    assert (tmp_path / "y" / "classes.txt").read_text() == "\n\nc2\n\n\n\n\nc7\n"
    assert by_name(open_dataset(tmp_path / "y")) == by_name(samples)


@pytest.mark.parametrize("to", ["folder", "tfrecord"])
def test_bytes_do_not_depend_on_workers_or_time(photos: Path, to: str, tmp_path: Path) -> None:
    pixelmill.convert(photos, tmp_path / "1", to=to, samples_per_shard=7, shuffle=True, seed=3, workers=1)
    os.utime(next(photos.rglob("*.jpg")))
    pixelmill.convert(photos, tmp_path / "2", to=to, samples_per_shard=7, shuffle=True, seed=3, workers=2)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_shards_hold_each_sample_once(photos: Path, tmp_path: Path) -> None:
    report = pixelmill.convert(photos, tmp_path / "x", to="tfrecord", samples_per_shard=6)
    assert (report.samples, report.shards, report.errors) == (20, 4, 0)
    parts = sorted((tmp_path / "x").glob("*.tfrecord"))
    assert [len(open_dataset(part)) for part in parts] == [6, 6, 6, 2]
    assert list(open_dataset(tmp_path / "x")) == list(open_dataset(photos))


def test_shards_by_bytes_stay_below_the_limit(photos: Path, tmp_path: Path) -> None:
    pixelmill.convert(photos, tmp_path / "x", to="webdataset", shard_size=4000)
    dataset = open_dataset(photos)
    sizes = [dataset.size(number) for number in range(len(dataset))]
    counts = [len(open_dataset(part)) for part in sorted((tmp_path / "x").glob("*.tar"))]
    assert sum(counts) == 20 and len(counts) > 3
    begins = np.cumsum([0, *counts])
    held = [sum(sizes[a:b]) for a, b in pairwise(begins)]
    assert max(held) <= 4000
    assert all(own + sizes[next_] > 4000 for own, next_ in zip(held[:-1], begins[1:-1], strict=True))


def test_bounds_by_hand() -> None:
    def bounds(sizes: list[int], **rule: int) -> list[tuple[int, int]]:
        rules: dict[str, Any] = {"samples_per_shard": None, "shard_bytes": None, "num_shards": None}
        return shard_bounds(sizes, **{**rules, **rule})

    assert bounds([3, 3, 3, 9, 1], shard_bytes=6) == [(0, 2), (2, 3), (3, 4), (4, 5)]
    assert bounds([1] * 5, num_shards=2) == [(0, 2), (2, 5)]
    assert bounds([1] * 5, samples_per_shard=2) == [(0, 2), (2, 4), (4, 5)]
    with pytest.raises(ArgumentError, match="no sample"):
        bounds([], num_shards=2)


def test_shuffle_and_limit_depend_on_the_seed_alone(photos: Path, tmp_path: Path) -> None:
    def keys(name: str, **options: Any) -> list[str]:
        pixelmill.convert(photos, tmp_path / name, to="recordio", **options)
        return [sample.key for sample in open_dataset(tmp_path / name)]

    plain = keys("plain")
    one, two = keys("one", shuffle=True, seed=1), keys("two", shuffle=True, seed=2)
    assert sorted(one) == sorted(two) == sorted(plain) and len({*map(tuple, (plain, one, two))}) == 3
    assert keys("few", shuffle=True, seed=1, limit=5) == one[:5]


def test_split_covers_all_once_and_ignores_the_order(photos: Path, tmp_path: Path) -> None:
    report = pixelmill.convert(photos, tmp_path / "x", to="tfrecord", split={"train": 0.7, "valid": 0.3}, seed=5)
    assert report.plan == {"train": (14, 1), "valid": (6, 1)}
    train, valid = (list(open_dataset(tmp_path / "x" / name)) for name in ("train", "valid"))
    assert by_name(train + valid) == by_name(open_dataset(photos))
    assert len({sample.class_name for sample in valid}) > 1  # a cut of the sorted folder would give one class
    assert [sample.key for sample in train] == sorted(sample.key for sample in train)
    whole = select(1000, limit=None, shuffle=True, seed=5, split=(("a", 0.5), ("b", 0.25)), part="b")
    assert len(whole) == 250


@pytest.mark.parametrize("text", ["train", "train=x", "train=0", "a=0.6,b=0.6", "a=0.5,a=0.5", "../x=0.5", "=1"])
def test_a_split_that_cannot_be_meant(text: str, photos: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        parse_split(text)
    result = run("convert", photos, tmp_path / "x", "--to", "list", "--split", text)
    assert result.exit_code == 2 and "--split" in result.output


def test_new_encodings(tmp_path: Path) -> None:
    box = Boxes([[0.25, 0, 1, 0.5]], [1])
    mask = npy.encode(np.arange(200 * 100).reshape(200, 100) % 7)
    png = io.BytesIO()
    Image.fromarray((np.arange(200 * 100).reshape(200, 100) % 7).astype(np.uint8)).save(png, "png")
    samples = [
        Sample("a", encoded("png", seed=1, size=(200, 100)), "png", (1,), boxes=box, mask=mask),
        Sample("b", encoded("jpeg", seed=2, size=(50, 40)), "JPEG", (1,)),
        Sample("c", encoded("jpeg", seed=3, size=(200, 100)), "jpg", mask=png.getvalue()),
    ]
    write(tmp_path / "x", "tfrecord", samples)

    def converted(name: str, **options: Any) -> list[Sample]:
        pixelmill.convert(tmp_path / "x", tmp_path / name, to="webdataset", workers=1, **options)
        return list(open_dataset(tmp_path / name))

    small = converted("small", max_side=50)
    assert small[1] == samples[1]  # it fits, so it stays byte for byte
    assert [Image.open(io.BytesIO(sample.image)).size for sample in small] == [(25, 50), (40, 50), (25, 50)]
    assert small[0].boxes == box and small[0].extension == "png"
    assert npy.decode(small[0].mask or b"").shape == (50, 25)
    assert set(np.unique(np.asarray(Image.open(io.BytesIO(small[2].mask or b""))))) <= set(range(7))

    exact = converted("exact", resize=(30, 20), format="jpeg", quality=80)
    assert {Image.open(io.BytesIO(sample.image)).size for sample in exact} == {(20, 30)}
    assert [sample.name for sample in exact] == ["a.jpg", "b.JPEG", "c.jpg"]
    short = converted("short", resize=20)
    assert [Image.open(io.BytesIO(sample.image)).size for sample in short] == [(20, 40), (20, 25), (20, 40)]

    raw = converted("raw", format="npy")
    assert np.array_equal(npy.decode(raw[0].image), np.asarray(Image.open(io.BytesIO(samples[0].image))))
    pixelmill.convert(tmp_path / "raw", tmp_path / "tensors", to="tfrecord", keys="raw")
    assert [sample.image for sample in open_dataset(tmp_path / "tensors")] == [sample.image for sample in raw]


def saved(picture: Image.Image, kind: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, kind, **options)
    return stream.getvalue()


def photograph(mode: str = "RGB") -> Image.Image:
    return Image.fromarray(photo(3, 1, height=230, width=310)).convert(mode)


@pytest.mark.parametrize("target", ["jpeg", "png"])
@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("kind", ["jpeg", "png"])
@pytest.mark.parametrize("orientation", [1, 6])
def test_our_codecs_encode_what_pillow_would(kind: str, mode: str, target: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = saved(photograph(mode), kind, exif=exif)
    wishes: list[dict[str, Any]] = [{"max_side": 100}, {"resize": (64, 48)}, {"quality": 80}, {"resize": (300,)}]
    for options in wishes:
        encoding = Encoding(format=target, **options)
        made, _ = encoding.apply(Sample("a", data, "x"))
        upright = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        size = encoding._size(upright.size)
        expected = upright if size == upright.size else upright.resize(size, Image.Resampling.LANCZOS)
        found = Image.open(io.BytesIO(made.image))
        assert (found.format, found.mode, found.size) == (target.upper(), mode, size)
        assert not found.getexif()
        wanted = np.asarray(Image.open(io.BytesIO(saved(expected, target, quality=options.get("quality", 95)))), float)
        error = np.sqrt(np.mean((np.asarray(found, float) - wanted) ** 2))
        assert error < 2.5, (options, error)


@pytest.mark.parametrize("mode", ["RGBA", "P", "LA", "1", "CMYK"])
def test_what_pillow_reads_in_another_form_is_left_to_it(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_encoding, "encode", None)
    picture = photograph("L").convert(mode) if mode == "LA" else photograph().convert(mode)
    data = saved(picture, "jpeg" if mode == "CMYK" else "png")
    made, _ = Encoding(max_side=10, format="jpeg" if mode == "CMYK" else "png").apply(Sample("a", data, "x"))
    assert max(Image.open(io.BytesIO(made.image)).size) == 10


def test_damaged_files_fail_alone() -> None:
    data = saved(photograph(), "jpeg")
    encoding = Encoding(max_side=50)
    whole = encoding.apply(Sample("a", data, "jpg"))[0].image
    for _ in range(2):
        with pytest.raises(DataError, match="cannot be decoded") as caught:
            encoding.apply(Sample("a", data[: len(data) // 2], "jpg"))
        assert caught.value.events[0].kind == "truncated"
        assert encoding.apply(Sample("a", data, "jpg"))[0].image == whole


@pytest.mark.parametrize("to", ["folder", "list", "npy"])
def test_names_that_differ_in_their_endings_alone(to: str, tmp_path: Path) -> None:
    kinds = (("jpeg", "jpg"), ("png", "png"), ("png", ""))
    samples = [Sample("a", encoded(kind, seed=1), ending) for kind, ending in kinds]
    write(tmp_path / "x", "list", samples)
    pixelmill.convert(tmp_path / "x", tmp_path / "same", to=to)
    assert by_name(open_dataset(tmp_path / "same")) == by_name(samples)
    pixelmill.convert(tmp_path / "x", tmp_path / "new", to=to, format="jpeg")
    assert [(sample.key, sample.extension) for sample in open_dataset(tmp_path / "new")] == [("a", "jpg")] * 3


def test_bad_samples_by_policy(tmp_path: Path) -> None:
    path = write(tmp_path / "x", "tfrecord", plain_samples(6)) / "data.tfrecord"
    data = bytearray(path.read_bytes())
    offset, length = (int(number) for number in (tmp_path / "x/data.idx").read_text().splitlines()[2].split())
    data[offset + length - 30] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="checksum") as caught:
        pixelmill.convert(path, tmp_path / "fail", to="list")
    assert caught.value.events[0].offset == offset and caught.value.events[0].path == str(path)
    result = run("convert", path, tmp_path / "skip", "--to", "folder", "--on-error", "skip")
    assert result.exit_code == 3, result.output
    assert [sample.key for sample in open_dataset(tmp_path / "skip")] == [
        "ant/0000", "ant/0003", "bee/0001", "bee/0004", "cat/0005",
    ]  # fmt: skip
    assert open_dataset(tmp_path / "skip").sample(4).labels == (2,)
    (event,) = json.loads((tmp_path / "skip/manifest.json").read_text())["entries"][0]["errors"]
    assert (event["kind"], event["sample"], event["offset"]) == ("checksum", 2, offset)
    pixelmill.convert(path, tmp_path / "aside", to="npy", on_error="quarantine")
    (kept,) = (tmp_path / "aside.quarantine").iterdir()
    assert kept.read_bytes() == bytes(data[offset : offset + length])


def test_output_that_exists(photos: Path, tmp_path: Path) -> None:
    arguments = ("convert", photos, tmp_path / "x", "--to", "recordio")
    assert run(*arguments).exit_code == 0
    before = contents(tmp_path / "x")
    refused = run(*arguments)
    assert refused.exit_code == 5 and "--exists overwrite" in refused.output
    with pytest.raises(OutputExists, match="exists=overwrite"):
        pixelmill.convert(photos, tmp_path / "x", to="recordio", limit=3)
    (tmp_path / "x/data.rec").unlink()
    assert run(*arguments, "--exists", "resume").exit_code == 0
    assert contents(tmp_path / "x") == before
    assert run(*arguments, "--limit", "3", "--exists", "overwrite").exit_code == 0
    assert len(open_dataset(tmp_path / "x")) == 3


def test_dry_run_writes_nothing(photos: Path, tmp_path: Path) -> None:
    split = "--split=train=0.5,valid=0.5"
    result = run("convert", photos, tmp_path / "x", "--to", "tfrecord", "--dry-run", "--json", split)
    figures = json.loads(result.output)
    assert result.exit_code == 0 and not (tmp_path / "x").exists()
    assert figures["plan"] == {"train": [10, 1], "valid": [10, 1]} and figures["dry_run"] and figures["samples"] == 20


def test_the_command_names_wrong_values(photos: Path, tmp_path: Path) -> None:
    def output(*options: str) -> str:
        result = run("convert", photos, tmp_path / "x", "--to", "tfrecord", *options)
        assert result.exit_code == 2, result.output
        return result.output

    assert "256MB" in output("--shard-size", "many")
    assert "224x256" in output("--resize", "big")
    assert "tfrecord" in run("convert", photos, tmp_path / "x", "--to", "no-such").output
    both = run("convert", photos, tmp_path / "x", "--to", "list", "--num-shards", "2", "--shard-size", "1MB")
    assert both.exit_code == 1 and "exclude each other" in both.output
    missing = run("convert", tmp_path / "nowhere", tmp_path / "x", "--to", "list")
    assert missing.exit_code == 1 and "nowhere" in missing.output


def test_parts_in_two_processes_give_the_same(photos: Path, tmp_path: Path) -> None:
    pixelmill.convert(photos, tmp_path / "whole", to="tfrecord", samples_per_shard=5)
    for part in (0, 1):
        pixelmill.convert(photos, tmp_path / "parts", to="tfrecord", samples_per_shard=5, part=(part, 2))
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_a_round_through_all_containers(tmp_path: Path) -> None:
    command = [sys.executable, str(SUPPORT / "slow_round_trip.py"), "--samples", "60"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("60 samples equal") == len(FORMATS) + 1
