"""What the core's pools of threads and memory do in a child process after a fork.

Pipelines start a new engine in a child and leave the old one alone, so these tests use the core's executor directly.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

STATM = "/proc/self/statm"
MEGABYTES = 64  # above what the allocator keeps: such a block is returned to the system as soon as it is freed

# A process of its own, since other tests leave threads and memory. A child that hangs is ended by its alarm.
PROGRAM = f"""
import os, signal, sys
from pathlib import Path

import numpy as np

from pixelmill import Pipeline, _core, fn, types


def mapped():
    return int(Path({STATM!r}).read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") / 2**20


pipe = Pipeline(1, 2, None, prefetch_queue_depth=1)
with pipe:
    data = fn.external_source(source=lambda: [np.ones({MEGABYTES} << 20, np.uint8)])
    pipe.set_outputs(fn.cast(data, dtype=types.INT8))
pipe.build()
pipe._schedule.top_up(1, lambda: None, {{}})
(scheduled,) = pipe._schedule.queue
engine, samples = pipe._schedule._engine, scheduled.samples
scheduled.pending.result()
pipe._schedule.queue.clear()
del scheduled  # the batch is gone, and its memory is spare


def run():
    outputs = engine.submit(samples).result().outputs
    assert (outputs[0] == 1).all() and outputs[0].nbytes == {MEGABYTES} << 20
    return outputs


outputs = run() if sys.argv[1] == "free" else None
before = mapped()
child = os.fork()
if child == 0:
    signal.alarm(120)
    if sys.argv[1] == "run":
        run()
    elif sys.argv[1] == "close":
        engine._executor.close()
    elif sys.argv[1] == "exit":
        _core.close_all_executors()
    else:
        del outputs
    print(round(before - mapped()), flush=True)
    os._exit(0)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
outputs = None
run()  # the parent's pool still works
sys.exit(status)
"""


def child_of(action: str) -> int:
    """Let a child do something with what it has from its parent; return how many megabytes it has unmapped."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, action], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


needs_proc = pytest.mark.skipif(not Path(STATM).exists(), reason="memory is read from /proc")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


@needs_proc
@needs_fork
def test_a_child_runs_batches_on_threads_of_its_own() -> None:
    """It has none of its parent's threads, so a batch that is given to the old pool would never be finished."""
    child_of("run")


@needs_proc
@needs_fork
@pytest.mark.parametrize("action", ["close", "exit"])
def test_a_child_leaves_the_pool_of_its_parent_alone(action: str) -> None:
    """It neither waits for threads that are not there nor frees the spare memory, whose lock may be held forever."""
    assert child_of(action) == 0


@needs_proc
@needs_fork
def test_memory_of_the_parent_is_not_kept_by_a_child() -> None:
    """The pool that would keep it belongs to the parent, and its lock may be held forever."""
    assert child_of("free") >= MEGABYTES
