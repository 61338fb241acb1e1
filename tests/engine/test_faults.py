"""A sample of `make faults`: calls that fail once inside the engine, and what a fork leaves at exit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from locations import SUPPORT

PROGRAM = SUPPORT / "engine_faults.py"
needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="the injector is compiled with g++")


@needs_gcc
@pytest.mark.parametrize(
    ("program", "kind", "every"),
    [
        ("readers.file", "memory", 29),
        ("readers.tfrecord", "memory", 31),
        ("external_source", "memory", 23),
        ("readers.file", "read", 7),
        ("readers.tfrecord", "interrupt", 5),
        ("readers.file", "thread", 1),
        ("readers.file", "conversion", 37),
        ("readers.tfrecord", "read", 7),
        ("dropped", "memory", 1),
        ("dropped", "conversion", 3),
        ("dropped, Pillow", "memory", 5),
        ("wrap_files", "write", 1),
    ],
)
def test_a_call_that_fails_once_is_one_error_and_the_next_batch_is_fine(
    program: str, kind: str, every: int, tmp_path: Path
) -> None:
    options = ["--programs", program, "--kinds", kind, "--threads", "2", "--every", str(every)]
    command = [sys.executable, str(PROGRAM), str(tmp_path / "faults"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    result = json.loads(done.stdout)
    assert result["failures"] == [] and done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert result["cases"] > 0
    assert (result["errors"] > 0) == (kind != "interrupt")


FORKS = """
import os, sys
import numpy as np
from pixelmill import Pipeline, _core, fn

pipe = Pipeline(batch_size=2, num_threads=2, device_id=None, seed=1)
with pipe:
    files = [np.frombuffer(_core.encode_jpeg(np.full((40, 40, 3), 9, np.uint8), 90, "4:2:0"), np.uint8)] * 2
    source = fn.external_source(source=lambda: files)
    pipe.set_outputs(fn.resize(fn.decoders.image(source), size=[16, 16]))
pipe.build()
kept = [pipe.run() for _ in range(3)]
pid = os.fork()
if pid == 0:
    if sys.argv[1] == "uses":
        kept.append(pipe.run())
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
pipe.close()
"""


@pytest.mark.parametrize("child", ["leaves", "uses"])
def test_a_forked_child_exits_without_a_report_of_leaks(child: str) -> None:
    command = [sys.executable, "-c", FORKS, child]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


FORKS_IN_A_ROW = """
import io, os
import numpy as np
from PIL import Image
from pixelmill import Pipeline, fn

stream = io.BytesIO()
Image.new("RGB", (8, 8)).save(stream, "webp")  # which Pillow decodes, so that worker threads enter Python
files = [np.frombuffer(stream.getvalue(), np.uint8)] * 64
pipe = Pipeline(batch_size=64, num_threads=8, device_id=None)
with pipe:
    pipe.set_outputs(fn.resize(fn.decoders.image(fn.external_source(source=lambda: files)), size=[8, 8]))
pipe.build()
for _ in range(120):
    pipe.run()
    for _ in range(5):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
pipe.close()
"""


def test_a_fork_while_a_worker_thread_enters_python() -> None:
    """CPython before 3.12 hangs in the child if a thread is being added to its list; one fork in hundreds met it."""
    subprocess.run([sys.executable, "-c", FORKS_IN_A_ROW], timeout=200, check=True)
