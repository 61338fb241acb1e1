"""Annotations there and back through other containers, as the programs of others read them, value by value."""

from __future__ import annotations

import contextlib
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from dataset_cases import encoded
from peers import peer
from PIL import Image

import pixelmill
from pixelmill.formats.registry import open_dataset

datasets = peer("datasets")
pq = peer("pyarrow.parquet")
coco_masks = peer("pycocotools.mask")
pycocotools_coco = peer("pycocotools.coco")

HEIGHT, WIDTH = 30, 40
MIDDLE = ("tfrecord", "webdataset", "pack", "parquet", "folder")


def picture(path: Path, seed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded("jpeg", seed=seed, size=(HEIGHT, WIDTH)))


# COCO


@pytest.fixture
def coco(tmp_path: Path) -> Path:
    """Make instances, keypoints and captions of two splits, with gaps in ids, several rings, and a crowd."""
    root = tmp_path / "coco"
    categories = [{"id": 1, "name": "person"}, {"id": 3, "name": "car"}, {"id": 90, "name": "brush"}]
    bitmap = np.asfortranarray(np.random.default_rng(5).random((HEIGHT, WIDTH)) < 0.3).astype(np.uint8)
    crowd = coco_masks.encode(bitmap)
    crowd["counts"] = crowd["counts"].decode()
    for first, split in ((100, "train2017"), (200, "val2017")):
        images = [
            {"id": first + n, "file_name": f"{first + n:012d}.jpg", "width": WIDTH, "height": HEIGHT, "license": 3}
            for n in range(3)
        ]
        for image in images:
            picture(root / split / str(image["file_name"]), image["id"])
        rings = [[1.5, 2.25, 20.13, 3.77, 10.01, 28.5], [30, 1, 35.5, 1, 35.5, 9.99, 30, 9.99]]
        person: dict[str, Any] = {
            "id": first * 10,
            "image_id": first,
            "category_id": 1,
            "bbox": [1.5, 2.25, 18.63, 26.25],
        }
        person |= {"area": 702.1057499999998, "iscrowd": 0, "segmentation": rings}
        group = {"id": first * 10 + 1, "image_id": first, "category_id": 90, "bbox": [0, 0, 39.07, 29.11], "area": 350}
        group |= {"iscrowd": 1, "segmentation": crowd}
        car = {
            "id": first * 10 + 2,
            "image_id": first + 1,
            "category_id": 3,
            "bbox": [3.33, 4.44, 10, 12.5],
            "area": 99.5,
        }
        car |= {"iscrowd": 0, "segmentation": [[3.33, 4.44, 13.33, 4.44, 13.33, 16.94]], "score": 0.25}
        keypoints = {**person, "keypoints": [5.5, 6.25, 2, 0, 0, 0, 39.99, 29.5, 1], "num_keypoints": 2}
        captions = [
            {"id": 7, "image_id": first + 2, "caption": "Ein Bär"},
            {"id": 8, "image_id": first, "caption": "a"},
        ]
        for name, rows in (
            ("instances", [person, group, car]),
            ("person_keypoints", [keypoints]),
            ("captions", captions),
        ):
            (root / "annotations").mkdir(parents=True, exist_ok=True)
            content = {"info": {"year": 2017}, "images": images, "annotations": rows, "categories": categories}
            if name == "captions":
                del content["categories"]
            (root / "annotations" / f"{name}_{split}.json").write_text(json.dumps(content))
    return root


