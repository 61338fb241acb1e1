"""Annotations from strangers: bombs, paths that lead out, numbers that cannot be. One error, and the rest is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dataset_cases import encoded

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.voc.xml_file import read_xml

BOMB = """<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;">]>
<annotation><filename>&y;</filename></annotation>"""
OUTSIDE = """<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<annotation><filename>&x;</filename></annotation>"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "DOCTYPE or entities"),
        (OUTSIDE, "DOCTYPE or entities"),
        ("<annotation>" + "<a>" * 40, "more than 32 levels"),
        ("<annotation><a></annotation>", "not XML"),
        ("<other></other>", "root is not <annotation>"),
        ("", "not XML"),
        ("<?xml version='1.0' encoding='no-such'?><annotation/>", "not XML"),
    ],
)
def test_xml_that_is_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_xml(text.encode(), root="annotation")


def voc(root: Path, **files: str) -> Path:
    (root / "JPEGImages").mkdir(parents=True)
    (root / "Annotations").mkdir()
    for stem, text in files.items():
        (root / f"JPEGImages/{stem}.jpg").write_bytes(encoded("jpeg", seed=1))
        (root / f"Annotations/{stem}.xml").write_text(text)
    return root


def boxed(xmin: str, *, size: str = "<size><width>20</width><height>10</height></size>") -> str:
    box = f"<bndbox><xmin>{xmin}</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
    return f"<annotation>{size}<object><name>cat</name>{box}</object></annotation>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "bad.xml: it has a DOCTYPE"),
        (boxed("nan"), "no finite number"),
        (boxed("12"), "negative"),
        (boxed("x"), "could not convert"),
        (boxed("1", size=""), "sides must be"),
        (boxed("1", size="<size><width>-1</width><height>5</height></size>"), "sides must be"),
        (boxed("1", size="<size><width>1e9</width><height>5</height></size>"), "sides must be"),
        ("<annotation><object/></annotation>", "an object is empty"),
    ],
)
def test_one_bad_annotation_is_one_bad_sample(text: str, message: str, tmp_path: Path) -> None:
    dataset = open_dataset(voc(tmp_path / "x", bad=text, good=boxed("1")))
    with pytest.raises(DataError, match=message):
        dataset.sample(0)
    assert dataset.sample(1).boxes is not None and dataset.classes == ("cat",)


def coco(root: Path, images: Any, annotations: Any, categories: Any = ({"id": 1, "name": "x"},)) -> Path:
    root.mkdir()
    (root / "secret.txt").write_text("secret")
    (root / "a.jpg").write_bytes(encoded("jpeg", seed=1))
    content = {"images": list(images), "annotations": list(annotations), "categories": list(categories)}
    (root / "x.json").write_text(json.dumps(content))
    return root / "x.json"


GOOD = {"id": 1, "file_name": "a.jpg", "width": 13, "height": 9}
BOX = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}


@pytest.mark.parametrize(
    "name", ["../up.jpg", "/etc/passwd", "a/../../up.jpg", "s3://x/y.jpg", "secret.txt", "no.jpg", ""]
)
def test_images_outside_of_the_folder_are_never_opened(name: str, tmp_path: Path) -> None:
    (tmp_path / "up.jpg").write_bytes(b"secret")
    dataset = open_dataset(coco(tmp_path / "x", [GOOD, {**GOOD, "id": 2, "file_name": name}], []))
    assert len(dataset.sample(0).image) > 100
    with pytest.raises(DataError, match="is not below"):
        dataset.sample(1)
    assert dataset.raw(1) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bbox": [1, 1, -2, 2]}, "negative or no finite number"),
        ({"bbox": [1, 1, float("nan"), 2]}, "negative or no finite number"),
        ({"bbox": [1, 1, 2]}, "four numbers"),
        ({"bbox": ["x", 1, 2, 3]}, "could not convert"),
        ({"bbox": [1e400, 1, 2, 3]}, "no finite number"),
        ({"category_id": 7}, "category 7, which the file does not list"),
        ({"category_id": [1]}, "which the file does not list"),
        ({"segmentation": [[1, 2, 3]]}, "cannot reshape"),
        ({"segmentation": {"size": [9, 13], "counts": [5]}}, "add up to 9 x 13 pixels"),
        ({"segmentation": {"size": [10**6, 10**6], "counts": [10**12]}}, "has the size"),
        ({"segmentation": {"size": [9, 13], "counts": "\x00"}}, "compressed mask"),
        ({"keypoints": [1, 2, 9]}, "visibility must be"),
        ({"keypoints": [1, 2]}, "cannot reshape"),
    ],
)
def test_objects_of_coco_that_cannot_be(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    other = {**GOOD, "id": 2}
    dataset = open_dataset(coco(tmp_path / "x", [GOOD, other], [{**BOX, **change}, {**BOX, "id": 2, "image_id": 2}]))
    with pytest.raises(DataError, match=message):
        dataset.sample(0)
    assert len(dataset.sample(1).boxes or ()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"images": [{"file_name": 3}], "annotations": []}', "no file_name or no id"),
        ('{"images": {}, "annotations": [{"image_id": 1}]}', "must be a list of objects"),
        ('{"images": [' + "[" * 100_000, "not a JSON file"),
        ('{"images": [], "annotations": [], "categories": [{"id": "x", "file_name": ""}]}', "has no id"),
        ('{"images": [], "annotations": [], "categories": [{"id": 1, "category_id": 1}]}', "lists no image"),
    ],
)
def test_coco_files_that_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(DataError, match=message):
        open_dataset(tmp_path / "x.json", "coco") if "file_name" in text else open_dataset_named(tmp_path)


