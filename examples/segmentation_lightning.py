"""Segmentation with Lightning: images and masks as npy files, CSV lists, a Trainer.

    python examples/segmentation_lightning.py [--images 400] [--epochs 5] [--output FOLDER] [--resume CHECKPOINT]

Creates images of shapes with masks and writes them as arrays. Training pairs are resized and mirrored, with random
noise, blur, brightness and contrast; validation pairs are only resized. The Trainer's checkpoints contain the position
in the epoch, so `--resume` continues after the step at which they were written.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from functools import partial
from pathlib import Path

import lightning.pytorch as pl
import torch
from torch import nn

from pixelmill import DataNode, fn, math, pipeline_def, types
from pixelmill.create import create_images
from pixelmill.plugin.lightning import PipelineDataModule
from pixelmill.segmentation import prepare_segmentation

SIDE, BATCH = 64, 16


def make_arrays(folder: Path, count: int) -> Path:
    """Create images with masks, and write them as arrays and lists."""
    create_images(folder / "made", "s", 96, 80, count, "png", content="shapes", classes=5, masks=True, objects=(1, 1))
    for old, new in (("images", "Images"), ("masks", "Masks")):
        (folder / "made" / old).rename(folder / "made" / new)
    prepare_segmentation(folder / "made", folder / "arrays", valid=0.2)
    return folder / "arrays"


def listed(folder: Path, part: str, column: str) -> list[str]:
    """Return the files in a list."""
    with (folder / "csv_file" / f"{part}.csv").open(encoding="utf-8") as lines:
        return [str(folder / row[column]) for row in csv.DictReader(lines)]


def drawn(low: float, high: float) -> DataNode:
    """Draw a number for each sample; half of the samples get `low`."""
    return low + fn.random.coin_flip(dtype=types.FLOAT) * fn.random.uniform(range=(0.0, high - low))


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, seed=7)
def pairs(folder: Path, part: str, shard_id: int, num_shards: int) -> tuple[DataNode, DataNode]:
    """Return images and masks as floats, channels first."""
    read = partial(fn.readers.numpy, random_shuffle=part == "train", shard_id=shard_id, num_shards=num_shards)
    images, masks = (read(files=listed(folder, part, of)) for of in ("images", "masks"))
    images = fn.resize(fn.cast(images, dtype=types.FLOAT), size=(SIDE, SIDE))
    masks = fn.reshape(masks, layout="HWC")
    masks = fn.resize(masks, size=(SIDE, SIDE), interp_type=types.INTERP_NN)
    if part == "train":
        across, down = fn.random.coin_flip(), fn.random.coin_flip()
        images, masks = (fn.flip(each, horizontal=across, vertical=down) for each in (images, masks))
        images = images + fn.random.normal(images, stddev=drawn(0.0, 10.0))
        images = fn.gaussian_blur(images, sigma=drawn(0.01, 1.5))
        images = fn.brightness_contrast(images, brightness=drawn(1.0, 1.3), contrast=drawn(1.0, 1.3))
        images = math.clamp(images, 0.0, 255.0)
    images, masks = fn.transpose(images / 127.5 - 1.0, perm=[2, 0, 1]), fn.transpose(masks, perm=[2, 0, 1])
    return images, fn.cast(masks > 0, dtype=types.FLOAT)


class Segmentation(pl.LightningModule):
    """Three convolutions at half the resolution of the image."""

    def __init__(self) -> None:
        super().__init__()
        layers = [nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 1, 4, 4), nn.ReLU()]
        self.network = nn.Sequential(*layers, nn.Conv2d(32, 1, 3, 1, 1), nn.Upsample(scale_factor=2))
        self.overlaps: list[float] = []

    def training_step(self, batch: dict[str, torch.Tensor], number: int) -> torch.Tensor:
        """Return the loss of a batch."""
        return nn.functional.binary_cross_entropy_with_logits(self.network(batch["images"]), batch["masks"])

    def validation_step(self, batch: dict[str, torch.Tensor], number: int) -> None:
        """Compare the predicted pixels with the mask."""
        found, mask = self.network(batch["images"]) > 0, batch["masks"] > 0
        self.log("overlap", (found & mask).sum() / (found | mask).sum().clamp(min=1), batch_size=len(mask))

    def on_validation_epoch_end(self) -> None:
        """Print the intersection over union."""
        self.overlaps.append(float(self.trainer.callback_metrics["overlap"]))
        print(f"epoch {self.current_epoch}: intersection over union {self.overlaps[-1]:.3f}")

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return Adam."""
        return torch.optim.Adam(self.parameters(), 3e-3)


def main(arguments: list[str] | None = None) -> list[float]:
    """Train, and return the intersection over union after each epoch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--output", help="folder for checkpoints; without it, none are kept")
    parser.add_argument("--resume", help="a checkpoint to resume from")
    options = parser.parse_args(arguments)
    pl.seed_everything(1)
    with tempfile.TemporaryDirectory() as temporary:
        arrays = make_arrays(Path(temporary), options.images)
        train, valid = (partial(pairs, arrays, part) for part in ("train", "valid"))
        data = PipelineDataModule(train, valid, names=["images", "masks"])
        model = Segmentation()
        folder = options.output or temporary
        quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
        trainer = pl.Trainer(max_epochs=options.epochs, accelerator="cpu", default_root_dir=folder, **quiet)
        trainer.fit(model, data, ckpt_path=options.resume)
    return model.overlaps


if __name__ == "__main__":
    main()
