"""Mistakes at the first line: each message says what to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from loader_datasets import folder_of_classes, write_task
from peers import peer

import pixelmill
from pixelmill import Loader, Pipeline, PixelmillError, fn, pipeline_def

torch = peer("torch")
pytorch = peer("pixelmill.plugin.pytorch")

Mistake = Callable[[Any], object]
ImageLoader: Any = pixelmill.ImageLoader  # types that a checker would find are among the mistakes
open_dataset: Any = pixelmill.open_dataset


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def train() -> Any:
    return fn.random.coin_flip()


def plain() -> Any:
    return fn.random.coin_flip()


def images(images: Any) -> Any:
    return images


NOT_PIPELINES: dict[str, tuple[Mistake, str]] = {
    "Loader of a path": (
        lambda loader: loader("photos", ["images"]),
        "takes a pipeline, got the path 'photos'; batches of a dataset: pixelmill.ImageLoader('photos')",
    ),
    "Loader of a function": (
        lambda loader: loader(train, ["images"]),
        "takes a pipeline, and train is the function that makes one: pass train()",
    ),
    "Loader of a function without decorator": (
        lambda loader: loader(plain, ["images"]),
        "takes a pipeline, got plain; decorate it with @pipeline_def and pass plain()",
    ),
    "Loader of a class": (
        lambda loader: loader(Pipeline, ["images"]),
        "takes a pipeline, got the class Pipeline; pass Pipeline(...)",
    ),
}


@pytest.mark.parametrize("name", ["Loader", "DALIGenericIterator"])
@pytest.mark.parametrize(("mistake", "message"), NOT_PIPELINES.values(), ids=NOT_PIPELINES)
def test_what_is_not_a_pipeline(name: str, mistake: Mistake, message: str) -> None:
    loader = Loader if name == "Loader" else pytorch.DALIGenericIterator
    with pytest.raises(TypeError) as caught:
        mistake(loader)
    assert str(caught.value) == f"{name} {message}"


def test_several_things_that_are_not_pipelines() -> None:
    with pytest.raises(TypeError, match=r"^DALIGenericIterator takes a pipeline, and train is the function"):
        pytorch.DALIGenericIterator(cast("Any", [train]), ["images"])
    with pytest.raises(TypeError, match=r"got the path .photos.; batches of a dataset: pixelmill.ImageLoader"):
        Loader("photos", size=224, batch_size=32, train=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^Loader takes a pipeline, got 7$"):
        Loader(cast("Any", 7), ["images"])


MISTAKES: dict[str, tuple[Mistake, str]] = {
    "no such folder": (lambda d: ImageLoader(d / "nothing"), "No such file or directory: {d}/nothing"),
    "workers": (lambda d: ImageLoader(d, num_workers=4), "threads do the work of worker processes; num_threads="),
    "keras": (lambda d: ImageLoader(d, image_size=9), "ImageLoader has no argument 'image_size': size="),
    "timm": (lambda d: ImageLoader(d, is_training=True), "ImageLoader has no argument 'is_training': train="),
    "torchvision": (lambda d: ImageLoader(d, transform=images), "has no argument 'transform': augment="),
    "typo": (lambda d: ImageLoader(d, batchsize=4), "has no argument 'batchsize'; did you mean batch_size?"),
    "unknown": (lambda d: ImageLoader(d, zzz=4), "ImageLoader has no argument 'zzz'; it has source, split, size,"),
    "pipeline": (lambda d: ImageLoader(train()), "batches of a pipeline: Loader(pipeline, names)"),
    "pipeline function": (lambda d: ImageLoader(train), "batches of a pipeline: Loader(pipeline, names)"),
    "opened": (lambda d: ImageLoader(open_dataset(d)), "takes the path of a dataset, which it reads itself"),
    "torch dataset": (
        lambda d: ImageLoader(torch.utils.data.TensorDataset(torch.zeros(3))),
        "got a TensorDataset; torch.utils.data.DataLoader loads such datasets, and pixelmill.ImageTransform is",
    ),
    "number": (lambda d: ImageLoader(7), "takes a folder, a file, an address or a list of files, got 7"),
    "one image": (lambda d: ImageLoader(d / "ant" / "00.png"), "is a single png image; name its folder, or a list"),
    "no boxes": (
        lambda d: ImageLoader(d, task="detection"),
        "task: detection needs boxes, and {d} has labels; omit task to use what there is (classification)",
    ),
    "task typo": (lambda d: ImageLoader(d, task="clasification"), "task must be one of classification, multilabel, "),
    "several labels": (
        lambda d: ImageLoader(d.parent / "several", task="classification"),
        "needs one label for each sample, and samples of {d.parent}/several have 0 or 1 or 2 or 3; task='multilabel'",
    ),
    "recipe typo": (
        lambda d: ImageLoader(d, train=True, augment="clasification"),
        "no built-in recipe of this name; built-in: cityscapes, classification, ",
    ),
    "augment for validation": (
        lambda d: ImageLoader(d, augment="heavy"),
        "augment: images are augmented with train=True only; pass it, or omit augment",
    ),
    "augment number": (lambda d: ImageLoader(d, train=True, augment=3), "augment must be a recipe (a name, a YAML"),
    "function for boxes": (
        lambda d: ImageLoader(d.parent / "boxes", train=True, augment=images),
        "augment: for detection it must be a recipe, by name or file, so that boxes follow the image",
    ),
    "result of a function": (
        lambda d: len(ImageLoader(d, train=True, augment=lambda images: 3)),
        "augment: the function must return images as a node of fn.*, got 3",
    ),
    "negative size": (lambda d: ImageLoader(d, size=-1), "size must be a number of pixels, or height and width, got"),
    "three sizes": (lambda d: ImageLoader(d, size=(3, 224, 224)), "or height and width, got (3, 224, 224)"),
    "size as text": (lambda d: ImageLoader(d, size="224"), "size must be a number of pixels, or height and width"),
    "batch of none": (lambda d: ImageLoader(d, batch_size=0), "batch_size must be an integer of at least 1, got 0"),
    "train as text": (lambda d: ImageLoader(d, train="yes"), "train must be True or False, got 'yes'"),
    "pytorch": (lambda d: ImageLoader(d, framework="pytorch"), "framework must be one of torch, tf, jax, numpy, got"),
    "dtype": (lambda d: ImageLoader(d, dtype="int8"), "dtype must be one of float32, float16, bfloat16, uint8, got"),
    "bfloat16": (lambda d: ImageLoader(d, dtype="bfloat16", framework="numpy"), "NumPy has no bfloat16; pass float32"),
    "mean of 255": (lambda d: ImageLoader(d, mean=(124, 116, 104)), "mean must be three fractions of white such as"),
    "uint8 with mean": (lambda d: ImageLoader(d, dtype="uint8", mean=(0, 0, 0)), "are not normalized; omit mean"),
    "on_error": (lambda d: ImageLoader(d, on_error="ignore"), "on_error must be one of raise, skip, fill or a"),
    "half of a rank": (lambda d: ImageLoader(d, rank=1), "rank and world_size belong together, got rank=1"),
    "rank": (lambda d: len(ImageLoader(d, rank=2, world_size=2)), "rank must be from 0 to world_size - 1, got"),
    "no batch": (
        lambda d: len(ImageLoader(d, batch_size=10, drop_last=True)),
        "drop_last: 9 samples on 1 processes do not fill a batch of 10; pass a smaller batch_size",
    ),
    "splits": (lambda d: ImageLoader(d.parent / "splits"), "holds the splits train, val; pass split='train' or split="),
    "no split": (lambda d: ImageLoader(d, split="train"), "no folder or files of the split 'train'; it holds ant, bee"),
    "balanced boxes": (
        lambda d: ImageLoader(d.parent / "boxes", train=True, sampler="balanced"),
        "sampler: 'balanced' needs one class for each sample, which detection does not have",
    ),
    "balanced in order": (
        lambda d: ImageLoader(d, sampler="balanced", shuffle=False),
        "sampler: 'balanced' reads samples in random order; omit shuffle=False",
    ),
    "weights of masks": (
        lambda d: ImageLoader(d.parent / "masks").class_weights,
        "classes are counted by their labels, which segmentation does not have",
    ),
    "epoch": (lambda d: ImageLoader(d).set_epoch(-1), "set_epoch: expected the number of an epoch from 0 on, got -1"),
    "state": (lambda d: ImageLoader(d).load_state_dict({"a": 1}), "expected a state of version 1, got"),
    "dataset of a number": (lambda d: open_dataset(3), "expected a path, an address or a list of files, got 3"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mistakes")
    for task, name in (("multilabel", "several"), ("detection", "boxes"), ("segmentation", "masks")):
        write_task(root / name, task)
    for split in ("train", "val"):
        folder_of_classes(root / "splits" / split, (1, 1))
    return folder_of_classes(root / "photos")


@pytest.mark.parametrize(("mistake", "message"), MISTAKES.values(), ids=MISTAKES)
def test_message(folder: Path, mistake: Mistake, message: str) -> None:
    with pytest.raises(PixelmillError) as caught:
        mistake(folder)
    text = str(caught.value)
    assert message.replace("{d.parent}", str(folder.parent)).replace("{d}", str(folder)) in text
    assert "\n" not in text and "<" not in text
