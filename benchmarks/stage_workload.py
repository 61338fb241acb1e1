"""The program that stages.py profiles: a workload in one thread, and nothing else.

stage_workload.py CORE KIND BATCHES FILE...
"""

from __future__ import annotations

import importlib.util
import sys
from itertools import islice
from typing import cast

from pixelmill.benchmark.workload import Kind, PeerTask, Source


def use_core(path: str) -> None:
    """Load this compiled module as the native core instead of the installed one, which has no symbols."""
    spec = importlib.util.spec_from_file_location("pixelmill._core", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


def main(core: str, kind: str, batches: str, *files: str) -> None:
    """Make some batches, each of all files."""
    use_core(core)
    job = PeerTask("pixelmill", "", cast(Kind, kind), Source(list(files), repeats=64), len(files), threads=1, seed=1)
    import pixelmill
    from pixelmill.benchmark.peers import graphs
    from pixelmill.benchmark.peers.pixelmill import GRAPHS

    # One batch at a time, so that no work starts beyond the last one.
    made = graphs.run(graphs.pipeline(pixelmill, GRAPHS[job.kind], job, prefetch_queue_depth=1))
    for _ in islice(made, int(batches)):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
