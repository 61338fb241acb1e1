"""A long training run that is disturbed all the time; soak.py starts it.

One image in a hundred is damaged. A timer interrupts system calls. In turn, an epoch is stopped (SIGSTOP) and
continued, forked in its middle, or followed by a new pipeline that resumes with another number of threads.
"""

from __future__ import annotations

import gc
import hashlib
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill import Loader, Pipeline, fn
from pixelmill.create import create_photo_folder

COUNT, BAD, BATCH = 500, 5, 32
THREADS = (2, 1, 4, 3, 8)
TIMER_SECONDS = 0.02
STOPPED_SECONDS = 0.3
Disturbance = Callable[[Iterator[Any]], bytes | None]  # may return the digest that the next batch must have


def make_files(folder: Path) -> None:
    """Write the images, and cut one in a hundred."""
    create_photo_folder(folder, COUNT)
    for path in _paths(folder)[:: COUNT // BAD]:
        path.write_bytes(path.read_bytes()[:2000])


def run(folder: Path, seconds: float) -> dict[str, Any]:
    """Run epochs until the time is over; end the process at the first that is wrong."""
    ticks: Counter[str] = Counter()
    signal.signal(signal.SIGALRM, lambda *_: ticks.update(["signals"]))
    signal.setitimer(signal.ITIMER_REAL, TIMER_SECONDS, TIMER_SECONDS)
    loader = _loader(folder, THREADS[0])
    history: list[dict[str, float]] = []
    began = time.monotonic()
    try:
        while time.monotonic() - began < seconds:
            number = len(history)
            disturbance = DISTURBANCES[number % len(DISTURBANCES)]
            _check_epoch(loader, folder, number, disturbance, ticks)
            if disturbance is None:
                loader = _resized(loader, folder, THREADS[ticks["resizes"] % len(THREADS)])
                ticks["resizes"] += 1
            history.append({"seconds": time.monotonic() - began, **_counters()})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        loader.pipeline.close()
    return _figures(history, ticks)


def _paths(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.jpg"))


def _loader(folder: Path, threads: int) -> Loader:
    """Return a loader whose labels are the numbers of the files."""
    paths = _paths(folder)
    pipeline = Pipeline(batch_size=BATCH, num_threads=threads, seed=11, on_error="skip")
    with pipeline:
        encoded, labels = fn.readers.file(
            files=[str(path) for path in paths], labels=list(range(COUNT)), random_shuffle=True, name="Reader"
        )
        images = fn.random_resized_crop(fn.decoders.image(encoded), size=160)
        mirror = fn.random.coin_flip()
        pipeline.set_outputs(
            fn.crop_mirror_normalize(images, mirror=mirror, mean=[124, 116, 104], std=[58, 57, 57]), labels
        )
    return Loader(pipeline, ["images", "labels"])


def _resized(loader: Loader, folder: Path, threads: int) -> Loader:
    state = loader.state_dict()
    loader.pipeline.close()
    other = _loader(folder, threads)
    other.load_state_dict(state)
    return other


def _check_epoch(
    loader: Loader,
    folder: Path,
    number: int,
    disturbance: Disturbance | None,
    ticks: Counter[str],
) -> None:
    """Run one epoch: all good samples come, as many as there are files, and exactly the damaged files are named."""
    paths = _paths(folder)
    bad = {str(path) for path in paths[:: COUNT // BAD]}
    known = len(loader.errors)
    seen: Counter[int] = Counter()
    batches = iter(loader)
    expected: bytes | None = None
    for place, batch in enumerate(batches):
        seen.update(np.ravel(batch["labels"]).tolist())
        if expected is not None and _digest(batch) != expected:
            sys.exit(f"epoch {number}: batch {place} of a forked child differs")
        expected = None
        if place == 3 and disturbance is not None:
            expected = disturbance(batches)
            ticks[disturbance.__name__] += 1
    named = [str(event.path) for event in list(loader.errors.events)[-(len(loader.errors) - known) :]]
    good = {place for place, path in enumerate(paths) if str(path) not in bad}
    if seen.total() != COUNT or set(seen) != good or sorted(named) != sorted(bad):
        sys.exit(f"epoch {number}: {seen.total()} samples, {len(good - set(seen))} missing, errors: {named}")
    ticks["samples"] += COUNT
    ticks["named"] += len(named)


# What is done to a run in the middle of an epoch


def stops(batches: Iterator[Any]) -> None:
    """Let another process stop and continue this one."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.kill(parent, signal.SIGSTOP)
        time.sleep(STOPPED_SECONDS)
        os.kill(parent, signal.SIGCONT)
        os._exit(0)
    _wait(pid)


def forks(batches: Iterator[Any]) -> bytes:
    """Fork; return the digest of the next batch in the child, which takes it from the pipeline that it inherits."""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.write(there, _digest(next(batches)))
            code = 0
        finally:
            os._exit(code)  # not sys.exit, which would remove the images
    os.close(there)
    with os.fdopen(here, "rb") as stream:
        digest = stream.read()
    _wait(pid)
    return digest


def _digest(batch: Any) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(batch["images"]).tobytes()).digest()


def _wait(pid: int) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code != 0:
        sys.exit(f"a child ended with {code}")


DISTURBANCES: tuple[Disturbance | None, ...] = (stops, forks, None)


# Figures


def _counters() -> dict[str, float]:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "mb": pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        "threads": len(list(Path("/proc/self/task").iterdir())),
        "files": len(list(Path("/proc/self/fd").iterdir())),
    }


def _figures(history: list[dict[str, float]], ticks: Counter[str]) -> dict[str, Any]:
    late = history[len(history) // 4 :]  # caches and allocators have settled
    hours = [entry["seconds"] / 3600 for entry in late]
    slope = float(np.polyfit(hours, [entry["mb"] for entry in late], 1)[0]) if len(late) > 2 else float("nan")
    return {
        "seconds": round(history[-1]["seconds"]),
        "epochs": len(history),
        **ticks,
        "mb_quarters": [round(history[len(history) * part // 4 - 1]["mb"], 1) for part in range(1, 5)],
        "mb_per_hour": round(slope, 2),
        "threads_most": max(entry["threads"] for entry in history),
        "files": [history[0]["files"], history[-1]["files"]],
        "load": round(os.getloadavg()[0], 1),
    }
