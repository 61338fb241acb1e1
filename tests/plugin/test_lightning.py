"""Data for Lightning's Trainer: lengths, epochs, ranks, and checkpoints in the middle of an epoch."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import lightning.pytorch as pl
    from lightning.pytorch.callbacks import ModelCheckpoint

from pixelmill import ArgumentError, Loader, Pipeline, fn, pipeline_def
from pixelmill.plugin.lightning import PipelineDataModule, TrainerLoader
from pixelmill.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

pytestmark = pytest.mark.filterwarnings("ignore")  # Lightning's advice
NAMES = ["images", "labels"]


@pytest.fixture(autouse=True)
def quiet() -> None:
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Ten images; number n, from 0, has the label n."""
    folder = tmp_path_factory.mktemp("pictures")
    paths = [folder / f"{number:02}.png" for number in range(10)]
    for number, path in enumerate(paths):
        Image.fromarray(np.full((8, 8, 3), 20 * number, np.uint8)).save(path)
    return [str(path) for path in paths]


def piped(files: list[str], *, batch_size: int = 3, shuffle: bool = True, **reader: Any) -> Pipeline:
    @pipeline_def(batch_size=batch_size, num_threads=1, device_id=None, seed=5)
    def make() -> Any:
        labels = list(range(len(files)))
        encoded, found = fn.readers.file(files=files, labels=labels, name="Reader", random_shuffle=shuffle, **reader)
        return fn.decoders.image(encoded), found

    return make()


def epochs_of(files: list[str], count: int) -> list[list[int]]:
    loader = Loader(piped(files), NAMES)
    return [[int(label) for batch in loader for label in batch["labels"].ravel()] for _ in range(count)]


class Seeing(pl.LightningModule):
    """Learns nothing, and writes down which samples it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.trained: list[list[int]] = []
        self.validated: list[int] = []

    def training_step(self, batch: Any, number: int) -> torch.Tensor:
        assert batch["images"].shape[1:] == (8, 8, 3) and isinstance(batch["images"], torch.Tensor)
        assert torch.equal(batch["images"][:, 0, 0, 0], 20 * batch["labels"].ravel().to(torch.uint8))
        while len(self.trained) <= self.current_epoch:
            self.trained.append([])
        self.trained[self.current_epoch] += batch["labels"].ravel().tolist()
        return self.weight**2

    def validation_step(self, batch: Any, number: int) -> None:
        self.validated += batch["labels"].ravel().tolist()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), 0.1)


def trainer(folder: Path, **options: Any) -> pl.Trainer:
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    return pl.Trainer(**{"enable_checkpointing": False, **quiet, "default_root_dir": folder, **options})


def test_epochs_and_lengths(files: list[str], tmp_path: Path) -> None:
    model = Seeing()
    data = PipelineDataModule(
        train=lambda: piped(files), valid=Loader(piped(files, shuffle=False, batch_size=4), NAMES), names=NAMES
    )
    running = trainer(tmp_path, max_epochs=3)
    running.fit(model, data)
    assert running.num_training_batches == 4 and running.num_val_batches == [3]
    assert model.trained == epochs_of(files, 3)
    # Two steps of the sanity check, then three whole validations.
    assert model.validated == [*range(8), *(list(range(10)) * 3)]


def test_training_alone_and_dropped_rest(files: list[str], tmp_path: Path) -> None:
    model = Seeing()
    running = trainer(tmp_path, max_epochs=2, reload_dataloaders_every_n_epochs=1)
    running.fit(model, PipelineDataModule(piped(files), names=NAMES, drop_last=True))
    assert [len(epoch) for epoch in model.trained] == [9, 9]
    assert model.trained == [epoch[:9] for epoch in epochs_of(files, 2)]


@pytest.fixture(scope="module")
def checkpoints(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a training of two epochs, with four steps each, wrote after every step."""
    folder = tmp_path_factory.mktemp("checkpoints")
    saving = ModelCheckpoint(folder, filename="{step}", every_n_train_steps=1, save_top_k=-1)
    trainer(folder, max_epochs=2, enable_checkpointing=True, callbacks=[saving]).fit(
        Seeing(), PipelineDataModule(piped(files), names=NAMES)
    )
    return folder


