"""NVIDIA DALI on the CPU, in every way to write the same work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workloads import Job, Kind, Pictures

from peers import arrays, graphs

GRAPHS: dict[Kind, dict[str, graphs.Graph]] = {
    "train": {"decoders.image": graphs.train, "decoders.image_random_crop": graphs.train_window},
    "val": {
        "resize": graphs.val,
        "resize_crop_mirror": graphs.val_joint,
        "decoders.image_slice": graphs.val_window,
    },
    "resize": {"resize": graphs.resize},
    "rand_augment": {
        "decoders.image": graphs.rand_augment,
        "decoders.image_random_crop": graphs.rand_augment_window,
    },
    "segmentation": {"conditionals": arrays.segmentation, "arithmetic": arrays.segmentation_blended},
}


def variants(kind: Kind, pictures: Pictures) -> tuple[str, ...]:
    """List the ways to do a kind of work; the fastest counts."""
    return tuple(GRAPHS[kind])


def batches(job: Job) -> Iterator[Any]:
    """Make batches."""
    from nvidia import dali
    from nvidia.dali import fn, math, types  # noqa: F401 - attributes of dali once they are imported
    from nvidia.dali.auto_aug import rand_augment  # noqa: F401

    return graphs.run(dali, GRAPHS[job.kind][job.variant], job)
