"""Train on a folder of images with `ImageLoader`: splits, rare classes, and a training that continues after a stop.

    python examples/train_folder.py [--images 600] [--epochs 12] [--folder DIR] [--resume]

Creates a folder with `train/` and `val/`, each with one folder per class, of which the last one is rare. The loader
reads all classes equally often. A checkpoint is written in the middle of each epoch; `--resume` continues from it, with
the very sample that would have come next.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch
from torch import nn

from pixelmill import DataNode, ImageLoader, fn
from pixelmill.create import create_images

SIDE, BATCH, CLASSES = 48, 32, 4


def make_images(folder: Path, count: int) -> None:
    """Create the images, and remove most of the last class of the training images."""
    for split, number, seed in (("train", count, 1), ("val", count // 3, 2)):
        create_images(folder / split, "s", 56, 56, number, "jpg", content="shapes", classes=CLASSES, seed=seed)
    rare = sorted((folder / "train").glob("class_*"))[-1]
    for path in sorted(rare.glob("*.jpg"))[6:]:
        path.unlink()


def flipped(images: DataNode) -> DataNode:
    """Flip images at random; a random crop would cut the shapes off."""
    return fn.flip(images, horizontal=fn.random.coin_flip(), vertical=fn.random.coin_flip())


def network() -> nn.Module:
    """Return three convolutions and a linear layer."""
    layers: list[nn.Module] = []
    for before, after in ((3, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(64, CLASSES))


def accuracy(model: nn.Module, loader: ImageLoader[torch.Tensor, torch.Tensor]) -> float:
    """Return the fraction of images that are classified correctly."""
    model.eval()
    with torch.no_grad():
        right = [(model(images).argmax(1) == labels).float() for images, labels in loader]
    model.train()
    return float(torch.cat(right).mean())


def main(arguments: list[str] | None = None) -> list[float]:
    """Train, and return the accuracy after each epoch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=600)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--folder", type=Path, help="where images and the checkpoint are; a temporary one if omitted")
    parser.add_argument("--resume", action="store_true", help="continue from the checkpoint in the folder")
    options = parser.parse_args(arguments)
    torch.manual_seed(0)
    folder = options.folder or Path(tempfile.mkdtemp())
    if not (folder / "train").exists():
        make_images(folder, options.images)

    train = ImageLoader(
        folder, split="train", size=SIDE, batch_size=BATCH, train=True, sampler="balanced", augment=flipped
    )
    val = ImageLoader(folder, split="val", size=SIDE, batch_size=BATCH)
    print(train)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    first = 0
    if options.resume:
        saved = torch.load(folder / "checkpoint.pt", weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        train.load_state_dict(saved["loader"])
        first = saved["epoch"]
    found = []
    for epoch in range(first, options.epochs):
        for step, (images, labels) in enumerate(train):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step == len(train) // 2:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": train.state_dict()}
                torch.save({**state, "epoch": epoch}, folder / "checkpoint.pt")
        found.append(accuracy(model, val))
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, accuracy {found[-1]:.2f}")
    return found


if __name__ == "__main__":
    main()
