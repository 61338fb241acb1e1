"""NVIDIA DALI on images and masks, with and without conditionals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from extra_peers import arrays
from pixelmill.benchmark.workload import Kind, PeerTask, Source

GRAPHS = {"conditionals": arrays.segmentation, "arithmetic": arrays.segmentation_blended}


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the ways; the fastest counts."""
    del kind, source
    return tuple(GRAPHS)


def batches(job: PeerTask) -> Iterator[Any]:
    """Make batches."""
    from nvidia import dali
    from nvidia.dali import fn, math, types  # noqa: F401 - attributes of dali once they are imported

    return arrays.batches(dali, GRAPHS[job.variant], job)
