"""What happens to a process in the middle of an epoch of a long training run."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

STOPPED_SECONDS = 0.2


def stop_and_continue() -> None:
    """Let another process stop this one with SIGSTOP and continue it."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.kill(parent, signal.SIGSTOP)
        time.sleep(STOPPED_SECONDS)
        os.kill(parent, signal.SIGCONT)
        os._exit(0)
    _wait(pid)


def fork_and_compare(batches: Iterator[Any]) -> bytes | None:
    """Fork; return the digest of the next batch in the child, which takes it from the pipeline that it inherits.

    The digest is None if there are no more batches.
    """
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            batch = next(batches, None)
            os.write(there, b"" if batch is None else digest(batch))
            code = 0
        finally:
            os._exit(code)  # not sys.exit, which would remove the images
    os.close(there)
    with os.fdopen(here, "rb") as stream:
        found = stream.read()
    _wait(pid)
    return found or None


def digest(batch: Any) -> bytes:
    """Return a hash of the images of a batch."""
    return hashlib.sha256(np.ascontiguousarray(batch["images"]).tobytes()).digest()


def _wait(pid: int) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code != 0:
        sys.exit(f"a child ended with {code}")
