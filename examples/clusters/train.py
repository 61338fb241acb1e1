"""Train on several processes: every rank reads its own shard, and all ranks together read every sample once an epoch.

    torchrun --nproc-per-node 2 examples/clusters/train.py --data photos
    srun python examples/clusters/train.py --data photos

The number of this process and of all processes come from torchrun (RANK, WORLD_SIZE) or from Slurm (SLURM_PROCID,
SLURM_NTASKS). Without either, there is one process.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from pixelmill import Loader, fn, pipeline_def

SIDE = 32


def ranks() -> tuple[int, int]:
    """Return the number of this process, and how many there are."""
    for rank, count in (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")):
        if rank in os.environ:
            return int(os.environ[rank]), int(os.environ[count])
    return 0, 1


@pipeline_def(num_threads=2, device_id=None, seed=7)
def train(folder: str, shard_id: int, num_shards: int) -> Any:
    encoded, labels = fn.readers.file(
        file_root=folder, random_shuffle=True, shard_id=shard_id, num_shards=num_shards, name="Reader"
    )
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=SIDE)
    images = fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), mean=[124, 116, 104], std=[58, 57, 57])
    return images, labels, fn.get_property(encoded, key="source_info")


def run(data: str, *, epochs: int, seen: Path | None) -> None:
    """Train a small model; write the names of the samples that this rank has seen, if asked."""
    rank, count = ranks()
    dist.init_process_group("gloo", rank=rank, world_size=count)
    loader = Loader(train(data, rank, count, batch_size=8), ["images", "labels", "names"])
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Flatten(), nn.Linear(3 * SIDE * SIDE, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    names: list[list[str]] = []
    for epoch in range(epochs):
        names.append([])
        for batch in loader:
            images, labels = torch.from_numpy(batch["images"]), torch.from_numpy(batch["labels"])
            loss = nn.functional.cross_entropy(model(images), labels.long().flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            names[-1] += [bytes(name).decode() for name in batch["names"]]
        print(f"rank {rank} of {count}, epoch {epoch}: {len(names[-1])} samples, loss {loss.item():.3f}", flush=True)
    if seen is not None:
        (seen / f"rank-{rank}.json").write_text(json.dumps(names))
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="a folder with a folder for each class")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seen", type=Path, help="a folder for lists of the samples that each rank has seen")
    arguments = parser.parse_args()
    run(arguments.data, epochs=arguments.epochs, seen=arguments.seen)
    # DistributedDataParallel of torch 2.13 keeps the threads of gloo after the process group was destroyed. A process
    # was seen to abort when it ended with them running, so this one ends at once.
    sys.stdout.flush()
    os._exit(0)
