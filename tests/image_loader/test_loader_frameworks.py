"""Batches as arrays of each framework."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loader_datasets import TASKS, folder_of_classes, write_task
from loader_programs import flat, namespace_of

from pixelmill import ArgumentError, ImageLoader, MissingDependency


@pytest.mark.parametrize("framework", ["tf", "jax"])
@pytest.mark.parametrize("task", TASKS)
def test_same_numbers_in_every_framework(tmp_path: Path, framework: Any, task: Any) -> None:
    source = write_task(tmp_path / "d", task)
    given: dict[str, Any] = {"size": 16, "batch_size": 3, "train": True, "task": task}
    loader = ImageLoader(source, framework=framework, **given)
    expected = list(ImageLoader(source, framework="numpy", **given))
    found = list(loader)
    module = {"tf": "tensorflow", "jax": "jax"}[framework]
    assert type(found[0][0]).__module__.startswith(module) and found[0][0].shape == (3, 16, 16, 3)
    for (images, targets), (own_images, own_targets) in zip(found, expected, strict=True):
        assert np.array_equal(np.asarray(images), own_images)
        if task == "detection":
            for target, own in zip(targets, own_targets, strict=True):
                assert all(np.array_equal(np.asarray(target[name]), own[name]) for name in own)
        else:
            assert np.array_equal(np.asarray(targets), np.asarray(own_targets))
    program = namespace_of(loader.pipeline_source())
    loader.set_epoch(0)
    assert [flat(batch) for batch in program["batches"]()] == [flat(batch) for batch in loader]


@pytest.mark.parametrize("framework", ["tf", "jax"])
def test_bfloat16(tmp_path: Path, framework: Any) -> None:
    loader = ImageLoader(folder_of_classes(tmp_path / "d"), size=16, dtype="bfloat16", framework=framework)
    images, _ = next(iter(loader))
    assert "bfloat16" in str(images.dtype)


def test_a_framework_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependency) as caught:
        ImageLoader(folder_of_classes(tmp_path / "d"))
    assert str(caught.value) == (
        "torch is not installed; it comes with: pip install 'pixelmill[torch]', or pass framework='numpy'"
    )
    assert ImageLoader(tmp_path / "d", framework="numpy").task == "classification"


def test_keras_fits_a_loader(tmp_path: Path) -> None:
    import keras

    loader = ImageLoader(folder_of_classes(tmp_path / "d"), size=16, batch_size=4, train=True, framework="tf")
    dataset = loader.tf_dataset()
    passes = [[int(label) for _, labels in dataset for label in labels] for _ in range(2)]
    assert [sorted(labels) for labels in passes] == [[0] * 4 + [1] * 3 + [2] * 2] * 2 and passes[0] != passes[1]
    model = keras.Sequential([keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(3)])
    model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    assert len(model.fit(dataset, epochs=2, shuffle=False, verbose=0).history["loss"]) == 2
    with pytest.raises(ArgumentError, match="pass framework='tf' to the loader, got 'torch'"):
        ImageLoader(tmp_path / "d").tf_dataset()
    with pytest.raises(ArgumentError, match="batches for unlabeled are not pairs of tensors; use a for loop"):
        ImageLoader(tmp_path / "d", framework="tf", task="unlabeled").tf_dataset()


@pytest.mark.filterwarnings("ignore")  # Lightning's advice
def test_a_trainer_of_lightning_takes_a_loader(tmp_path: Path) -> None:
    import logging

    import lightning
    import torch

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)
            self.seen: list[list[int]] = []

        def training_step(self, batch: Any, number: int) -> Any:
            del number
            images, labels = batch
            self.seen.append(labels.tolist())
            return torch.nn.functional.cross_entropy(self.layer(images.mean(dim=(2, 3))), labels)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    model = Model()
    quiet = {"enable_progress_bar": False, "logger": False, "enable_checkpointing": False, "accelerator": "cpu"}
    trainer = lightning.Trainer(max_epochs=2, enable_model_summary=False, default_root_dir=tmp_path, **quiet)
    trainer.fit(model, ImageLoader(folder_of_classes(tmp_path / "d"), size=16, batch_size=5, train=True))
    assert [len(labels) for labels in model.seen] == [5, 4, 5, 4]
    assert sorted(model.seen[0] + model.seen[1]) == sorted(model.seen[2] + model.seen[3])
