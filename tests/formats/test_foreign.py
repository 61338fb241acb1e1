"""Nothing is dropped silently: what is not read is refused by its name, or named in one line with a way in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_runner import CliRunner
from dataset_cases import encoded, plain_samples, write

import pixelmill
from pixelmill.cli import main
from pixelmill.errors import DataError, MissingDependency
from pixelmill.formats.registry import open_dataset

FILES = {
    "x.h5": (b"\x89HDF\r\n\x1a\n" + bytes(64), "an HDF5 file"),
    "x.mat": (b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(64), "a MATLAB file"),
    "x.pkl": (b"\x80\x04\x95" + bytes(64), "a pickle"),
    "x.sqlite": (b"SQLite format 3\0" + bytes(64), "an SQLite database"),
    "x.7z": (b"7z\xbc\xaf\x27\x1c" + bytes(64), "a 7z archive"),
    "x.rar": (b"Rar!\x1a\x07\0" + bytes(64), "a RAR archive"),
    "x.json": (b'{"version": "5", "shapes": [], "imagePath": "a.jpg"}', "labelme annotations"),
    "y.json": (b'[{"id": 1, "annotations": [], "data": {"image": "a.jpg"}}]', "a Label Studio export"),
    "via.json": (b'{"_via_settings": {}, "_via_img_metadata": {}}', "VGG Image Annotator"),
    "x.xml": (b"<?xml version='1.0'?>\n<annotations>\n<version>1.1</version></annotations>", "CVAT annotations"),
    "x.csv": (b"ImageID,Source,LabelName,Confidence,XMin\n", "an Open Images table"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_other_kinds_are_refused_by_name(name: str, tmp_path: Path) -> None:
    content, title = FILES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name} is .*{title}.*, which is not read; "):
        open_dataset(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        (".zgroup", "{}", "a Zarr store"),
        ("saved_model.pb", "", "a TensorFlow model or checkpoint"),
        ("index.json", '{"shards": [{"format": "mds"}]}', "an MDS dataset"),
        ("index.json", '{"chunks": [], "config": {"data_format": ["jpeg"]}}', "a LitData dataset"),
    ],
)
def test_folders_of_other_kinds_are_refused_by_name(name: str, content: str, title: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=f"is {title}.*, which is not read; "):
        open_dataset(tmp_path)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "x", "parquet", plain_samples(2))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"data.parquet is a Parquet or Arrow file.*pixelmill\[parquet\]"):
        open_dataset(tmp_path / "x")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Make class folders with annotations that a folder does not read, and files that it leaves out."""
    root = tmp_path / "photos"
    for split in ("train", "val"):
        for name in ("cat", "dog"):
            (root / split / name).mkdir(parents=True)
            (root / split / name / "1.jpg").write_bytes(encoded("jpeg", seed=1))
    (root / "train/cat/1.json").write_bytes(FILES["x.json"][0])
    (root / "train/cat/2.rar").write_bytes(FILES["x.rar"][0])
    (root / "train/cat/3.rar").write_bytes(FILES["x.rar"][0])
    (root / "notes.md").write_text("x")
    (root / "README").write_text("x")
    return root


LINES = (
    "train, val are splits, not classes",
    "1 file without an ending is not read, such as README",
    "1 .json file is not read, such as train/cat/1.json: labelme annotations; export COCO, YOLO or Pascal VOC instead, "
    "which are read",
    "1 .md file is not read, such as notes.md",
    "2 .rar files are not read, such as train/cat/2.rar: a RAR archive; unpack it and name the folder",
)


def test_splits_are_no_classes(photos: Path) -> None:
    dataset = open_dataset(photos)
    assert dataset.classes == ("cat", "dog") and dataset.remarks == LINES
    assert [(s.key, s.split, s.labels) for s in dataset] == [
        ("cat/1", "train", (0,)), ("dog/1", "train", (1,)), ("cat/1", "val", (0,)), ("dog/1", "val", (1,)),
    ]  # fmt: skip
    assert [sample.key for sample in open_dataset(photos, split="validation")] == ["cat/1", "dog/1"]
    (photos / "classes.txt").write_text("train\nval\n")  # these are classes, it says
    assert open_dataset(photos).classes == ("train", "val")


@pytest.mark.parametrize("command", ["info", "verify", "convert"])
def test_every_command_says_what_is_not_read(command: str, photos: Path, tmp_path: Path) -> None:
    more = (str(tmp_path / "out"), "--to", "folder") if command == "convert" else ()
    text = CliRunner().invoke(main, [command, str(photos), *more]).output
    assert all(f"note{':' if command != 'info' else ''} {line}" in text for line in LINES), text
    more = (str(tmp_path / "again"), "--to", "tfrecord") if command == "convert" else ()
    found = CliRunner().invoke(main, [command, str(photos), *more, "--json"])
    assert json.loads(found.stdout)["remarks"] == list(LINES)


def test_splits_are_folders_again_after_a_conversion(photos: Path, tmp_path: Path) -> None:
    pixelmill.convert(photos, tmp_path / "records", to="tfrecord")
    pixelmill.convert(tmp_path / "records", tmp_path / "out", to="folder")
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.jpg")}
    assert names == {f"{split}/{name}/1.jpg" for split in ("train", "val") for name in ("cat", "dog")}
    again = open_dataset(tmp_path / "out")
    assert list(again) == list(open_dataset(photos)) and not (tmp_path / "out/annotations.jsonl").exists()


def test_images_and_masks_of_splits(tmp_path: Path) -> None:
    for split in ("train", "val"):
        for kind in ("images", "masks"):
            (tmp_path / split / kind).mkdir(parents=True)
            (tmp_path / split / kind / "1.png").write_bytes(encoded("png", seed=len(kind + split)))
    first, second = open_dataset(tmp_path)
    assert (first.key, first.split, first.class_name, second.split) == ("1", "train", None, "val")
    assert first.mask == (tmp_path / "train/masks/1.png").read_bytes() and first.mask != second.mask
