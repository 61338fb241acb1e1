"""Train on one node while actors of a Ray cluster prepare the batches.

    python examples/clusters/train_ray.py --data photos --actors 2
    python examples/clusters/train_ray.py --data /mnt/photos --actors 16 --threads 4 --resource preprocessing

The second line is for a cluster whose CPU nodes offer a resource `preprocessing`, as kuberay.yaml declares it.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch import nn

from pixelmill import Loader, fn, pipeline_def
from pixelmill.ray import RayWorkers

SIDE = 32


@pipeline_def(batch_size=16, num_threads=1, device_id=None, seed=7)
def train(folder: str) -> Any:
    encoded, labels = fn.readers.file(file_root=folder, random_shuffle=True)
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=SIDE)
    return fn.crop_mirror_normalize(
        images, mirror=fn.random.coin_flip(), mean=[124, 116, 104], std=[58, 57, 57]
    ), labels


def run(data: str, *, epochs: int, workers: RayWorkers) -> None:
    """Train a small model."""
    loader = Loader(train(data), ["images", "labels"], workers=workers)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * SIDE * SIDE, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(epochs):
        count = 0
        for batch in loader:
            images, labels = torch.from_numpy(batch["images"]), torch.from_numpy(batch["labels"])
            loss = nn.functional.cross_entropy(model(images), labels.long().flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            count += len(images)
        print(f"epoch {epoch}: {count} samples, loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="a folder with a folder for each class")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="threads and CPUs of each actor")
    parser.add_argument("--resource", help="a resource of Ray that marks the nodes to use")
    given = parser.parse_args()
    needs = {given.resource: 1.0} if given.resource else {}
    with RayWorkers(given.actors, threads=given.threads, resources=needs) as actors:
        run(given.data, epochs=given.epochs, workers=actors)