def pycoco(path: Path) -> Any:
    with contextlib.redirect_stdout(io.StringIO()):
        return pycocotools_coco.COCO(str(path))


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
@pytest.mark.parametrize("middle", MIDDLE)
def test_pycocotools_reads_the_same_after_any_container(middle: str, coco: Path, tmp_path: Path) -> None:
    pixelmill.convert(coco, tmp_path / "middle", to=middle)
    pixelmill.convert(tmp_path / "middle", tmp_path / "back", to="coco")
    for split, suffix in (("train", "train2017"), ("val", "val2017")):
        before = pycoco(coco / f"annotations/instances_{suffix}.json")
        points = pycoco(coco / f"annotations/person_keypoints_{suffix}.json")
        captions = pycoco(coco / f"annotations/captions_{suffix}.json")
        texts = pycoco(tmp_path / f"back/annotations/captions_{split}.json")
        after = pycoco(tmp_path / f"back/annotations/instances_{split}.json")
        names = {number: category["name"] for number, category in after.cats.items()}
        assert names == {number: category["name"] for number, category in before.cats.items()}
        assert sorted(after.imgs) == sorted(before.imgs)
        for number, image in before.imgs.items():
            assert {name: after.imgs[number][name] for name in image} == image
            data = (tmp_path / "back/images" / split / image["file_name"]).read_bytes()
            assert data == (coco / suffix / image["file_name"]).read_bytes()
        for number, entry in {**before.anns, **points.anns}.items():
            found = after.anns[number]
            for name, value in entry.items():
                if name != "segmentation":
                    assert found[name] == value, name
            assert np.array_equal(after.annToMask(found), before.annToMask(before.anns[number]))
            if isinstance(entry["segmentation"], list):
                assert found["segmentation"] == entry["segmentation"]
        said = [sorted((c["image_id"], c["caption"]) for c in file.anns.values()) for file in (texts, captions)]
        assert said[0] == said[1]


def test_what_coco_files_hold_beyond_samples_is_said(coco: Path) -> None:
    (coco / "annotations/panoptic_val2017.json").write_text(
        json.dumps({"images": [], "annotations": [{"image_id": 1, "segments_info": []}], "categories": []})
    )
    picture(coco / "val2017/unlisted.jpg", 1)
    dataset = open_dataset(coco)
    said = "\n".join(dataset.remarks)
    assert "panoptic_val2017.json is a panoptic annotation" in said
    assert (
        "info of" in said and "1 image is not named by the annotations and left out, such as val2017/unlisted" in said
    )
    assert dataset.classes == ("person", "car", "brush")
    assert len(open_dataset(coco, split="val")) == 3


# YOLO, by the rules of the label files that Ultralytics documents


def yolo_labels(root: Path, split: str) -> dict[str, tuple[Any, Any, Any]]:
    """Read label files: classes and boxes, segments, keypoints of each image."""
    config = yaml.safe_load((root / "data.yaml").read_text())
    shape = config.get("kpt_shape")
    found = {}
    for image in sorted((root / config[split]).rglob("*.jpg")):
        label = Path(str(image).replace("/images/", "/labels/")).with_suffix(".txt")
        rows = [line.split() for line in label.read_text().strip().splitlines()] if label.exists() else []
        segments: list[Any] = []
        if any(len(row) > 6 for row in rows) and not shape:
            segments = [np.array(row[1:], np.float32).reshape(-1, 2) for row in rows]
            corners = [np.concatenate([s.min(0), s.max(0)]) for s in segments]
            boxes = [[*((c[:2] + c[2:]) / 2), *(c[2:] - c[:2])] for c in corners]
            table = np.array([[float(row[0]), *box] for row, box in zip(rows, boxes, strict=True)], np.float32)
        else:
            width = 5 + (shape[0] * shape[1] if shape else 0)
            table = np.array(rows, np.float32).reshape(-1, width)
        assert not len(table) or (table[:, 1:5].max() <= 1 and table.min() >= 0)
        assert not len(table) or table[:, 0].max() < len(config["names"])
        found[image.stem] = (table, segments, config["names"])
    return found


def yolo(root: Path, lines: dict[str, str], names: Any, more: str = "") -> Path:
    for split in ("train", "val"):
        for number, (stem, text) in enumerate(lines.items()):
            picture(root / f"images/{split}/{stem}.jpg", number)
            (root / f"labels/{split}").mkdir(parents=True, exist_ok=True)
            (root / f"labels/{split}/{stem}.txt").write_text(text)
        picture(root / f"images/{split}/background.jpg", 9)
    config = {"path": ".", "train": "images/train", "val": "images/val", "names": names}
    (root / "data.yaml").write_text(yaml.safe_dump(config) + more)
    return root


YOLO = {
    "boxes": ({"a": "0 0.5 0.5 0.25 0.125\n1 0.716797 0.395833 0.216406 0.147222\n", "b": "2 0.1 0.2 0.2 0.4\n"}, ""),
    "segments": ({"a": "0 0.1 0.2 0.31 0.2 0.2 0.45\n1 0.5 0.5 0.6 0.5 0.6 0.75 0.5 0.75\n"}, ""),
    "oriented": ({"a": "1 0.780811 0.743961 0.782371 0.74686 0.777691 0.752174 0.776131 0.749758\n"}, ""),
    "pose": ({"a": "0 0.5 0.5 0.5 0.5 0.25 0.25 2 0.75 0.3 1 0 0 0\n"}, "kpt_shape: [3, 3]\n"),
}


