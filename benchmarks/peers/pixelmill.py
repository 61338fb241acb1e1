"""pixelmill as it is by default; with camera files also without decoding at a lower resolution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workloads import Job, Kind, Pictures

from peers import arrays, graphs

DEFAULT, EXACT = "", "full-resolution decode"
GRAPHS: dict[Kind, graphs.Graph] = {
    "train": graphs.train,
    "val": graphs.val,
    "resize": graphs.resize,
    "rand_augment": graphs.rand_augment,
    "segmentation": arrays.segmentation,
}


def variants(kind: Kind, pictures: Pictures) -> tuple[str, ...]:
    """List the ways to do a kind of work; the first one counts."""
    return (DEFAULT, EXACT) if pictures == "camera" else (DEFAULT,)


def batches(job: Job) -> Iterator[Any]:
    """Make batches."""
    import pixelmill
    from pixelmill import auto_aug, math  # noqa: F401 - attributes of pixelmill once they are imported

    return graphs.run(pixelmill, GRAPHS[job.kind], job, decode_scaling=job.variant != EXACT)
