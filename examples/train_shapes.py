"""Train a small network on synthetic images: `shapes` has labels that can be learned.

    python examples/train_shapes.py [--seconds 60] [--classes 10]

Needs only torch. Creates images of labeled shapes, a training and a validation set with different seeds, which have no
image in common, and trains until 95 % of the validation images are classified correctly. The exit code is 1 if the time
was not enough.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import nn

from pixelmill import DataNode, fn, pipeline_def
from pixelmill.create import create_images
from pixelmill.plugin.pytorch import DALIClassificationIterator

SIDE, BATCH, WANTED = 40, 64, 0.95


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, seed=7)
def load(folder: str, training: bool) -> tuple[DataNode, DataNode]:
    """Read, decode and normalize; training images are mirrored at random."""
    encoded, labels = fn.readers.file(file_root=folder, random_shuffle=training, name="Reader")
    images = fn.decoders.image(encoded)
    mirror = fn.random.coin_flip(probability=0.5) if training else 0
    return fn.crop_mirror_normalize(images, mirror=mirror, mean=[110] * 3, std=[60] * 3), labels


def network(classes: int) -> nn.Module:
    """Return four convolutions and a linear layer."""
    layers: list[nn.Module] = []
    channels = 3
    for width in (16, 32, 64, 64):
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def accuracy(model: nn.Module, batches: DALIClassificationIterator) -> float:
    """Return the fraction of images that are classified correctly."""
    model.eval()
    right = total = 0
    with torch.no_grad():
        for (batch,) in batches:
            right += int((model(batch["data"]).argmax(1) == batch["label"].view(-1)).sum())
            total += len(batch["data"])
    model.train()
    return right / total


def main() -> int:
    """Create the images and train. Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="time limit")
    parser.add_argument("--classes", type=int, default=10)
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)  # the loader has its own threads
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        loaders = {}
        for seed, (name, count) in enumerate((("train", 5120), ("validation", 1280))):
            folder = Path(temporary) / name
            create_images(folder, "s", SIDE, SIDE, count, "png", seed, content="shapes", classes=options.classes)
            loaders[name] = DALIClassificationIterator(load(str(folder), name == "train"), reader_name="Reader")
        print(f"created 6400 images in {time.perf_counter() - start:.1f} s")
        model = network(options.classes)
        optimizer = torch.optim.AdamW(model.parameters(), 4e-3, weight_decay=1e-2)
        epoch, reached = 0, 0.0
        while reached < WANTED and time.perf_counter() - start < options.seconds:
            epoch += 1
            for (batch,) in loaders["train"]:
                loss = nn.functional.cross_entropy(model(batch["data"]), batch["label"].view(-1).long())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            reached = accuracy(model, loaders["validation"])
            print(f"epoch {epoch}: {reached:.1%} of the validation set after {time.perf_counter() - start:.1f} s")
    return 0 if reached >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