@pytest.mark.parametrize("steps", range(1, 9))
@pytest.mark.parametrize("reload", [0, 1])
def test_resume_after_every_step(files: list[str], checkpoints: Path, tmp_path: Path, steps: int, reload: int) -> None:
    """What comes after a step is what would have come."""
    model = Seeing()
    resumed = trainer(tmp_path, max_epochs=3, reload_dataloaders_every_n_epochs=reload)
    resumed.fit(model, PipelineDataModule(piped(files), names=NAMES), ckpt_path=str(checkpoints / f"step={steps}.ckpt"))
    epochs, (before, within) = epochs_of(files, 3), divmod(steps, 4)
    assert model.trained == [*([[]] * before), epochs[before][3 * within :], *epochs[before + 1 :]]


@pytest.mark.parametrize("steps", [3, 4])
def test_another_batch_size_is_refused(files: list[str], checkpoints: Path, tmp_path: Path, steps: int) -> None:
    """A Trainer would end epochs after as many steps as before, and leave samples out."""
    data = PipelineDataModule(piped(files, batch_size=2), names=NAMES)
    with pytest.raises(ArgumentError, match="an epoch had 4 steps and now has 5"):
        trainer(tmp_path, max_epochs=3).fit(Seeing(), data, ckpt_path=str(checkpoints / f"step={steps}.ckpt"))


def test_ranks_share_the_samples(files: list[str]) -> None:
    def of_rank(rank: int) -> Any:
        data = PipelineDataModule(
            lambda shard_id, num_shards: piped(files, shard_id=shard_id, num_shards=num_shards), names=NAMES
        )
        data.trainer = SimpleNamespace(global_rank=rank, world_size=2)
        return data.train_dataloader()

    loaders = [of_rank(rank) for rank in (0, 1)]
    assert [len(loader) for loader in loaders] == [2, 2]
    seen = [int(label) for loader in loaders for batch in loader for label in batch["labels"].ravel()]
    assert sorted(seen) == list(range(10))
    data = PipelineDataModule(piped(files), names=NAMES)
    data.trainer = SimpleNamespace(global_rank=1, world_size=2)
    with pytest.raises(ArgumentError, match="shard 0 of 1, but this is rank 1 of 2; pass a function"):
        data.train_dataloader()


def test_sources_that_are_none(files: list[str]) -> None:
    data = PipelineDataModule(train=lambda: 7, names=NAMES)
    with pytest.raises(ArgumentError, match="train must be or return a Pipeline or a Loader, got int"):
        data.train_dataloader()
    with pytest.raises(ArgumentError, match="no source for 'test'"):
        data.test_dataloader()
    assert data.val_dataloader() == []


def test_tensors_are_the_batch_and_lists_stay_lists(tmp_path: Path) -> None:
    for number in range(3):
        Image.new("RGB", (8 + number, 8)).save(tmp_path / f"{number}.png")
    loader = TrainerLoader(Loader(piped(sorted(map(str, tmp_path.glob("*.png"))), shuffle=False), NAMES))
    (batch,) = loader
    assert [tuple(image.shape) for image in batch["images"]] == [(8, 8, 3), (8, 9, 3), (8, 10, 3)]
    assert batch["labels"].ravel().tolist() == [0, 1, 2]
    with pytest.raises(ArgumentError, match="expected a result of state_dict"):
        loader.load_state_dict({})


def test_source_without_a_length(tmp_path: Path) -> None:
    def source(number: int) -> Any:
        if number == 4:
            raise StopIteration
        return np.full((2, 8, 8, 3), 20 * number, np.uint8), np.full((2, 1), number, np.int32)

    pipe = Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(*fn.external_source(source=source, num_outputs=2))
    model = Seeing()
    trainer(tmp_path, max_epochs=2).fit(model, PipelineDataModule(pipe, names=NAMES))
    assert model.trained == [[0, 0, 1, 1, 2, 2, 3, 3]] * 2


def test_wrapped_iterator_as_users_of_dali_write_it(files: list[str], tmp_path: Path) -> None:
    class LightningWrapper(DALIGenericIterator):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)

        def __next__(self) -> Any:
            out = super().__next__()
            return out[0]

    class Model(Seeing):
        def train_dataloader(self) -> Any:
            return LightningWrapper(
                piped(files, pad_last_batch=True),
                auto_reset=True,
                reader_name="Reader",
                output_map=NAMES,
                last_batch_policy=LastBatchPolicy.PARTIAL,
                dynamic_shape=False,
            )

    model = Model()
    running = trainer(tmp_path, max_epochs=3)
    running.fit(model)
    assert running.num_training_batches == 4
    assert model.trained == epochs_of(files, 3)
