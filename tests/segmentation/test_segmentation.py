"""segmentation: npy files and lists from images and masks, against Pillow and NumPy."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from command_runner import CliRunner
from PIL import Image
from small_jobs import tree

from pixelmill import fn, pipeline_def
from pixelmill.cli import main
from pixelmill.errors import ArgumentError, DataError
from pixelmill.graph.nodes import DataNode
from pixelmill.segmentation import make_csv_file_npy, png2numpy, prepare_segmentation

GROUPS = ("1", "2", "3", "4")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Four groups of three pairs; images of several formats, masks of 0 and 255."""
    draw = np.random.default_rng(0)
    for group in GROUPS:
        for number, suffix in enumerate((".png", ".bmp", ".tif")):
            pixels = draw.integers(0, 256, (10 + number, 14, 3), np.uint8)
            write(tmp_path / "data" / "Images" / group / f"p{number}{suffix}", pixels)
            mask = (draw.random((10 + number, 14)) < 0.5).astype(np.uint8) * 255
            write(tmp_path / "data" / "Masks" / group / f"p{number}.png", mask)
    return tmp_path / "data"


def write(path: Path, pixels: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("normalize", ["none", "unit", "imagenet"])
def test_arrays_are_those_of_pillow(root: Path, tmp_path: Path, normalize: str) -> None:
    output = tmp_path / "out"
    flags = ["--workers=1", f"--normalize={normalize}"]
    result = CliRunner().invoke(main, ["segmentation", str(root), "--output", str(output), *flags])
    assert result.exit_code == 0, result.output
    for group in GROUPS:
        for number, suffix in enumerate((".png", ".bmp", ".tif")):
            image = np.load(output / "Images" / group / f"p{number}.npy", allow_pickle=False)
            mask = np.load(output / "Masks" / group / f"p{number}.npy", allow_pickle=False)
            expected = np.asarray(Image.open(root / "Images" / group / f"p{number}{suffix}"))
            expected_mask = np.asarray(Image.open(root / "Masks" / group / f"p{number}.png"))[:, :, None]
            if normalize != "none":
                expected, expected_mask = expected.astype(np.float32) / 255, (expected_mask > 0).astype(np.float32)
            if normalize == "imagenet":
                mean, std = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
                expected = (expected - mean) / std
            assert (image.dtype, mask.dtype) == (expected.dtype, expected_mask.dtype)
            assert np.array_equal(image, expected)
            assert np.array_equal(mask, expected_mask)


def test_lists_name_every_pair_once_and_split_by_group(root: Path, tmp_path: Path) -> None:
    report = prepare_segmentation(root, tmp_path / "out", valid=0.25, workers=1)
    train, valid = (rows(tmp_path / "out" / "csv_file" / f"{name}.csv") for name in ("train", "valid"))
    assert (report.samples, len(train), len(valid)) == (12, 9, 3)
    groups = [{row["images"].split("/")[1] for row in part} for part in (train, valid)]
    assert groups[0] | groups[1] == set(GROUPS)
    assert not groups[0] & groups[1]
    for part in (train, valid):
        assert [row["index"] for row in part] == [str(number) for number in range(len(part))]
        for row in part:
            assert row["masks"] == row["images"].replace("Images/", "Masks/")
            assert (tmp_path / "out" / row["images"]).exists()
    seeds = set()
    for seed in range(8):
        prepare_segmentation(root, tmp_path / f"seed{seed}", valid=0.25, seed=seed, workers=1)
        seeds.add(rows(tmp_path / f"seed{seed}" / "csv_file" / "valid.csv")[0]["images"])
    assert len(seeds) > 1


def test_workers_and_resume_do_not_matter(root: Path, tmp_path: Path) -> None:
    prepare_segmentation(root, tmp_path / "one", workers=1)
    png2numpy(root, tmp_path / "two", workers=2)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_train_and_valid_folders_are_kept(root: Path, tmp_path: Path) -> None:
    for folder in ("Images", "Masks"):
        for number, group in enumerate(GROUPS):
            target = root / folder / ("valid" if number == 2 else "train")
            target.mkdir(exist_ok=True)
            (root / folder / group).rename(target / group)
    prepare_segmentation(root, tmp_path / "out", workers=1)
    valid = rows(tmp_path / "out" / "csv_file" / "valid.csv")
    assert {row["images"].rsplit("/", 1)[0] for row in valid} == {"Images/valid/3"}
    assert len(rows(tmp_path / "out" / "csv_file" / "train.csv")) == 9


def test_bad_pairs_are_named(root: Path, tmp_path: Path) -> None:
    write(root / "Masks" / "1" / "p0.png", np.zeros((9, 14), np.uint8))
    write(root / "Masks" / "2" / "p1.png", np.arange(11 * 14, dtype=np.uint8).reshape(11, 14))
    (root / "Images" / "3" / "p0.png").write_bytes(b"no picture")
    with pytest.raises(DataError, match=r"the image has 10x14 pixels, the mask 9x14.*Masks/1/p0\.png"):
        prepare_segmentation(root, tmp_path / "a", workers=1)
    result = CliRunner().invoke(
        main, ["segmentation", str(root), "--output", str(tmp_path / "b"), "--on-error=skip", "--workers=1"]
    )
    assert result.exit_code == 3, result.output
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text())
    events = {event["path"]: event["kind"] for entry in manifest["entries"] for event in entry["errors"]}
    assert events == {
        "Masks/1/p0.png": "size_mismatch",
        "Masks/2/p1.png": "not_binary",
        "Images/3/p0.png": "not_an_image",
    }
    listed = [row for name in ("train", "valid") for row in rows(tmp_path / "b" / "csv_file" / f"{name}.csv")]
    assert len(listed) == 9


