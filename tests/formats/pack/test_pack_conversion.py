"""Converting to packs and back: the same bytes whatever happens on the way, and what the report says."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_runner import CliRunner
from dataset_cases import encoded, odd_samples, plain_samples, write
from job_faults import in_child, wrap_calls
from PIL import Image
from small_jobs import tree

import pixelmill
from pixelmill import Pipeline, _core, fn
from pixelmill.cli import main
from pixelmill.create import photo
from pixelmill.errors import OutputExists
from pixelmill.formats.registry import FORMATS, open_dataset
from pixelmill.formats.sample import Sample


def jpeg(seed: int, **options: Any) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(photo(seed, 0, height=40 + seed, width=50 + 3 * seed)).save(stream, "jpeg", **options)
    return stream.getvalue()


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of JPEG files of several kinds, a progressive one, a PNG file and a file that is no image."""
    root = tmp_path_factory.mktemp("photos") / "photos"
    files = {f"a/{seed}.jpg": jpeg(seed, quality=60 + 3 * seed, subsampling=seed % 3) for seed in range(10)}
    files |= {f"b/{seed}.JPG": jpeg(seed, quality=90) for seed in range(10, 14)}
    files |= {"b/progressive.jpg": jpeg(20, progressive=True), "b/x.png": encoded("png", seed=1)}
    files |= {"b/cut.jpg": jpeg(21)[:-200], "b/no.jpg": b"<html>"}
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def files_of(folder: Path) -> dict[str, bytes]:
    kinds = (".jpg", ".png")
    paths = [path for path in folder.rglob("*") if path.suffix.lower() in kinds]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_original_files_come_back(photos: Path, tmp_path: Path) -> None:
    report = pixelmill.convert(photos, tmp_path / "pack", to="pack", workers=1)
    pixelmill.convert(tmp_path / "pack", tmp_path / "back", to="folder", workers=1)
    assert files_of(tmp_path / "back") == files_of(photos)
    assert report.pack is not None and report.pack.packed == 14
    assert sum(report.pack.kept.values()) == 4 and report.pack.kept["png image"] == 1
    assert report.pack.kept["unknown type"] == 1
    assert report.pack.bytes_before == sum(map(len, files_of(photos).values()))
    images = open_dataset(tmp_path / "pack").byte_ranges("image")
    assert images is not None and report.pack.bytes_after == images.lengths.sum()


@pytest.mark.parametrize("middle", sorted(set(FORMATS) - {"pack"}))
def test_packs_through_other_containers_are_the_same(middle: str, tmp_path: Path) -> None:
    """What a pack holds goes through a container and comes back, as a pack with the same bytes."""
    samples = [sample for sample in odd_samples() if middle not in ("folder", "list") or sample.mask is None]
    first = write(tmp_path / "1", "pack", samples)
    pixelmill.convert(first, tmp_path / "2", to=middle, workers=1)
    pixelmill.convert(tmp_path / "2", tmp_path / "3", to="pack", workers=1, codebook="default")
    found = {(sample.key, sample.extension, sample.labels): sample for sample in open_dataset(tmp_path / "3")}
    assert found == {(sample.key, sample.extension, sample.labels): sample for sample in samples}


def test_workers_and_resumed_runs_write_the_same_bytes(photos: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"to": "pack", "samples_per_shard": 4, "shuffle": True, "seed": 3}
    pixelmill.convert(photos, tmp_path / "1", workers=1, **given)
    pixelmill.convert(photos, tmp_path / "2", workers=2, **given)
    for part in ((1, 2), (0, 2)):
        pixelmill.convert(photos, tmp_path / "3", workers=1, part=part, exists="resume", **given)
    assert tree(tmp_path / "1") == tree(tmp_path / "2") == tree(tmp_path / "3")


def killed(photos: Path, output: Path, place: int, *, after: bool) -> None:
    def at(number: int, name: str, call: Callable[[], Any]) -> Any:
        if number == place and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            return call()
        finally:
            if number == place:
                os.kill(os.getpid(), signal.SIGKILL)

    wrap_calls(at)
    conversion(photos, output)


