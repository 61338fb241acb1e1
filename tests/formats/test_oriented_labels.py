"""Oriented boxes in containers: YOLO's label files of four corners, and every other container."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from dataset_cases import encoded, oriented, write

import pixelmill
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.formats.shapes import Polygons

TURNED = "1 0.5 0.25 0.75 0.5 0.5 0.75 0.25 0.5\n"
OUTLINE = "0 0.1 0.2 0.31 0.2 0.2 0.45\n"


def yolo(root: Path, *files: str, **own: Any) -> Path:
    """Write label files, each with its image."""
    for number, text in enumerate(files):
        for folder, ending, data in (("images", "jpg", encoded("jpeg", seed=1)), ("labels", "txt", text.encode())):
            (root / folder).mkdir(parents=True, exist_ok=True)
            (root / folder / f"{number}.{ending}").write_bytes(data)
    config = {"train": "images", "val": "images", "names": ["car", "ship"], **({"pixelmill": own} if own else {})}
    (root / "data.yaml").write_text(yaml.safe_dump(config))
    return root


def read(root: Path) -> list[Boxes]:
    return [sample.boxes for sample in open_dataset(root) if sample.boxes is not None]


def test_lines_of_nine_numbers_are_oriented_boxes(tmp_path: Path) -> None:
    first, empty, last = read(yolo(tmp_path, TURNED * 2, "\n", TURNED))
    assert first.oriented and last.oriented and not len(empty)
    assert first.corners().shape == (2, 4, 2) and first.names == ("ship", "ship")
    assert last.corners()[0].tolist() == [[0.5, 0.25], [0.75, 0.5], [0.5, 0.75], [0.25, 0.5]]
    assert last.ltrb.tolist() == [[0.25, 0.25, 0.75, 0.75]]
    assert open_dataset(tmp_path).layout == "oriented boxes"
    assert pixelmill.info(tmp_path).objects == {"oriented boxes": 3}


@pytest.mark.parametrize("other", [OUTLINE, "0 0.5 0.5 0.5 0.5\n"])
def test_other_lines_anywhere_make_them_outlines(other: str, tmp_path: Path) -> None:
    assert not any(boxes.oriented for boxes in read(yolo(tmp_path / "other", TURNED, TURNED, other)))
    assert not any(boxes.oriented for boxes in read(yolo(tmp_path / "same", TURNED + other)))


def test_data_yaml_decides(tmp_path: Path) -> None:
    assert not read(yolo(tmp_path / "no", TURNED, oriented=False))[0].oriented
    turned, outline = read(yolo(tmp_path / "yes", TURNED, OUTLINE, oriented=True))
    assert turned.oriented and not outline.oriented
    with pytest.raises(DataError, match=r"'oriented' of .* must be true or false, got 'maybe'"):
        open_dataset(yolo(tmp_path / "bad", TURNED, oriented="maybe"))


def test_label_files_that_cannot_be_read_decide_nothing(tmp_path: Path) -> None:
    yolo(tmp_path, TURNED, TURNED)
    dataset = open_dataset(tmp_path)
    (tmp_path / "labels/0.txt").unlink()
    boxes = dataset.sample(1).boxes
    assert boxes is not None and boxes.oriented


@pytest.mark.parametrize("middle", ["tfrecord", "coco", "voc", "pack", "webdataset", "parquet"])
def test_oriented_boxes_pass_through_containers(middle: str, tmp_path: Path) -> None:
    source = yolo(tmp_path / "in", TURNED, "0 0.1 0.1 0.3 0.1 0.3 0.2 0.1 0.2\n", "")
    pixelmill.convert(source, tmp_path / "middle", to=middle)
    pixelmill.convert(tmp_path / "middle", tmp_path / "out", to="yolo")
    assert read(tmp_path / "middle") == read(tmp_path / "out") == read(source)
    assert yaml.safe_load((tmp_path / "out/data.yaml").read_text())["pixelmill"] == {"oriented": True}
    for name in ("0", "1"):
        text, made = (next(root.rglob(f"{name}.txt")).read_text() for root in (source, tmp_path / "out"))
        assert [float(word) for word in made.split()] == [float(word) for word in text.split()]


def test_coco_files_say_in_a_word_that_outlines_are_oriented(tmp_path: Path) -> None:
    boxes = oriented()
    assert boxes.polygons is not None
    write(tmp_path, "coco", [Sample("a", encoded("jpeg", seed=1), "jpg", boxes=boxes)])
    text = next(tmp_path.rglob("*.json")).read_text()
    assert '"oriented":true' in text.replace(" ", "") and '"polygons"' not in text
    assert [sample.boxes for sample in open_dataset(tmp_path)] == [boxes]


def test_four_points_of_outlines_stay_outlines(tmp_path: Path) -> None:
    outline = replace(oriented(), oriented=False)
    write(tmp_path, "yolo", [Sample("a", encoded("jpeg", seed=1), "jpg", boxes=outline)])
    assert read(tmp_path) == [outline]


def test_corners_outside_of_the_image_are_kept_beside_the_label_file(tmp_path: Path) -> None:
    corners = oriented().corners() - np.float32(0.3)
    boxes = replace(oriented(), polygons=Polygons.of(corners[:, None]))
    write(tmp_path, "yolo", [Sample("a", encoded("jpeg", seed=1), "jpg", boxes=boxes)])
    assert min(float(word) for word in next(tmp_path.rglob("a.txt")).read_text().split()) == 0
    assert read(tmp_path) == [boxes]


@pytest.mark.parametrize(
    "rings", [[[[0, 0], [1, 0], [1, 1]]], [], [[[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 0], [1, 0], [1, 1], [0, 1]]]]
)
def test_an_oriented_box_has_four_corners(rings: Any) -> None:
    with pytest.raises(ArgumentError, match="an oriented box is a polygon of four corners"):
        Boxes([[0, 0, 1, 1]], [0], polygons=Polygons.of([[np.array(ring) for ring in rings]]), oriented=True)
    with pytest.raises(ArgumentError, match="an oriented box is a polygon of four corners"):
        Boxes([[0, 0, 1, 1]], [0], oriented=True)


def test_corners_of_plain_boxes_are_those_of_the_rectangle() -> None:
    assert Boxes([[0, 0.25, 1, 0.5]]).corners().tolist() == [[[0, 0.25], [1, 0.25], [1, 0.5], [0, 0.5]]]


@pytest.mark.parametrize("container", ["yolo", "tfrecord", "pack", "folder"])
def test_readers_return_the_corners(container: str, tmp_path: Path) -> None:
    samples = [
        Sample(str(n), encoded("jpeg", seed=1), "jpg", (n,), "x", boxes=b)
        for n, b in enumerate((oriented(), Boxes.none()))
    ]
    write(tmp_path / "in", container, samples)

    @pixelmill.pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def pipeline() -> Any:
        columns = pixelmill.fn.readers.dataset(path=str(tmp_path / "in"), columns=["boxes", "corners", "image"])
        return columns["corners"], columns["boxes"]

    made = pipeline()
    corners, boxes = made.run()
    assert np.array_equal(np.array(corners.at(0)), oriented().corners()) and corners.at(1).shape == (0, 4, 2)
    assert np.array_equal(np.array(boxes.at(0)), oriented().ltrb)
    made.close()
