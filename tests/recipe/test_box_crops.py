"""Crops that look at boxes: what they promise holds, wherever the recipe runs."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from dataset_cases import write
from PIL import Image

from pixelmill import ArgumentError, ImageLoader, augment, fn, pipeline_def
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.image_loader import boxes_after
from pixelmill.recipe import Recipe

COUNT = 12
BOXES = np.float32([[0.3, 0.2, 0.5, 0.6], [0.45, 0.5, 0.7, 0.75]])


def png(pixels):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "png")
    return stream.getvalue()


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    root = tmp_path_factory.mktemp("boxes")
    y, x = np.mgrid[:100, :140]
    pixels = np.stack([x, y * 2, x + y], -1).astype(np.uint8)
    samples = [
        Sample(f"s{n:02}", png(pixels), "png", boxes=Boxes(BOXES if n else BOXES[:0], np.arange(2 if n else 0)))
        for n in range(COUNT)
    ]
    write(root / "in", "tfrecord", samples)
    return root / "in"


def augmented(dataset, tmp_path, steps, **options):
    (tmp_path / "recipe.yaml").write_text(json.dumps({"steps": steps}))
    recipe = str(tmp_path / "recipe.yaml")
    augment(dataset, tmp_path / "out", recipe=recipe, seed=3, format="png", workers=1, visibility=0, **options)
    return list(open_dataset(tmp_path / "out"))


def size_of(sample):
    width, height = Image.open(io.BytesIO(sample.image)).size
    return height, width


BEFORE = [
    [],
    [{"expand": {"ratio": 1.5, "y": 0.2, "x": 0.8, "fill_value": 5}}],
    [{"flip": {"horizontal": 1, "p": 0.5}}, {"invert": {}}, {"resize": {"size": [90, 120]}}],
]


@pytest.mark.parametrize("before", BEFORE)
def test_a_safe_crop_holds_all_boxes(dataset, tmp_path, before):
    samples = augmented(dataset, tmp_path, [*before, {"box_safe_crop": {}}])
    sizes = [size_of(sample) for sample in samples]
    assert len(set(sizes)) > COUNT // 2  # windows differ
    scale, canvas = {0: ((100, 140),) * 2, 1: ((100, 140), (150, 210)), 3: ((90, 120),) * 2}[len(before)]
    assert sizes[0] == canvas  # without boxes
    for sample, size in zip(samples[1:], sizes[1:], strict=True):
        assert len(sample.boxes) == 2
        # Not a pixel of a box is cut off: in pixels, boxes are as large as before.
        extents = (sample.boxes.ltrb[:, 2:] - sample.boxes.ltrb[:, :2]) * [size[1], size[0]]
        np.testing.assert_allclose(extents, (BOXES[:, 2:] - BOXES[:, :2]) * [scale[1], scale[0]], atol=0.02)


def test_least_keeps_the_sides(dataset, tmp_path):
    for sample in augmented(dataset, tmp_path, [{"box_safe_crop": {"least": 1.0}}]):
        assert size_of(sample) == (100, 140)


def overlaps(boxes, window):
    corner = np.maximum(boxes[:, :2], window[:2])
    far = np.minimum(boxes[:, 2:], window[2:])
    shared = np.prod(np.clip(far - corner, 0, None), axis=1)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return shared / (areas + np.prod(np.subtract(window[2:], window[:2])) - shared)


@pytest.mark.parametrize("least", [0.05, 0.1])
def test_windows_overlap_all_boxes(dataset, tmp_path, least):
    samples = augmented(dataset, tmp_path, [{"iou_crop": {"overlaps": [least], "aspect_ratio": [0.8, 1.25]}}])
    cut = 0
    for sample in samples[1:]:
        # The red channel is the column, the green one twice the row.
        pixels = np.asarray(Image.open(io.BytesIO(sample.image)))
        top, left = pixels[0, 0, 1] // 2, pixels[0, 0, 0]
        window = [left / 140, top / 100, (left + pixels.shape[1]) / 140, (top + pixels.shape[0]) / 100]
        if pixels.shape[:2] != (100, 140):
            cut += 1
            assert (overlaps(BOXES, window) >= least - 0.02).all()
            assert pixels.shape[0] >= 28 and pixels.shape[1] >= 40
    assert cut > 2


def test_a_loader_passes_its_boxes(dataset, tmp_path):
    steps = ({"flip": {"horizontal": {"coin": 0.5}, "p": 1}}, {"box_safe_crop": {}}, {"resize": {"size": [64, 64]}})
    recipe = Recipe("safe", steps=steps)
    samples = augmented(dataset, tmp_path, list(steps))

    @pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=1)
    def online():
        columns = fn.readers.dataset(path=str(dataset), columns=["image", "boxes", "box_label"])
        images = fn.decoders.image(columns["image"])
        scene = recipe.apply(images, boxes=columns["boxes"], seed=3)
        return scene.image, *boxes_after(scene, fn.shapes(images), columns["boxes"], columns["box_label"])

    pipeline = online()
    for first in range(0, COUNT, 4):
        images, boxes, labels = pipeline.run()
        for place in range(4):
            sample = samples[first + place]
            np.testing.assert_array_equal(images.at(place), np.asarray(Image.open(io.BytesIO(sample.image))))
            np.testing.assert_allclose(boxes.at(place), sample.boxes.ltrb, atol=1e-6)
            assert labels.at(place).tolist() == ([] if sample.boxes.labels is None else sample.boxes.labels.tolist())
    pipeline.close()
    loader = ImageLoader(str(dataset), size=32, batch_size=4, train=True, augment=recipe, framework="numpy")
    images, targets = next(iter(loader))
    assert images.shape == (4, 32, 32, 3) and all(len(target["boxes"]) in (0, 2) for target in targets)
    assert "boxes=boxes" in loader.pipeline_source()


def test_without_boxes_it_says_what_to_pass(dataset):
    recipe = Recipe("safe", steps=({"box_safe_crop": {}},))

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def online():
        return recipe.apply(fn.decoders.image(fn.readers.dataset(path=str(dataset), columns=["image"])["image"])).image

    with pytest.raises(ArgumentError, match=r"steps\[0\] \(box_safe_crop\).*boxes="):
        online()
