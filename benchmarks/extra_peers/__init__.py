"""The contestants of these benchmarks alone; those of `pixelmill bench` are in `pixelmill.benchmark.peers`."""

from __future__ import annotations

import importlib
from typing import Any

from workloads import Workload

from pixelmill.benchmark import workload as shared_workload
from pixelmill.benchmark.workload import Source

PEERS = ("pixelmill", "dali", "tfdata", "pillow", "opencv", "limit")
_OWN = ("opencv", "limit", "dali_engine", "pack", "ffcv", "litdata")  # and all peers of the segmentation workload
_FOR_LARGE = {"pixelmill": "full-resolution decode", "pillow": "draft mode"}


def package_of(peer: str, workload: Workload) -> str:
    """Return the package that contains the module of a peer."""
    own = peer in _OWN or (workload.kind == "segmentation" and peer in ("pixelmill", "dali"))
    return __name__ if own else shared_workload.PACKAGE


def variants(peer: str, workload: Workload, source: Source) -> tuple[str, ...]:
    """List the ways a peer can do a workload; some make a difference only with large images."""
    module: Any = importlib.import_module(f"{package_of(peer, workload)}.{peer}")
    if peer == "limit":
        return tuple(module.variants(workload.kind, workload.file_kind))
    left_out = None if workload.file_kind == "camera" else _FOR_LARGE.get(peer)
    return tuple(variant for variant in module.variants(workload.kind, source) if variant != left_out)