@pytest.mark.parametrize("kind", YOLO)
@pytest.mark.parametrize("middle", ["tfrecord", "coco"])
def test_label_files_are_the_same_after_any_container(kind: str, middle: str, tmp_path: Path) -> None:
    lines, more = YOLO[kind]
    root = yolo(tmp_path / "yolo", lines, ["cat", "dog", "ant"], more)
    assert open_dataset(root).format == "yolo" == open_dataset(root / "data.yaml").format
    pixelmill.convert(root, tmp_path / "middle", to=middle)
    pixelmill.convert(tmp_path / "middle", tmp_path / "back", to="yolo")
    for split in ("train", "val"):
        before, after = yolo_labels(root, split), yolo_labels(tmp_path / "back", split)
        assert before.keys() == after.keys() and len(before) == len(lines) + 1
        for stem, (table, segments, names) in before.items():
            found = after[stem]
            assert np.allclose(found[0], table, rtol=0, atol=1e-7)
            assert all(np.array_equal(x, y) for x, y in zip(found[1], segments, strict=True))
            assert list(found[2].values()) == names


def test_other_layouts_of_yolo(tmp_path: Path) -> None:
    for split in ("train", "valid"):
        picture(tmp_path / split / "images/a.jpg", 1)
        (tmp_path / split / "labels").mkdir()
        (tmp_path / split / "labels/a.txt").write_text("0 0.5 0.5 0.5 0.5 0.9\n")
    dataset = open_dataset(tmp_path)
    assert [(s.key, s.split) for s in dataset] == [("a", "train"), ("a", "valid")]
    boxes = dataset.sample(0).boxes
    assert boxes is not None and boxes.attributes == {"score": (0.9,)} and boxes.names is None
    (tmp_path / "data.yaml").write_text("train: ../train/images\nval: ../valid/images\nnames: {0: x}\nnc: 1\n")
    assert [(s.key, s.split, s.boxes.names) for s in open_dataset(tmp_path) if s.boxes] == [
        ("a", "train", ("x",)), ("a", "val", ("x",)),
    ]  # fmt: skip


# Pascal VOC, by the rules of torchvision


def parsed(node: ET.Element) -> Any:
    """Return an annotation as torchvision's VOCDetection returns it: a dictionary of texts."""
    children = list(node)
    if not children:
        return {node.tag: (node.text or "").strip()}
    inner: dict[str, list[Any]] = {}
    for child in children:
        for name, value in parsed(child).items():
            inner.setdefault(name, []).append(value)
    keep = {"object": inner["object"]} if node.tag == "annotation" and "object" in inner else {}
    return {node.tag: {name: found[0] if len(found) == 1 else found for name, found in inner.items()} | keep}


VOC = """<annotation><folder>VOC2012</folder><filename>{stem}.jpg</filename><source><database>VOC2007</database>
</source><size><width>40</width><height>30</height><depth>3</depth></size><segmented>1</segmented>
<object><name>person</name><pose>Left</pose><truncated>1</truncated><difficult>0</difficult>
<bndbox><xmin>8</xmin><ymin>12.5</ymin><xmax>35</xmax><ymax>29</ymax></bndbox>
<part><name>head</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox></part></object>
<object><name>cat</name><pose>Unspecified</pose><truncated>0</truncated><difficult>1</difficult>
<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>40</xmax><ymax>30</ymax></bndbox></object></annotation>"""


@pytest.fixture
def voc(tmp_path: Path) -> Path:
    root = tmp_path / "voc"
    for folder in ("Annotations", "SegmentationClass", "ImageSets/Main"):
        (root / folder).mkdir(parents=True)
    for split, stems in (("train", ("2007_000027", "2007_000032")), ("val", ("2007_000033",))):
        for number, stem in enumerate(stems):
            picture(root / f"JPEGImages/{stem}.jpg", number)
            (root / f"Annotations/{stem}.xml").write_text(VOC.format(stem=stem))
        (root / f"ImageSets/Main/{split}.txt").write_text("".join(f"{stem}\n" for stem in stems))
    (root / "ImageSets/Main/cat_train.txt").write_text("2007_000027 -1\n")
    mask = Image.fromarray(np.random.default_rng(1).integers(0, 3, (HEIGHT, WIDTH), np.uint8), "P")
    mask.putpalette([0, 0, 0, 128, 0, 0, 0, 128, 0])
    mask.save(root / "SegmentationClass/2007_000027.png")
    return root