def open_dataset_named(folder: Path) -> None:
    from pixelmill.formats.coco import CocoDataset

    CocoDataset("x", files=[str(folder / "x.json")])


def yolo(root: Path, text: str, config: str = "train: images\nval: images\nnames: [cat]\n") -> Path:
    for folder in ("images", "labels"):
        (root / folder).mkdir(parents=True)
    for stem in ("bad", "good"):
        (root / f"images/{stem}.jpg").write_bytes(encoded("jpeg", seed=1))
        (root / f"labels/{stem}.txt").write_text("0 0.5 0.5 0.5 0.5\n" if stem == "good" else text)
    (root / "data.yaml").write_text(config)
    return root


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 0.5 0.5 nan 0.5", "line 1 of .*bad.txt: a number is not finite"),
        ("0 0.5 0.5 0.5 0.5\n\n1 0.5 0.5 0.5 0.5", "line 3 of .*: class 1 is not one of the 1 names"),
        ("-1 0.5 0.5 0.5 0.5", "must be 0 or more"),
        ("0.5 0.5 0.5 0.5 0.5", "must be 0 or more"),
        ("0 120 80 50 40", "fractions of the image size from 0 to 1, got 120"),
        ("0 0.5 0.5", "a class and a box or an outline are needed, got 3 numbers"),
        ("0 0.1 0.1 0.2 0.2 0.3 0.3 0.4", "got 8 numbers"),
        ("cat 0.5 0.5 0.5 0.5", "could not convert"),
        ("0 1e999 0 0 0", "not finite"),
    ],
)
def test_label_files_that_cannot_be(text: str, message: str, tmp_path: Path) -> None:
    dataset = open_dataset(yolo(tmp_path / "x", text))
    with pytest.raises(DataError, match=message):
        dataset.sample(0)
    assert len(dataset.sample(1).boxes or ()) == 1


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("train: [1]\nnames: [cat]\n", "must be a folder"),
        ("train: images\nnames: 3\n", "names of .* must be a list"),
        ("train: images\nnames: {0: a, 2: b}\n", "must be numbered"),
        ("train: images\nnames: [a]\nkpt_shape: [17, 9]\n", "kpt_shape"),
        ("train: images\nnames: [a]\nkpt_shape: [1000000, 3]\n", "kpt_shape"),
        ("train: nowhere\nnames: [a]\n", "names no image"),
        ("train: ../../etc\nnames: [a]\n", "names no image"),
    ],
)
def test_descriptions_of_yolo_that_are_refused(config: str, message: str, tmp_path: Path) -> None:
    with pytest.raises((DataError, ArgumentError), match=message):
        open_dataset(yolo(tmp_path / "x", "", config))


def test_yaml_aliases_are_refused(tmp_path: Path) -> None:
    bomb = "a: &a [x,x,x]\nb: &b [*a,*a]\ntrain: images\nnames: *b\n"
    root = yolo(tmp_path / "x", "", bomb)
    with pytest.raises(ArgumentError, match="uses aliases"):
        from pixelmill.formats.yolo import YoloDataset

        YoloDataset("x", path=str(root / "data.yaml"))
