"""pixelmill on images and masks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from extra_peers import arrays
from pixelmill.benchmark.workload import Kind, PeerTask, Source


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the only way."""
    del kind, source
    return ("",)


def batches(job: PeerTask) -> Iterator[Any]:
    """Make batches."""
    import pixelmill
    from pixelmill import math  # noqa: F401 - an attribute of pixelmill once it is imported

    return arrays.batches(pixelmill, arrays.segmentation, job)
