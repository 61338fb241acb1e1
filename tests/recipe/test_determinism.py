"""One result for each built-in recipe, whatever threads, batches, shards, restarts, and whether offline or online."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
from dataset_cases import write
from PIL import Image

from pixelmill import augment, fn, pipeline_def
from pixelmill.augmentation.variants import VariantMaker
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.image_loader import boxes_after
from pixelmill.options.augment import VariantOptions
from pixelmill.recipe import load_recipe, recipe_names

COUNT, SEED = 6, 6
# Further recipes that use what no built-in one does.
FURTHER = {
    "joined": """
steps:
  - flip: {horizontal: {coin: 0.5}}
  - mosaic: {size: [96, 96], y: {uniform: [0.4, 0.6]}, p: 0.7}
  - resize: {size: [64, 64]}
  - mixup: {fraction: {beta: [8, 8]}, p: 0.5}
""",
    "pasted": """
steps:
  - resize: {size: [64, 64]}
  - copy_paste: {p: 0.8}
  - cutmix: {fraction: {beta: [1, 1]}, y: {uniform: [0, 1]}, x: {uniform: [0, 1]}, p: 0.7}
""",
    "boxed": """
steps:
  - expand: {ratio: {uniform: [1, 2]}, y: {uniform: [0, 1]}, x: {uniform: [0, 1]}, p: 0.5}
  - one_of: [{iou_crop: {}}, {box_safe_crop: {}}]
  - resize: {size: [64, 64]}
""",
}


def png(pixels):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "png")
    return stream.getvalue()


def sample_of(number):
    height, width = 90 + 5 * number, 130 - 7 * number
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / (9 + number)), np.cos(y / 13), np.sin((x + y) / 21)]
    pixels = np.stack([127 + 120 * wave for wave in waves], -1).astype(np.uint8)
    mask = ((x // 20 + y // 30 + number) % 4).astype(np.uint8)
    ltrb = np.float32([[0.1, 0.2, 0.6, 0.7], [0.5, 0.4, 0.9, 0.95]])[: number % 3]
    return Sample(f"s{number}", png(pixels), "png", boxes=Boxes(ltrb, np.arange(len(ltrb))), mask=png(mask))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    root = tmp_path_factory.mktemp("matrix")
    write(root / "in", "tfrecord", [sample_of(number) for number in range(COUNT)])
    for name, text in FURTHER.items():
        (root / f"{name}.yaml").write_text(text)
    return root / "in"


def digest(image, mask, boxes, labels):
    found = hashlib.sha256(repr((image.shape, mask.shape, labels.tolist())).encode())
    for array in (image, mask.astype(np.uint8), np.round(boxes, 5) + 0.0):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def online(dataset: Path, recipe, *, batch_size, threads, shards=1, resume_after=None):
    """Return the digest of every sample of the first epoch, by its number."""
    found: dict[int, str] = {}

    def pipeline_of(shard, checkpoint=None):
        @pipeline_def(batch_size=batch_size, num_threads=threads, device_id=None, seed=8, checkpoint=checkpoint)
        def define():
            names = ["image", "mask", "boxes", "box_label"]
            columns = fn.readers.dataset(
                path=str(dataset),
                columns=names,
                random_shuffle=True,
                num_shards=shards,
                shard_id=shard,
                pad_last_batch=True,
                name="Reader",
            )
            images = fn.decoders.image(columns["image"])
            given = {"boxes": columns["boxes"]} if recipe.depends_on_boxes() else {}
            scene = recipe.apply(images, fn.decoders.mask(columns["mask"]), seed=SEED, **given)
            moved = boxes_after(scene, fn.shapes(images), columns["boxes"], columns["box_label"])
            return scene.image, scene.mask, *moved, fn.get_property(columns["image"], key="source_info")

        return define()

    order = {}
    for shard in range(shards):
        pipeline = pipeline_of(shard)
        for step in range(-(-COUNT // (batch_size * shards))):
            if step == resume_after:
                checkpoint = pipeline.checkpoint()
                pipeline.close()
                pipeline = pipeline_of(shard, checkpoint)
            images, masks, boxes, labels, places = pipeline.run()
            for place in range(len(images)):
                where = bytes(np.asarray(places.at(place))).decode()
                values = [np.asarray(part.at(place)) for part in (images, masks, boxes, labels)]
                order.setdefault(where, digest(values[0], values[1][:, :, 0], *values[2:]))
                assert order[where] == digest(values[0], values[1][:, :, 0], *values[2:])
        pipeline.close()
    for number, where in enumerate(sorted(order, key=lambda text: int(text.rpartition(" ")[2].rpartition(":")[2]))):
        found[number] = order[where]
    return found


def of_samples(samples):
    found = {}
    for number, sample in enumerate(samples):
        boxes = sample.boxes if sample.boxes is not None else Boxes.none()
        labels = np.zeros(0, np.int64) if boxes.labels is None else boxes.labels
        pixels = [np.asarray(Image.open(io.BytesIO(data))) for data in (sample.image, sample.mask)]
        found[number] = digest(*pixels, boxes.ltrb, labels)
    return found


@pytest.mark.parametrize("name", [*recipe_names(), *FURTHER])
def test_a_recipe_has_one_result(dataset: Path, tmp_path: Path, name: str):
    source = str(dataset.parent / f"{name}.yaml") if name in FURTHER else name
    recipe = load_recipe(source)
    first = online(dataset, recipe, batch_size=COUNT, threads=1)
    assert sorted(first) == list(range(COUNT)) and len(set(first.values())) == COUNT
    assert online(dataset, recipe, batch_size=2, threads=2, resume_after=1) == first
    assert online(dataset, recipe, batch_size=1, threads=1, shards=2) == first
    for part in range(2):
        augment(
            dataset,
            tmp_path / "out",
            recipe=source,
            seed=SEED,
            format="png",
            samples_per_shard=2,
            num_shards=2,
            shard_index=part,
            workers=1,
        )
    written = list(open_dataset(tmp_path / "out"))
    assert of_samples(written) == first
    container = open_dataset(dataset)
    with VariantMaker(recipe, VariantOptions(seed=SEED, format="png"), dataset=container) as maker:
        shown = [maker.make(sample, number, count=1)[0] for number, sample in enumerate(container)]
    assert [sample.image for sample in shown] == [sample.image for sample in written]
    assert of_samples(shown) == first
