"""Polygons, keypoints and classes in `augment` with recipes that rotate, cut and distort."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from dataset_cases import write
from PIL import Image

from pixelmill import ArgumentError, augment
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.formats.shapes import Keypoints, Polygons
from pixelmill.recipe import load_recipe


def png(pixels):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "png")
    return stream.getvalue()


def augmented(tmp_path: Path, steps: str, samples, **options):
    write(tmp_path / "in", "tfrecord", samples)
    (tmp_path / "recipe.yaml").write_text(steps)
    augment(tmp_path / "in", tmp_path / "out", recipe=str(tmp_path / "recipe.yaml"), format="png", **options)
    return list(open_dataset(tmp_path / "out"))


def person():
    square = np.array([[0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [0.25, 0.75]], np.float32)
    small = np.array([[0.9, 0.9], [1, 0.9], [1, 1]], np.float32)
    points = np.float32([[[0.5, 0.3], [0.3, 0.4], [0.7, 0.45], [0.95, 0.95]]])
    boxes = Boxes(
        np.float32([[0.25, 0.25, 0.75, 0.75]]),
        np.array([1]),
        polygons=Polygons.of([[square, small]]),
        keypoints=Keypoints(points, np.int8([[2, 1, 2, 2]])),
    )
    return Sample("a", png(np.full((80, 120, 3), 90, np.uint8)), "png", labels=(1,), boxes=boxes)


def test_left_and_right_keypoints_swap_when_the_image_is_mirrored(tmp_path):
    steps = "keypoint_pairs: [[1, 2]]\nsteps:\n  - flip: {horizontal: 1, p: 1}\n"
    (sample,) = augmented(tmp_path, steps, [person()])
    found = sample.boxes.keypoints
    np.testing.assert_allclose(found.points[0], [[0.5, 0.3], [0.3, 0.45], [0.7, 0.4], [0.05, 0.95]], atol=1e-6)
    assert found.visibility.tolist() == [[2, 2, 1, 2]]


def test_what_leaves_the_image_is_cut_off(tmp_path):
    steps = "steps:\n  - crop_part: {height: 1, width: 0.5, x: 0}\n  - rotate90: {times: 1}\n"
    (sample,) = augmented(tmp_path, steps, [person()])
    ((ring,),) = sample.boxes.polygons.by_object(1)  # the second ring is gone
    # The left half, 80 x 60, turned counterclockwise: x becomes the height from the bottom, y the way from the left.
    assert ring.min(0).tolist() == pytest.approx([0.25, 0]) and ring.max(0).tolist() == pytest.approx([0.75, 0.5])
    keypoints = sample.boxes.keypoints
    assert keypoints.visibility.tolist() == [[2, 1, 0, 0]]
    np.testing.assert_allclose(keypoints.points[0, :2], [[0.3, 0.0], [0.4, 0.4]], atol=1e-6)
    np.testing.assert_allclose(sample.boxes.ltrb, [[0.25, 0, 0.75, 0.5]], atol=1e-6)


def test_a_distortion_moves_objects(tmp_path):
    (sample,) = augmented(tmp_path, "steps:\n  - optical_distortion: {strength: 0.3}\n", [person()])
    assert np.abs(sample.boxes.keypoints.points[0, 3] - 0.95).max() > 0.01
    assert sample.boxes.ltrb[0, 0] > 0.25  # things in the middle become smaller


def test_classes_decide_about_steps(tmp_path):
    steps = "steps:\n  - per_class: {classes: {1: [invert]}, otherwise: [{posterize: {bits: 1}}]}\n"
    pixels = np.full((8, 8, 3), 100, np.uint8)
    samples = [Sample(str(n), png(pixels), "png", labels=(n,)) for n in range(3)]
    made = augmented(tmp_path, steps, [*samples, Sample("none", png(pixels), "png")])
    levels = {sample.key: int(np.asarray(Image.open(io.BytesIO(sample.image)))[0, 0, 0]) for sample in made}
    assert levels == {"0": 0, "1": 155, "2": 0, "none": 0}


@pytest.mark.parametrize("pairs", ["[[1]]", "[1, 2]", "dogs", "[[1, -2]]"])
def test_pairs_of_keypoints_are_checked(tmp_path, pairs):
    (tmp_path / "x.yaml").write_text(f"keypoint_pairs: {pairs}\nsteps: [invert]\n")
    with pytest.raises(ArgumentError, match="keypoint_pairs must be"):
        load_recipe(tmp_path / "x.yaml")


def test_pairs_of_keypoints_are_part_of_the_plan():
    pairs = load_recipe("coco_keypoints").content()["keypoint_pairs"]
    assert isinstance(pairs, list) and pairs[0] == [1, 2]
    assert "keypoint_pairs" not in load_recipe("yolo").content()