def conversion(photos: Path, output: Path, **options: Any) -> object:
    return pixelmill.convert(photos, output, to="pack", samples_per_shard=7, workers=1, **options)


def test_kills_at_every_write_resume_to_the_same_bytes(photos: Path, tmp_path: Path) -> None:
    photos = photos / "a"

    def count() -> None:
        names: list[str] = []
        wrap_calls(lambda _, name, call: (names.append(name), call())[1])
        conversion(photos, tmp_path / "expected")
        (tmp_path / "calls").write_text(" ".join(names), "ascii")

    assert in_child(count) == 0
    calls = (tmp_path / "calls").read_text("ascii").split()
    expected = tree(tmp_path / "expected")
    assert len(calls) > 20
    kills = 0
    for place in range(len(calls)):
        output = tmp_path / "x"
        ended = in_child(lambda p=place, o=output: killed(photos, o, p, after=p % 2 == 1))  # type: ignore[misc]
        assert ended in (0, -signal.SIGKILL)  # 0: a busy machine renews the lock more often in one run than in another
        kills += ended != 0
        assert in_child(lambda o=output: conversion(photos, o, exists="resume")) == 0  # type: ignore[misc]
        assert tree(output) == expected, (place, calls[place])
        shutil.rmtree(output)
    assert kills > 20


def test_the_plan_has_the_codebook(photos: Path, tmp_path: Path) -> None:
    conversion(photos, tmp_path / "x")
    conversion(photos, tmp_path / "y", codebook="default")
    trained, default = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in "xy")
    assert trained["versions"]["codebook"] != default["versions"]["codebook"]
    with pytest.raises(OutputExists, match="codebook"):
        conversion(photos, tmp_path / "x", codebook="default", exists="resume")
    other = pixelmill.convert(photos, tmp_path / "z", to="pack", samples_per_shard=7, seed=1, workers=1)
    assert other.pack is not None
    assert json.loads((tmp_path / "z/manifest.json").read_text())["versions"] != trained["versions"]
    again = conversion(photos, tmp_path / "x", exists="resume")
    assert isinstance(again, pixelmill.conversion.ConvertReport) and again.pack is not None and again.pack.packed == 14


def test_the_command_reports_what_was_packed(photos: Path, tmp_path: Path) -> None:
    def run(*arguments: object) -> str:
        done = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert done.exit_code == 0, done.output
        return done.output

    text = run("convert", photos, tmp_path / "x", "--to", "pack")
    assert "14 of 18 images packed: " in text and "1 png image" in text and "1 unknown type" in text
    found = json.loads(run("convert", photos, tmp_path / "y", "--to", "pack", "--codebook", "default", "--json"))
    assert found["pack"]["packed"] == 14 and found["to"] == "pack" and found["bytes"] > found["pack"]["bytes_after"]
    assert "pack, 14 of 18 images packed" in run("info", tmp_path / "x")
    dry = json.loads(run("convert", photos, tmp_path / "z", "--to", "pack", "--dry-run", "--json"))
    assert dry["pack"] is None and not (tmp_path / "z").exists()


def test_a_missing_file_and_a_missing_sample_are_found(photos: Path, tmp_path: Path) -> None:
    clean = tmp_path / "photos"
    shutil.copytree(photos / "a", clean / "a")
    conversion(clean, tmp_path / "x")
    assert pixelmill.verify(tmp_path / "x").is_whole
    first = sorted((tmp_path / "x").glob("*.pack"))[0]
    whole = first.read_bytes()
    first.unlink()
    assert {problem.kind for problem in pixelmill.verify(tmp_path / "x").problems} >= {"missing"}
    few = write(tmp_path / "few", "pack", list(open_dataset(sorted((tmp_path / "x").glob("*.pack"))[0])))
    shutil.copy(few / "data.pack", first)
    problems = pixelmill.verify(tmp_path / "x").problems
    assert any("the manifest counts" in problem.message for problem in problems)
    first.write_bytes(whole)
    assert pixelmill.verify(tmp_path / "x").is_whole


