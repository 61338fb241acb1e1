"""Polygons, oriented boxes, keypoints and masks of objects follow the image through `augment`."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from dataset_cases import encoded, objects, oriented, write
from PIL import Image, ImageDraw

from pixelmill import augment
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.formats.shapes import Polygons
from pixelmill.recipe import from_corners, to_corners
from pixelmill.recipe.oriented_boxes import bounds

FLIP = "name: flip\nsteps:\n  - flip: {horizontal: 1, vertical: 0}\n"


def test_outlines_are_mirrored_with_the_image(tmp_path: Path) -> None:
    before = objects()
    write(tmp_path / "in", "tfrecord", [Sample("a", encoded("png", seed=1), "png", boxes=before, split="val")])
    (tmp_path / "flip.yaml").write_text(FLIP)
    augment(tmp_path / "in", tmp_path / "out", recipe=str(tmp_path / "flip.yaml"), format="png")
    (sample,) = open_dataset(tmp_path / "out")
    after = sample.boxes
    assert sample.split == "val" and after is not None
    assert (after.names, after.attributes, after.masks) == (before.names, before.attributes, None)
    assert np.allclose(after.ltrb[:, [2, 1, 0, 3]], np.abs([1, 0, 1, 0] - before.ltrb), atol=1e-6)
    assert before.polygons is not None and after.polygons is not None and before.masks is not None
    first, crowd, last = after.polygons.by_object(3)
    for ring, old in zip(first, before.polygons.by_object(3)[0], strict=True):
        assert np.allclose(ring, np.abs([1, 0] - old), atol=1e-6)
    assert not last and before.masks[1] is not None
    drawn = np.zeros((9, 13), bool)
    for ring in crowd:
        (left, top), (right, bottom) = np.rint([ring.min(0) * [13, 9], ring.max(0) * [13, 9]]).astype(int)
        drawn[top:bottom, left:right] = True
    assert np.array_equal(drawn[:, ::-1], before.masks[1].bitmap())
    assert after.keypoints is not None
    assert after.keypoints.visibility.tolist() == [[2, 0], [-1, -1], [1, -1]]
    assert np.allclose(after.keypoints.points[0], [[0.75, 0.5], [0, 0]]) and np.allclose(
        after.keypoints.points[2, 0], [2 / 3, 1]
    )


RECIPE = """
name: all
steps:
  - resize: {size: [240, 300]}
  - affine: {angle: {uniform: [-180, 180]}, scale: {uniform: [0.6, 1.1]}, fill_value: 0}
  - crop: {size: [220, 260]}
"""


@pytest.mark.parametrize("container", ["yolo", "tfrecord", "coco"])
def test_oriented_boxes_stay_rectangles_around_their_pixels(container: str, tmp_path: Path) -> None:
    corners = to_corners(np.array([[150, 120, 130, 70, 20], [40, 30, 30, 20, -60]])) / [300, 240]
    boxes = Boxes(bounds(corners), [1, 0], polygons=Polygons.of(corners[:, None]), oriented=True)
    mask = Image.new("L", (300, 240))
    for number, ring in enumerate(corners * [300, 240], start=1):
        ImageDraw.Draw(mask).polygon([(x, y) for x, y in ring.tolist()], fill=number)
    stream = io.BytesIO()
    mask.save(stream, "png")
    sample = Sample("a", encoded("png", seed=1, size=(240, 300)), "png", boxes=boxes, mask=stream.getvalue())
    write(tmp_path / "in", container, [sample])
    (tmp_path / "all.yaml").write_text(RECIPE)
    augment(tmp_path / "in", tmp_path / "out", recipe=str(tmp_path / "all.yaml"), variants=12, format="png")
    whole = 0
    for made in open_dataset(tmp_path / "out"):
        assert made.boxes is not None and made.boxes.oriented and made.mask is not None
        assert made.boxes.labels is not None and made.boxes.labels.tolist() in ([1, 0], [1])
        pixels = np.argwhere(np.asarray(Image.open(io.BytesIO(made.mask))) == 1)[:, ::-1] + 0.5
        rotated = from_corners(made.boxes.corners()[:1] * [260, 220])
        turn = np.radians(rotated[0, 4])
        places = (pixels - rotated[0, :2]) @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        assert np.abs(np.abs([places.min(axis=0), places.max(axis=0)]) * 2 - rotated[0, 2:4]).max() < 4
        whole += abs(rotated[0, 2] / rotated[0, 3] - 13 / 7) < 1e-3
        np.testing.assert_allclose(made.boxes.ltrb, bounds(made.boxes.corners()), atol=1e-6)
    assert whole > 3  # those that the crop has not cut


def test_a_mosaic_of_oriented_boxes_has_oriented_boxes(tmp_path: Path) -> None:
    samples = [Sample(str(n), encoded("png", seed=n), "png", boxes=oriented()) for n in range(4)]
    write(tmp_path / "in", "tfrecord", samples)
    (tmp_path / "mosaic.yaml").write_text("name: m\nsteps:\n  - mosaic: {size: [90, 130]}\n")
    augment(tmp_path / "in", tmp_path / "out", recipe=str(tmp_path / "mosaic.yaml"))
    for made in open_dataset(tmp_path / "out"):
        assert made.boxes is not None and made.boxes.oriented and len(made.boxes) > 4
