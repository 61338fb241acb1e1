"""pixelmill's DALI engine on the CPU: DALI's work with our files, order and random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pixelmill.benchmark.peers import dali, graphs
from pixelmill.benchmark.workload import Kind, PeerTask, Source


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the ways to do a kind of work: those of DALI, each of which has a counterpart there."""
    return dali.variants(kind, source)


def batches(job: PeerTask) -> Iterator[Any]:
    """Make batches."""
    import pixelmill
    from pixelmill import auto_aug, math  # noqa: F401 - attributes of pixelmill once they are imported

    return graphs.run(graphs.pipeline(pixelmill, dali.GRAPHS[job.kind][job.variant], job, engine="dali"))
