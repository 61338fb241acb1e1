"""ImageLoader: what batches hold for each task, container and split."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from dataset_cases import write
from loader_datasets import (
    TASKS,
    class_mask,
    classified,
    folder_of_classes,
    pixels,
    png,
    with_boxes,
    with_masks,
    with_several_labels,
    write_task,
)
from peers import peer

from pixelmill import DataError, EngineError, ImageLoader, fn
from pixelmill.formats.registry import FORMATS
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.image_loader.options import Arguments, LoaderOptions
from pixelmill.recipe import Recipe, load_recipe

torch = peer("torch")

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def normalized(image: Any) -> Any:
    return ((image / 255 - MEAN) / STD).transpose(2, 0, 1)


def all_of(loader: Any) -> tuple[list[Any], list[Any]]:
    images: list[Any] = []
    targets: list[Any] = []
    for batch, own in loader:
        images.extend(batch)
        targets.extend(own)
    return images, targets


def test_validation_resizes_crops_the_center_and_normalizes_in_the_order_of_the_folder(tmp_path: Path) -> None:
    loader = ImageLoader(folder_of_classes(tmp_path / "d"), size=56, batch_size=4)  # 56 / 0.875 is the size as it is
    images, labels = all_of(loader)
    assert [int(label) for label in labels] == [0] * 4 + [1] * 3 + [2] * 2
    for number, image in enumerate(images):
        np.testing.assert_allclose(image, normalized(pixels(number)[4:60, 4:60]), atol=1e-5)
    assert loader.classes == ("ant", "bee", "cat") and loader.num_classes == 3
    assert len(loader) == loader.steps_per_epoch == 3 and loader.task == "classification"


def test_a_with_block_closes_a_loader(tmp_path: Path) -> None:
    with ImageLoader(folder_of_classes(tmp_path / "d"), size=32, batch_size=4) as loader:
        next(iter(loader))
    with pytest.raises(EngineError, match="closed"):
        next(iter(loader))


def test_labels_are_ready_for_cross_entropy(tmp_path: Path) -> None:
    loader = ImageLoader(folder_of_classes(tmp_path / "d"), size=32, batch_size=4, train=True)
    for images, labels in loader:
        assert images.dtype == torch.float32 and images.shape[1:] == (3, 32, 32)
        assert labels.dtype == torch.int64 and labels.ndim == 1
        torch.nn.functional.cross_entropy(images.mean(dim=(2, 3)), labels, weight=loader.class_weights)
    np.testing.assert_allclose(loader.class_weights, [9 / 12, 9 / 9, 9 / 6])
    assert loader.class_counts.tolist() == [4, 3, 2]


def test_training_has_each_sample_once_per_epoch_in_another_order(tmp_path: Path) -> None:
    source = write(tmp_path / "d", "tfrecord", classified(12, labels=range(12)))
    loader = ImageLoader(source, size=16, batch_size=5, train=True)
    epochs = [[int(label) for label in all_of(loader)[1]] for _ in range(3)]
    assert all(sorted(epoch) == list(range(12)) for epoch in epochs) and epochs[0] != epochs[1] != epochs[2]
    again = ImageLoader(source, size=16, batch_size=7, train=True, num_threads=1)
    again.set_epoch(1)
    assert [int(label) for label in all_of(again)[1]] == epochs[1]


def test_several_labels_become_rows_of_ones(tmp_path: Path) -> None:
    loader = ImageLoader(write_task(tmp_path / "d", "multilabel"), size=16, batch_size=3)
    assert loader.task == "multilabel" and loader.num_classes == 3
    _, rows = all_of(loader)
    expected = [[float(kind in sample.labels) for kind in range(3)] for sample in with_several_labels()]
    assert torch.stack(rows).dtype == torch.float32 and torch.stack(rows).tolist() == expected
    with pytest.raises(DataError, match=r"labels must be from 0 to 1, got \[0, 1, 2\]; see num_classes="):
        all_of(ImageLoader(tmp_path / "d", size=16, num_classes=2))


def test_boxes_are_in_pixels_of_the_resized_image(tmp_path: Path) -> None:
    loader = ImageLoader(write_task(tmp_path / "d", "detection"), size=(32, 128), batch_size=3)
    images, targets = all_of(loader)
    assert loader.task == "detection" and images[0].shape == (3, 32, 128)
    for sample, target in zip(with_boxes(), targets, strict=True):
        assert sample.boxes is not None
        np.testing.assert_allclose(target["boxes"], sample.boxes.ltrb * [128, 32, 128, 32], rtol=1e-6)
        assert target["boxes"].shape == (len(sample.boxes), 4) and target["boxes"].dtype == torch.float32
        assert target["labels"].tolist() == np.asarray(sample.boxes.labels).tolist()
        assert target["original_size"].tolist() == [64, 64]


@pytest.mark.parametrize("augment", [None, "detection"])
def test_boxes_follow_augmented_images(tmp_path: Path, augment: str | None) -> None:
    """The image is white inside its only box, and black outside of it."""
    image = np.zeros((64, 64, 3), np.uint8)
    image[16:48, 24:56] = 255
    boxes = Boxes(np.array([[24, 16, 56, 48]], np.float32) / 64, np.array([5]))
    write(tmp_path / "d", "tfrecord", [Sample(f"s{n}", png(image), "png", boxes=boxes) for n in range(24)])
    options: dict[str, Any] = {"dtype": "uint8", "framework": "numpy", "augment": augment}
    seen = set()
    for images, targets in ImageLoader(tmp_path / "d", size=128, batch_size=8, train=True, task="detection", **options):
        for found, target in zip(images, targets, strict=True):
            for left, top, right, bottom in target["boxes"]:
                white = found[:, :, 0] > 128
                rows, columns = np.flatnonzero(white.any(axis=1)), np.flatnonzero(white.any(axis=0))
                # Windows are whole pixels, of which one becomes up to 7; a rotated box bounds its corners.
                near = 4 if augment is None else 9
                assert abs(columns[0] - left) <= near and abs(columns[-1] + 1 - right) <= near
                assert abs(rows[0] - top) <= near and abs(rows[-1] + 1 - bottom) <= near
                assert 0 <= left < right <= 128 and 0 <= top < bottom <= 128 and target["labels"].tolist() == [5]
                seen.add((round(float(left)), round(float(top))))
    assert len(seen) > 8


def test_boxes_that_reach_over_the_edge_train(tmp_path: Path) -> None:
    """As tools write them: by a pixel, or by rounding."""
    sides = np.array([[-1e-9, -1 / 64, 0.5, 1 + 1e-6]], np.float32)
    samples = [Sample(f"s{n}", png(np.zeros((64, 64, 3), np.uint8)), "png", boxes=Boxes(sides, [1])) for n in range(4)]
    write(tmp_path / "d", "tfrecord", samples)
    loader = ImageLoader(tmp_path / "d", size=32, batch_size=4, train=True, framework="numpy")
    ((_, targets),) = loader
    found = np.concatenate([target["boxes"] for target in targets])
    assert len(found) == 4 and found.min() >= 0 and found.max() <= 32


@pytest.mark.parametrize("palette", [True, False])
def test_masks_are_class_numbers_whatever_their_palette(tmp_path: Path, palette: bool) -> None:
    source = write(tmp_path / "d", "tfrecord", with_masks(palette=palette))
    loader = ImageLoader(source, size=64, batch_size=3)
    assert loader.task == "segmentation"
    images, masks = all_of(loader)
    for number, (image, mask) in enumerate(zip(images, masks, strict=True)):
        assert mask.dtype == torch.int64 and mask.shape == (64, 64)
        assert np.array_equal(mask, class_mask(number))
        np.testing.assert_allclose(image, normalized(pixels(number)), atol=1e-5)


@pytest.mark.parametrize("augment", [None, "segmentation"])
def test_masks_follow_augmented_images(tmp_path: Path, augment: str | None) -> None:
    """The image is 100 times its mask, which survives a resize except along the edges."""
    mask = class_mask(0)
    image = np.repeat(mask[:, :, None] * 100, 3, axis=2)
    write(tmp_path / "d", "tfrecord", [Sample(f"s{n}", png(image), "png", mask=png(mask)) for n in range(8)])
    recipe = None if augment is None else Recipe("flips", steps=({"flip": {"horizontal": {"coin": 0.5}}},))
    loader = ImageLoader(
        tmp_path / "d", size=96, batch_size=8, train=True, augment=recipe, framework="numpy", dtype="uint8"
    )
    ((images, masks),) = loader
    for found, own in zip(images, masks, strict=True):
        assert (np.abs(found[:, :, 0].astype(int) - own * 100) > 30).mean() < 0.06
    assert len({own.tobytes() for own in masks}) > 1


def test_unlabeled_images_come_with_their_names(tmp_path: Path) -> None:
    loader = ImageLoader(folder_of_classes(tmp_path / "d"), size=16, task="unlabeled")
    _, names = all_of(loader)
    assert names == sorted(str(path) for path in (tmp_path / "d").glob("*/*.png"))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("task", TASKS)
def test_every_container_gives_the_same_batches(tmp_path: Path, format: str, task: str) -> None:
    samples = TASKS[task]()
    options: dict[str, Any] = {"size": 24, "batch_size": 4, "num_classes": 3, "framework": "numpy"}
    options["train"] = format != "folder"  # which sorts samples by class, so that they have other random numbers
    if task == "unlabeled":
        options["task"] = "unlabeled"  # a folder needs a class for each file
    expected = all_of(ImageLoader(write(tmp_path / "a", "tfrecord", samples), **options))
    masks = {"masks": True} if format == "folder" and task == "segmentation" else {}
    found = all_of(ImageLoader(write(tmp_path / "b", format, samples, **masks), **options))
    assert len(found[0]) == len(samples)
    assert sorted(image.tobytes() for image in found[0]) == sorted(image.tobytes() for image in expected[0])
    if task in ("classification", "multilabel", "segmentation"):
        assert sorted(own.tobytes() for own in found[1]) == sorted(own.tobytes() for own in expected[1])


def test_splits_are_folders_or_files_named_after_them(tmp_path: Path) -> None:
    folder_of_classes(tmp_path / "d" / "train", (3, 2))
    folder_of_classes(tmp_path / "d" / "valid", (1, 1))
    assert len(ImageLoader(tmp_path / "d", split="train").dataset) == 5
    assert len(ImageLoader(tmp_path / "d", split="val").dataset) == 2
    (tmp_path / "r").mkdir()
    for split, count in (("train", 4), ("test", 3)):
        for path in write(tmp_path / split, "recordio", classified(count)).iterdir():  # with an index and a list
            path.rename(tmp_path / "r" / f"{split}-0{path.suffix}")
    assert len(ImageLoader(tmp_path / "r", split="train").dataset) == 4
    assert len(ImageLoader(tmp_path / "r", split="test").dataset) == 3


def red(images: Any) -> Any:
    return fn.crop(images, crop=(40, 50)) * 0 + [200, 0, 0]


@pytest.mark.parametrize("augment", ["classification", "rand_augment", "auto_augment", "trivial_augment", "file"])
def test_augment_by_name_and_file(tmp_path: Path, augment: str) -> None:
    if augment == "file":
        (tmp_path / "own.yaml").write_text("steps:\n  - flip: {horizontal: {coin: 0.5}}\n", "utf-8")
        augment = str(tmp_path / "own.yaml")
    source = folder_of_classes(tmp_path / "d")
    images, _ = all_of(ImageLoader(source, size=(24, 32), train=True, augment=augment))
    again, _ = all_of(ImageLoader(source, size=(24, 32), train=True, augment=augment, batch_size=2))
    other, _ = all_of(ImageLoader(source, size=(24, 32), train=True, augment=augment, seed=1))
    assert images[0].shape == (3, 24, 32) and torch.equal(torch.stack(images), torch.stack(again))
    assert not torch.equal(torch.stack(images), torch.stack(other))


def test_augment_by_function_and_recipe(tmp_path: Path) -> None:
    source = folder_of_classes(tmp_path / "d")
    images, _ = all_of(ImageLoader(source, size=24, train=True, augment=red, dtype="uint8", framework="numpy"))
    assert np.unique(np.stack(images)[..., 0]).tolist() == [200] and images[0].shape == (24, 24, 3)
    recipe = load_recipe("classification")
    by_name, _ = all_of(ImageLoader(source, size=24, train=True, augment="classification"))
    by_recipe, _ = all_of(ImageLoader(source, size=24, train=True, augment=recipe))
    assert torch.equal(torch.stack(by_name), torch.stack(by_recipe))


def test_a_state_continues_with_another_batch_size(tmp_path: Path) -> None:
    source = write(tmp_path / "d", "tfrecord", classified(20, labels=range(20)))
    whole = [int(label) for label in all_of(ImageLoader(source, size=16, train=True))[1]]
    loader = ImageLoader(source, size=16, train=True, batch_size=6)
    first = [int(label) for label in next(iter(loader))[1]]
    state = json.loads(json.dumps(loader.state_dict()))
    assert len(json.dumps(state)) < 2000
    other = ImageLoader(source, size=16, train=True, batch_size=4)
    other.load_state_dict(state)
    assert first + [int(label) for label in all_of(other)[1]] == whole


def test_ranks_share_an_epoch(tmp_path: Path) -> None:
    source = write(tmp_path / "d", "tfrecord", classified(12, labels=range(12)))
    ranks = [ImageLoader(source, size=16, train=True, batch_size=2, rank=rank, world_size=3) for rank in range(3)]
    labels = [[int(label) for label in all_of(loader)[1]] for loader in ranks]
    assert sorted(label for own in labels for label in own) == list(range(12)) and {len(own) for own in labels} == {4}
    assert "rank 2 of 3" in repr(ranks[2])


def test_bad_samples_are_skipped_or_filled(tmp_path: Path) -> None:
    source = folder_of_classes(tmp_path / "d")
    (source / "ant" / "00.png").write_bytes(b"not an image")
    with pytest.raises(DataError, match=r"ant/00\.png"):
        all_of(ImageLoader(source, size=16))
    skipped = ImageLoader(source, size=16, on_error="skip")
    assert len(all_of(skipped)[0]) == 9 and skipped.errors.counts == {"not_an_image": 1}
    filled = ImageLoader(source, size=16, on_error="fill")
    next(iter(filled))
    assert filled.valid.tolist() == [False] + [True] * 8


def test_a_loop_continues_after_a_bad_sample(tmp_path: Path) -> None:
    source = folder_of_classes(tmp_path / "d")
    (source / "ant" / "01.png").write_bytes(b"not an image")
    batches = iter(ImageLoader(source, size=16, batch_size=4))
    with pytest.raises(DataError, match=r"ant/01\.png"):
        next(batches)
    assert [len(labels) for _, labels in batches] == [4, 4, 1]


def test_repr_says_what_was_found(tmp_path: Path) -> None:
    loader = ImageLoader(folder_of_classes(tmp_path / "d"), size=(24, 32), batch_size=4, train=True)
    assert repr(loader) == (
        f"ImageLoader('{tmp_path}/d': 9 samples in 3 classes, classification, found by its labels, for training; "
        "batches of 4 x 3 x 24 x 32, float32, torch)"
    )


def test_arguments_are_declared_for_type_checkers_and_documented_alike() -> None:
    names = [name for name in inspect.signature(Arguments).parameters if name not in ("source", "task", "framework")]
    assert sorted(names) == sorted(LoaderOptions.__annotations__)
    declared, known = get_type_hints(Arguments), get_type_hints(LoaderOptions)
    assert {name: declared[name] for name in names} == {name: known[name] for name in names}
    assert list(inspect.signature(ImageLoader).parameters) == list(inspect.signature(Arguments).parameters)
    text = inspect.getdoc(ImageLoader) or ""
    documented = [line.split(":")[0].strip() for line in text.splitlines() if line.startswith("    ") and ": " in line]
    assert set(inspect.signature(Arguments).parameters) <= set(documented)