@pytest.mark.parametrize("middle", ["tfrecord", "coco", "yolo"])
def test_torchvision_would_read_the_same_after_any_container(middle: str, voc: Path, tmp_path: Path) -> None:
    dataset = open_dataset(voc)
    assert dataset.format == "voc" and dataset.classes == ("cat", "person")
    assert any("1 list is not read, such as ImageSets/Main/cat_train.txt" in line for line in dataset.remarks)
    pixelmill.convert(voc, tmp_path / "middle", to=middle)
    pixelmill.convert(tmp_path / "middle", tmp_path / "back", to="voc")
    for split in ("train", "val"):
        stems = (voc / f"ImageSets/Main/{split}.txt").read_text().split()
        assert (tmp_path / f"back/ImageSets/Main/{split}.txt").read_text().split() == stems
        for stem in stems:
            before = parsed(ET.parse(voc / f"Annotations/{stem}.xml").getroot())["annotation"]
            after = parsed(ET.parse(tmp_path / f"back/Annotations/{stem}.xml").getroot())["annotation"]
            assert after == before
            name = f"JPEGImages/{stem}.jpg"
            assert (tmp_path / "back" / name).read_bytes() == (voc / name).read_bytes()
    name = "SegmentationClass/2007_000027.png"
    assert (tmp_path / "back" / name).read_bytes() == (voc / name).read_bytes()


# Parquet and Arrow, by `datasets` and pyarrow


def test_hugging_face_datasets_reads_what_we_write(tmp_path: Path) -> None:
    for name in ("ant", "bee"):
        for number in range(3):
            picture(tmp_path / f"photos/{name}/{number}.jpg", number)
    pixelmill.convert(tmp_path / "photos", tmp_path / "out", to="parquet")
    found = datasets.Dataset.from_parquet(str(tmp_path / "out/data.parquet"), cache_dir=str(tmp_path / "cache"))
    assert found.features["label"].names == ["ant", "bee"]
    assert found["label"][:] == [0, 0, 0, 1, 1, 1]
    pixels = np.asarray(Image.open(tmp_path / "photos/bee/2.jpg"))
    assert np.array_equal(np.asarray(found[5]["image"]), pixels)
    rows = pq.read_table(tmp_path / "out/data.parquet").to_pylist()
    assert rows[5]["image"] == {"bytes": (tmp_path / "photos/bee/2.jpg").read_bytes(), "path": "bee/2.jpg"}
    pixelmill.convert(tmp_path / "out", tmp_path / "back", to="folder")
    assert list(open_dataset(tmp_path / "back")) == list(open_dataset(tmp_path / "photos"))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_what_hugging_face_datasets_writes_is_read(kind: str, tmp_path: Path) -> None:
    images = [encoded("png", seed=number, size=(HEIGHT, WIDTH)) for number in range(4)]
    features = datasets.Features(
        image=datasets.Image(), label=datasets.ClassLabel(names=["no", "yes"]), caption=datasets.Value("string")
    )
    rows = {"image": [{"bytes": data, "path": f"{n}.png"} for n, data in enumerate(images)], "label": [1, 0, 1, 0]}
    whole = datasets.Dataset.from_dict({**rows, "caption": ["a", "b", "ç", None]}, features=features)
    if kind == "parquet":
        whole.to_parquet(str(tmp_path / "train.parquet"))
        path = tmp_path / "train.parquet"
    else:
        whole.save_to_disk(str(tmp_path / "saved"))
        (path,) = (tmp_path / "saved").glob("*.arrow")
    dataset = open_dataset(path)
    assert dataset.format == "parquet" and dataset.classes == ("no", "yes")
    assert [sample.image for sample in dataset] == images
    assert [(s.labels, s.class_name) for s in dataset] == [((1,), "yes"), ((0,), "no"), ((1,), "yes"), ((0,), "no")]
    assert dataset.sample(2).extra["column/caption"].values == ["ç".encode()] and not dataset.sample(3).extra
