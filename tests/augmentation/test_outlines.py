"""Polygons, keypoints and masks of objects follow the image through `augment`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from dataset_cases import encoded, objects, write

from pixelmill import augment
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Sample

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
