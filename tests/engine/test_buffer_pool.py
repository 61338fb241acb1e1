"""Memory of outputs is kept for the next batches, but not without end."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from pixelmill import Pipeline, fn, types

STATM = Path("/proc/self/statm")
MEGABYTES = 4
BATCHES = 60


def resident() -> float:
    """Return the resident memory of this process in MB."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.skipif(not STATM.exists(), reason="memory is read from /proc")
def test_outputs_of_ever_new_sizes_do_not_pile_up() -> None:
    sizes = iter(range(BATCHES + 2))
    pipe = Pipeline(1, 1, None, prefetch_queue_depth=1)
    with pipe:
        data = fn.external_source(source=lambda: [np.zeros((MEGABYTES << 20) + 4096 * next(sizes), np.uint8)])
        pipe.set_outputs(fn.cast(data, dtype=types.INT8))
    pipe.run()
    before = resident()
    for _ in range(BATCHES):
        pipe.run()
    # Eight spare buffers, what is under way, and what the allocator keeps: far below all that was output.
    assert resident() - before < MEGABYTES * BATCHES / 2
