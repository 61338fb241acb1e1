"""NVIDIA DALI on the CPU, in every way to write the same work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workloads import Job, Kind, Pictures

from peers import graphs

GRAPHS: dict[Kind, dict[str, graphs.Graph]] = {
    "train": {"decoders.image": graphs.train, "decoders.image_random_crop": graphs.train_window},
    "val": {
        "resize": graphs.val,
        "resize_crop_mirror": graphs.val_joint,
        "decoders.image_slice": graphs.val_window,
    },
    "resize": {"resize": graphs.resize},
}


def variants(kind: Kind, pictures: Pictures) -> tuple[str, ...]:
    """List the ways to do a kind of work; the fastest counts."""
    return tuple(GRAPHS[kind])


def batches(job: Job) -> Iterator[Any]:
    """Make batches."""
    from nvidia import dali

    return graphs.run(dali, GRAPHS[job.kind][job.variant], job)
