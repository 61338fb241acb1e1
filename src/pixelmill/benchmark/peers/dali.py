"""NVIDIA DALI on the CPU, in every way to write the same work."""

from __future__ import annotations

from collections.abc import Iterator

from pixelmill.benchmark.peers import graphs
from pixelmill.benchmark.workload import Batch, Kind, PeerTask, Source

GRAPHS: dict[Kind, dict[str, graphs.Graph]] = {
    "train": {"decoders.image": graphs.train, "decoders.image_random_crop": graphs.train_window},
    "val": {
        "resize": graphs.val,
        "resize_crop_mirror": graphs.val_joint,
        "decoders.image_slice": graphs.val_window,
    },
    "resize": {"resize": graphs.resize},
    "read": {"reader": graphs.read},
    "rand_augment": {
        "decoders.image": graphs.rand_augment,
        "decoders.image_random_crop": graphs.rand_augment_window,
    },
}


_DECODERS = ("decoders.image_random_crop", "decoders.image_slice")


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the ways to do a kind of work; the fastest counts."""
    if source.container == "pack":
        return ()
    return tuple(name for name in GRAPHS.get(kind, ()) if not (source.is_array and name in _DECODERS))


fastest = variants  # it depends on the images


def batches(job: PeerTask) -> Iterator[Batch]:
    """Make batches."""
    from nvidia import dali
    from nvidia.dali import fn, math, types  # noqa: F401 - attributes of dali once they are imported
    from nvidia.dali.auto_aug import rand_augment  # noqa: F401

    options = {"device_id": 0} if job.device == "gpu" else {}
    return graphs.run(graphs.pipeline(dali, GRAPHS[job.kind][job.variant], job, **options))