def test_a_mask_that_cannot_be_decoded_is_named_as_a_mask(root: Path, tmp_path: Path) -> None:
    (root / "Masks" / "3" / "p0.png").write_bytes(b"no image")
    with pytest.raises(DataError, match=r"(?s)the mask cannot be used: .*Masks/3/p0\.png"):
        prepare_segmentation(root, tmp_path / "out", workers=1)


def test_folders_of_a_split_with_images_and_masks_are_found(tmp_path: Path) -> None:
    for split, count in (("train", 3), ("valid", 2)):
        for number in range(count):
            write(tmp_path / "in" / split / "images" / f"p{number}.png", np.full((6, 8, 3), number, np.uint8))
            write(tmp_path / "in" / split / "masks" / f"p{number}.png", np.zeros((6, 8), np.uint8))
    report = prepare_segmentation(tmp_path / "in", tmp_path / "out", workers=1)
    assert report.samples == 5
    lists = [rows(tmp_path / "out" / "csv_file" / f"{split}.csv") for split in ("train", "valid")]
    assert [len(found) for found in lists] == [3, 2]
    assert lists[1][0]["images"] == "Images/valid/p0.npy" and lists[1][0]["masks"] == "Masks/valid/p0.npy"
    assert np.load(tmp_path / "out" / "Masks" / "valid" / "p1.npy").shape == (6, 8, 1)
    (tmp_path / "in" / "train" / "masks" / "p0.png").unlink()
    with pytest.raises(DataError, match=r"train/images/p0\.png has no partner"):
        prepare_segmentation(tmp_path / "in", tmp_path / "other")


def test_the_arrays_feed_a_segmentation_pipeline(root: Path, tmp_path: Path) -> None:
    """Image and mask go through the same operators, which need a channel axis."""
    prepare_segmentation(root, tmp_path / "out", workers=1)
    names = [row["masks"] for row in rows(tmp_path / "out" / "csv_file" / "train.csv")]

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def train() -> tuple[DataNode, DataNode]:
        read = [
            fn.readers.numpy(file_root=str(tmp_path / "out"), files=files, name=what)
            for what, files in (("images", [n.replace("Masks", "Images") for n in names]), ("masks", names))
        ]
        images, masks = (fn.resize(fn.reshape(data, layout="HWC"), size=(8, 8)) for data in read)
        return fn.flip(images), fn.flip(masks)

    images, masks = train().run()
    assert images.at(0).shape == (8, 8, 3) and masks.at(0).shape == (8, 8, 1)


def test_files_without_a_partner_are_named(root: Path, tmp_path: Path) -> None:
    (root / "Masks" / "4" / "p2.png").unlink()
    with pytest.raises(DataError, match=r"Images/4/p2\.tif has no partner") as caught:
        prepare_segmentation(root, tmp_path / "out")
    assert [event.path for event in caught.value.events] == ["Images/4/p2.tif"]
    report = prepare_segmentation(root, tmp_path / "out", on_error="skip", workers=1)
    assert (report.samples, report.errors) == (11, 1)
    write(root / "Images" / "1" / "p0.jpg", np.zeros((10, 14, 3), np.uint8))
    with pytest.raises(DataError, match="have the same name"):
        prepare_segmentation(root, tmp_path / "other", on_error="skip")
    with pytest.raises(ArgumentError, match="has no folder Images"):
        prepare_segmentation(tmp_path, tmp_path / "other")


def test_lists_of_npy_files_alone(root: Path, tmp_path: Path) -> None:
    prepare_segmentation(root, tmp_path / "out", workers=1, seed=5)
    before = {name: value for name, value in tree(tmp_path / "out").items() if name.startswith("csv_file/")}
    for path in (tmp_path / "out" / "csv_file").iterdir():
        path.unlink()
    train, valid = make_csv_file_npy(tmp_path / "out", seed=5)
    assert (train.name, valid.name) == ("train.csv", "valid.csv")
    assert {name: value for name, value in tree(tmp_path / "out").items() if name.startswith("csv_file/")} == before
