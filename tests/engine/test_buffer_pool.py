"""Memory of outputs is kept for the next batches, but not without end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MEGABYTES = 4
BATCHES = 60
STATM = "/proc/self/statm"

# A process of its own: memory that other tests free or take would count otherwise.
PROGRAM = f"""
import os
from pathlib import Path

import numpy as np

from pixelmill import Pipeline, fn, types


def resident():
    return int(Path({STATM!r}).read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


sizes = iter(range({BATCHES} + 2))
pipe = Pipeline(1, 1, None, prefetch_queue_depth=1)
with pipe:
    data = fn.external_source(source=lambda: [np.zeros(({MEGABYTES} << 20) + 4096 * next(sizes), np.uint8)])
    pipe.set_outputs(fn.cast(data, dtype=types.INT8))
pipe.run()
before = resident()
for _ in range({BATCHES}):
    pipe.run()
print(resident() - before)
"""


@pytest.mark.skipif(not Path(STATM).exists(), reason="memory is read from /proc")
def test_outputs_of_ever_new_sizes_do_not_pile_up() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    # Eight spare buffers, what is under way, and what the allocator keeps: far below all that was output.
    assert float(done.stdout) < MEGABYTES * BATCHES / 2
