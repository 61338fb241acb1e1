"""pixelmill on packs, next to pixelmill on the JPEG files that they were made from."""

from __future__ import annotations

from pixelmill.benchmark.peers.pixelmill import DEFAULT, Batches
from pixelmill.benchmark.workload import Kind, PeerTask, Source


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the only way."""
    del kind, source
    return (DEFAULT,)


def batches(job: PeerTask) -> Batches:
    """Make batches."""
    return Batches(job)
