"""The time from the start of a program to its first batch, which is reported and not judged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import time
began = time.perf_counter()
from pixelmill import ImageLoader
loader = ImageLoader({source!r}, size=224, batch_size=32, train=True{options})
for batch in loader:
    kinds = " ".join(f"{{tuple(part.shape)}} {{part.dtype}}" for part in batch if hasattr(part, "shape"))
    print(kinds, time.perf_counter() - began)
"""


def report_first_batch(folder: Path, source: str, options: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run an epoch in a new process, print the time to its first batch, and return shapes and types of all batches."""
    program = PROGRAM.format(source=source, options=options)
    command = [sys.executable, "-W", "error::DeprecationWarning:__main__", "-c", program]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    assert "leaked" not in done.stderr
    lines = [line.rpartition(" ") for line in done.stdout.splitlines()]
    with capsys.disabled():
        print(f"[first batch of {source} after {float(lines[0][2]):.2f} s] ", end="")
    return [kinds for kinds, _, _ in lines]
