"""Images whose last rows are missing, though they end with the right marker, are bad samples in every job."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_runner import CliRunner
from dataset_cases import write
from PIL import Image

import pixelmill
from pixelmill import augmentation
from pixelmill import ingest as ingestion
from pixelmill.cli import main
from pixelmill.errors import DataError
from pixelmill.formats.sample import Sample
from pixelmill.jobs import JobReport
from pixelmill.segmentation import prepare_segmentation


def jpeg(seed: int, *, mode: str = "RGB", **options: Any) -> bytes:
    stream = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 256, (96, 80, 3), np.uint8)
    Image.fromarray(pixels).convert(mode).save(stream, "jpeg", quality=90, **options)
    return stream.getvalue()


def cut(data: bytes) -> bytes:
    return data[: len(data) // 4] + b"\xff\xd9"


GOOD, CUT = jpeg(1), cut(jpeg(2))
WARNED = jpeg(3, progressive=True)[:-2] + b"\0\0\0\0more\xff\xd9"


def convert(tmp_path: Path, image: bytes, **options: Any) -> Any:
    source = write(tmp_path / "x", "tfrecord", [Sample("a", GOOD, "jpg", (0,)), Sample("b", image, "jpg", (1,))])
    return pixelmill.convert(source, tmp_path / "out", to="tfrecord", workers=1, **options)


def augment(tmp_path: Path, image: bytes, **options: Any) -> JobReport:
    source = write(tmp_path / "x", "tfrecord", [Sample("a", GOOD, "jpg", (0,)), Sample("b", image, "jpg", (1,))])
    return augmentation.augment(source, tmp_path / "out", recipe="segmentation", workers=1, **options)


def ingest(tmp_path: Path, image: bytes, **options: Any) -> JobReport:
    for name, data in (("a", GOOD), ("b", image)):
        (tmp_path / "x" / name).mkdir(parents=True)
        (tmp_path / "x" / name / "1.jpg").write_bytes(data)
    return ingestion.ingest(
        input_dir=tmp_path / "x",
        output_dir=tmp_path / "out",
        name="t",
        img_size=16,
        num_shards=1,
        num_workers=1,
        yes=True,
        **options,
    )


def segmentation(tmp_path: Path, image: bytes, **options: Any) -> JobReport:
    mask = io.BytesIO()
    Image.fromarray(np.zeros((96, 80), np.uint8)).save(mask, "png")
    for name, data in (("a", GOOD), ("b", image)):
        for folder, content, ending in (("Images", data, "jpg"), ("Masks", mask.getvalue(), "png")):
            (tmp_path / "x" / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / "x" / folder / f"{name}.{ending}").write_bytes(content)
    return prepare_segmentation(tmp_path / "x", tmp_path / "out", workers=1, **options)


def resized(tmp_path: Path, image: bytes, **options: Any) -> Any:
    return convert(tmp_path, image, resize=32, **options)


def limited(tmp_path: Path, image: bytes, **options: Any) -> Any:
    """Nothing is larger than this, so images are checked and copied."""
    return convert(tmp_path, image, max_side=500, **options)


JOBS = [resized, limited, augment, ingest, segmentation]


def errors(tmp_path: Path) -> list[dict[str, Any]]:
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    return [event for entry in manifest["entries"] for event in entry["errors"]]


@pytest.mark.parametrize("job", JOBS)
def test_missing_rows_are_an_error_of_the_sample(tmp_path: Path, job: Callable[..., Any]) -> None:
    report = job(tmp_path, CUT, on_error="skip")
    assert (report.samples, report.errors) == (1, 1)
    (event,) = errors(tmp_path)
    assert event["kind"] == "missing_pixels" and "pixels are missing from row" in event["message"]


@pytest.mark.parametrize("job", JOBS)
def test_missing_rows_stop_a_job_by_default(tmp_path: Path, job: Callable[..., Any]) -> None:
    with pytest.raises(DataError, match="pixels are missing from row"):
        job(tmp_path, CUT)


@pytest.mark.parametrize("job", JOBS)
def test_other_warnings_are_counted_and_strict_refuses_them(tmp_path: Path, job: Callable[..., Any]) -> None:
    report = job(tmp_path / "one", WARNED)
    assert (report.samples, report.errors, report.notes) == (2, 0, {"decoder_warning": 1})
    assert json.loads((tmp_path / "one/out/manifest.json").read_text())["notes"] == {"decoder_warning": 1}
    report = job(tmp_path / "two", WARNED, on_error="skip", strict=True)
    assert (report.samples, report.errors, report.notes) == (1, 1, {})
    assert errors(tmp_path / "two")[0]["kind"] == "decoder_warning"


def test_copies_are_decoded_if_the_job_is_strict(tmp_path: Path) -> None:
    """Without it images are copied unseen, byte for byte."""
    report = convert(tmp_path / "one", CUT)
    assert (report.samples, report.errors) == (2, 0)
    report = convert(tmp_path / "two", CUT, on_error="skip", strict=True)
    assert (report.samples, report.errors) == (1, 1)
    assert errors(tmp_path / "two")[0]["kind"] == "missing_pixels"
    report = convert(tmp_path / "three", CUT[:-2], on_error="quarantine", strict=True)
    assert [event["kind"] for event in errors(tmp_path / "three")] == ["truncated"]


def test_pillow_keeps_no_damage_from_us(tmp_path: Path) -> None:
    """Images of other modes are encoded by Pillow, which drops the warnings of libjpeg."""
    report = convert(tmp_path, cut(jpeg(2, mode="CMYK")), resize=32, on_error="skip")
    assert (report.samples, report.errors) == (1, 1)


def test_a_strict_job_is_another_job(tmp_path: Path) -> None:
    convert(tmp_path, GOOD)
    arguments = ["convert", tmp_path / "x", tmp_path / "out", "--to", "tfrecord", "--exists", "resume"]
    assert CliRunner().invoke(main, list(map(str, arguments))).exit_code == 0
    result = CliRunner().invoke(main, [*map(str, arguments), "--strict"])
    assert result.exit_code == 5 and "strict" in result.output


def test_commands_tell_of_notes(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", [Sample("a", WARNED, "jpg", (0,))])
    arguments = ["convert", source, tmp_path / "out", "--to", "tfrecord", "--resize", "16"]
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0 and "images with notes: decoder_warning 1" in result.output
