"""Multi-label classification with PyTorch: a text file of labels, and a Python iterator as external source.

    python examples/train_pytorch.py [--images 1500] [--epochs 8]

Creates images of one to three shapes. `labels.txt` has a line for each: its file, and a 0 or 1 for each kind of shape.
The program uses DALI's operator classes, and would run with DALI after a change of its imports.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pixelmill import DataNode, ops, types
from pixelmill.create import create_images
from pixelmill.pipeline import Pipeline
from pixelmill.plugin.pytorch import DALIGenericIterator

KINDS, SIDE, BATCH = 4, 48, 32


def make_images(folder: Path, count: int) -> None:
    """Create the images and the text file."""
    create_images(folder, "s", 64, 64, count, "jpg", content="shapes", classes=KINDS, boxes=True, objects=(1, 3))
    with (folder / "labels.txt").open("w", encoding="utf-8") as lines:
        for line in "".join(path.read_text("utf-8") for path in sorted(folder.glob("*.jsonl"))).splitlines():
            image = json.loads(line)
            print(image["path"], *(int(kind in image["box_labels"]) for kind in range(KINDS)), file=lines)


class Batches:
    """Yields batches of the lines of the text file, epoch after epoch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines = (folder / "labels.txt").read_text("utf-8").splitlines()
        self.order = np.random.default_rng(0)
        self.left: list[int] = []

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.float32]]]:
        encoded, labels = [], []
        for _ in range(BATCH):
            self.left = self.left or self.order.permutation(len(self.lines)).tolist()
            name, *kinds = self.lines[self.left.pop()].split()
            encoded.append(np.fromfile(self.folder / name, np.uint8))
            labels.append(np.array(kinds, np.float32))
        return encoded, labels


class MultiLabelPipeline(Pipeline):
    """Decodes and resizes the files that it is fed."""

    def __init__(self, batches: Batches) -> None:
        super().__init__(BATCH, num_threads=2, device_id=0, seed=12)
        self.batches = batches
        self.files, self.kinds = ops.ExternalSource(), ops.ExternalSource()
        self.decode = ops.ImageDecoder(device="mixed", output_type=types.RGB)
        self.resize = ops.Resize(device="gpu", resize_x=SIDE, resize_y=SIDE)
        self.normalize = ops.CropMirrorNormalize(device="gpu", mean=[110] * 3, std=[60] * 3)

    def define_graph(self) -> tuple[DataNode, DataNode]:
        """Return images and labels."""
        self.jpegs, self.labels = self.files(), self.kinds()
        return self.normalize(self.resize(self.decode(self.jpegs))), self.labels

    def iter_setup(self) -> None:
        """Feed one batch."""
        encoded, labels = next(self.batches)
        self.feed_input(self.jpegs, encoded)
        self.feed_input(self.labels, labels)


def network() -> nn.Module:
    """Return three convolutions and a linear layer."""
    layers: list[nn.Module] = []
    for before, after in ((3, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(64, KINDS))


def main(arguments: list[str] | None = None) -> list[float]:
    """Train, and return the loss of each epoch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=1500)
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args(arguments)
    torch.manual_seed(0)
    losses = []
    with tempfile.TemporaryDirectory() as temporary:
        make_images(Path(temporary), options.images)
        pipe = MultiLabelPipeline(Batches(Path(temporary)))
        loader = DALIGenericIterator([pipe], ["images", "labels"], options.images // BATCH * BATCH)
        model = network()
        optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
        for epoch in range(options.epochs):
            steps = []
            for (batch,) in loader:
                loss = nn.functional.binary_cross_entropy_with_logits(model(batch["images"]), batch["labels"])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps.append(loss.item())
            losses.append(float(np.mean(steps)))
            print(f"epoch {epoch + 1}: {len(steps)} steps, loss {losses[-1]:.3f}")
    return losses


if __name__ == "__main__":
    main()
