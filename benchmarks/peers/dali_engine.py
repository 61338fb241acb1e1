"""pixelmill's DALI engine on the CPU: DALI's work with our files, order and random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workloads import Job, Kind, Pictures

from peers import dali, graphs


def variants(kind: Kind, pictures: Pictures) -> tuple[str, ...]:
    """List the ways to do a kind of work: those of DALI, each of which has a counterpart there."""
    return dali.variants(kind, pictures)


def batches(job: Job) -> Iterator[Any]:
    """Make batches."""
    import pixelmill
    from pixelmill import auto_aug, math  # noqa: F401 - attributes of pixelmill once they are imported

    return graphs.run(pixelmill, dali.GRAPHS[job.kind][job.variant], job, engine="dali")