def test_augment_reads_and_writes_packs(tmp_path: Path) -> None:
    samples = [Sample(f"{seed}", jpeg(seed), "jpg", (seed,)) for seed in range(4)]
    given: dict[str, Any] = {"variants": 2, "seed": 1, "workers": 1}
    write(tmp_path / "pack", "pack", samples)
    write(tmp_path / "records", "tfrecord", samples)
    report = pixelmill.augment(str(tmp_path / "pack"), output=tmp_path / "x", **given)
    pixelmill.augment(str(tmp_path / "records"), output=tmp_path / "y", **given)
    found, expected = open_dataset(tmp_path / "x"), open_dataset(tmp_path / "y")
    assert (found.format, len(found)) == ("pack", 8) and report.counts["packed"] == 8
    assert [(sample.image, sample.labels) for sample in found] == [(s.image, s.labels) for s in expected]


# Training


def batches(path: Path, *, dataset: bool = True, **options: Any) -> list[Any]:
    pipe = Pipeline(6, 2, 0, seed=4)
    with pipe:
        read = fn.readers.dataset(path=path, **options) if dataset else fn.readers.pack(path=path, **options)
        whole = fn.decoders.image(read["image"])
        window = fn.decoders.image_random_crop(read["image"], seed=5)
        shape = fn.peek_image_shape(read["image"])
        pipe.set_outputs(whole, fn.resize(window, size=(16, 16)), shape, read["label"])
    return [[np.asarray(batch.at(place)) for place in range(6)] for _ in range(2) for batch in pipe.run()]


def test_programs_need_another_path_only(tmp_path: Path) -> None:
    samples = [Sample(f"{seed}", jpeg(seed, subsampling=seed % 3), "jpg", (seed,)) for seed in range(10)]
    samples += [
        Sample("png", encoded("png", seed=1), "png", (10,)),
        Sample("p", jpeg(11, progressive=True), "jpg", (11,)),
    ]
    records, packs = write(tmp_path / "r", "webdataset", samples), write(tmp_path / "p", "pack", samples)
    expected = batches(records)
    for found in (batches(packs), batches(packs, dataset=False)):
        for one, two in zip(found, expected, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_plain_samples_train_in_random_order_and_shards(tmp_path: Path) -> None:
    path = write(tmp_path / "p", "pack", plain_samples(7))
    labels = []
    for shard in range(2):
        pipe = Pipeline(4, 1, 0, seed=1)
        with pipe:
            read = fn.readers.pack(path=path, random_shuffle=True, num_shards=2, shard_id=shard, columns=["label"])
            pipe.set_outputs(read["label"])
        (batch,) = pipe.run()
        count = pipe.reader_meta()[next(iter(pipe.reader_meta()))]["epoch_size"]
        labels += [int(np.asarray(batch.at(place))[0]) for place in range(4 if shard else 3)]
    assert count == 7 and sorted(labels) == sorted(sample.labels[0] for sample in plain_samples(7))


def test_windows_read_a_part_of_the_file(tmp_path: Path) -> None:
    """The reader counts its bytes: small windows of packed images need fewer than the images have."""
    stream = io.BytesIO()
    Image.fromarray(photo(1, 0, height=600, width=800)).save(stream, "jpeg", quality=92)
    path = write(tmp_path / "p", "pack", [Sample(f"{number}", stream.getvalue(), "jpg", (0,)) for number in range(4)])
    images = open_dataset(path).byte_ranges("image")
    assert images is not None

    def read(*, rows: int) -> int:
        pipe = Pipeline(4, 1, 0, prefetch_queue_depth=1, exec_async=False, exec_pipelined=False)
        with pipe:
            encoded = fn.readers.pack(path=path)["image"]
            pipe.set_outputs(fn.decoders.image_crop(encoded, crop=(rows, 800)) if rows else encoded)
        before = _core.bytes_read()
        pipe.run()
        return _core.bytes_read() - before

    whole = read(rows=0)
    assert whole == images.lengths.sum()
    assert read(rows=64) < 0.4 * whole
