"""Oriented boxes in the batches of an `ImageLoader`: in pixels of the image, as corners and as rotated boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import write
from loader_datasets import pixels, png
from peers import peer
from PIL import Image, ImageDraw

from pixelmill import ImageLoader
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.formats.shapes import Polygons
from pixelmill.recipe import from_corners, to_corners
from pixelmill.recipe.oriented_boxes import bounds

cv2 = peer("cv2")

HEIGHT, WIDTH = 240, 320
ROTATED = np.array([[150, 120, 120, 60, 30]])
CORNERS = to_corners(ROTATED)
OPTIONS: dict[str, Any] = {"dtype": "uint8", "framework": "numpy"}


def one_box(*, labels: bool = True) -> Boxes:
    corners = CORNERS / [WIDTH, HEIGHT]
    return Boxes(bounds(corners), [5] if labels else None, polygons=Polygons.of(corners[:, None]), oriented=True)


def white_box(count: int, folder: Path, container: str, boxes: Boxes) -> Path:
    """Write images that are white inside their only box, and one without boxes."""
    image = Image.new("RGB", (WIDTH, HEIGHT))
    ImageDraw.Draw(image).polygon([(x, y) for x, y in CORNERS[0].tolist()], fill=(255, 255, 255))
    samples = [Sample(f"s{n}", png(np.asarray(image)), "png", boxes=boxes) for n in range(count)]
    return write(folder, container, [*samples, Sample("z", png(pixels(1)), "png", boxes=Boxes.none())])


@pytest.mark.parametrize("container", ["yolo", "tfrecord"])
def test_validation_boxes_are_in_pixels(container: str, tmp_path: Path) -> None:
    source = white_box(1, tmp_path / "d", container, one_box())
    loader = ImageLoader(source, size=(HEIGHT // 2, WIDTH // 2), batch_size=2, **OPTIONS)
    assert "oriented boxes" in repr(loader) and loader.task == "detection"
    ((_, (target, empty)),) = list(loader)
    np.testing.assert_allclose(target["rotated"], ROTATED / [2, 2, 2, 2, 1], atol=1e-3)
    np.testing.assert_allclose(target["corners"], CORNERS / 2, atol=1e-3)
    assert target["corners"].dtype == target["rotated"].dtype == np.float32 and target["labels"].tolist() == [5]
    assert empty["corners"].shape == (0, 4, 2) and empty["rotated"].shape == (0, 5)


def test_a_box_in_an_image_of_another_shape_is_a_rectangle(tmp_path: Path) -> None:
    source = white_box(1, tmp_path / "d", "yolo", one_box())
    ((_, (target, _)),) = list(ImageLoader(source, size=(HEIGHT, WIDTH // 2), batch_size=2, **OPTIONS))
    _, sides, _ = cv2.minAreaRect((CORNERS[0] / [2, 1]).astype(np.float32))
    assert sorted(target["rotated"][0, 2:4]) == pytest.approx(sorted(sides), abs=1e-2)
    np.testing.assert_allclose(from_corners(target["corners"]), target["rotated"], atol=1e-2)


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("augment", [None, "detection", "yolo"])
def test_oriented_boxes_follow_augmented_images(labels: bool, augment: str | None, tmp_path: Path) -> None:
    source = white_box(16, tmp_path / "d", "tfrecord", one_box(labels=labels))
    seen = set()
    for images, targets in ImageLoader(source, size=320, batch_size=8, train=True, augment=augment, **OPTIONS):
        for image, target in zip(images, targets, strict=True):
            drawn = np.zeros(image.shape[:2], np.uint8)
            for corners in target["corners"]:
                cv2.fillPoly(drawn, [np.rint(corners).astype(np.int32)], 1)
            # Cut boxes reach beyond what is white of them; nothing that is white is outside of all boxes but slivers.
            white = cv2.erode((image.min(axis=2) > 128).astype(np.uint8), np.ones((5, 5)))
            if augment != "yolo":
                assert white[drawn == 0].sum() <= 0.02 * white.size
                seen |= {round(float(angle)) for angle in target["rotated"][:, 4]}
            assert len(target["corners"]) == len(target["boxes"]) == len(target["labels"]) == len(target["rotated"])
            assert set(target["labels"].tolist()) <= {5 if labels else 0}
    assert len(seen) > 8 or augment is not None


def test_a_program_of_the_same_batches_uses_the_recipe(tmp_path: Path) -> None:
    source = white_box(2, tmp_path / "d", "yolo", one_box())
    text = ImageLoader(source, size=64, batch_size=2, train=True, **OPTIONS).pipeline_source()
    assert 'load_recipe("oriented")' in text and "corners=corners" in text
