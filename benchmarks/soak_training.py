"""A long training run that is disturbed all the time; soak.py starts it.

One image in a hundred is damaged. A timer interrupts system calls. Several times in each epoch the process is stopped
(SIGSTOP) and continued, forked, interrupted by an exception of a signal handler, or goes on with a new pipeline that
has another number of threads. Every epoch must deliver every good sample, as many samples as there are files, and name
exactly the damaged files with the right kinds.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import soak_files
from soak_disturbances import digest, fork_and_compare, stop_and_continue
from soak_growth import History

from pixelmill import Loader, Pipeline, fn

BATCH = 128
BATCHES_PER_DISTURBANCE = 10
THREADS = (2, 1, 4, 3, 8)
TIMER_SECONDS = 0.02
EPOCHS_PER_LINE = 100
LONGEST_EPOCH = 600.0  # seconds; a hang is named, not waited for


class Training:
    """Training over a folder of `soak_files`, epoch by epoch.

    Args:
        folder: The folder.
        count: The number of its files.
        leak: Called after every epoch.

    Attributes:
        done: How much was done so far: samples, events, disturbances of each kind, signals.
        history: What the process used at the end of each epoch.
        seconds: The time from the start to the end of the last epoch.
    """

    def __init__(self, folder: Path, count: int, *, leak: Callable[[], None] | None = None) -> None:
        self._leak = leak
        self.done: Counter[str] = Counter()
        self.history = History()
        self._paths = soak_files.paths(folder, count)
        self._expected = soak_files.damaged(self._paths)
        self._interrupt = False
        self._open(THREADS[0])

    def run(self, *, seconds: float, samples: int) -> None:
        """Run epochs until both the time is over and enough samples were delivered; exit at the first wrong one."""
        signal.signal(signal.SIGALRM, self._tick)
        signal.setitimer(signal.ITIMER_REAL, TIMER_SECONDS, TIMER_SECONDS)
        began = time.monotonic()
        try:
            while time.monotonic() - began < seconds or self.done["samples"] < samples:
                faulthandler.dump_traceback_later(LONGEST_EPOCH, exit=True)
                self._run_epoch()
                if self._leak is not None:
                    self._leak()
                self.seconds = time.monotonic() - began
                self.history.add(seconds=self.seconds, samples=self.done["samples"], pool=self._threads)
                if len(self.history) % EPOCHS_PER_LINE == 0:
                    print(self.history.last(), file=sys.stderr, flush=True)
        finally:
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._loader.pipeline.close()

    def _tick(self, *_: object) -> None:
        self.done["signals"] += 1
        if self._interrupt:
            self._interrupt = False
            raise KeyboardInterrupt

    def _open(self, threads: int) -> None:
        """Start a pipeline whose labels are the numbers of the files."""
        self._threads = threads
        pipeline = Pipeline(
            batch_size=BATCH, num_threads=threads, seed=11, on_error="skip", max_errors=len(self._expected)
        )
        with pipeline:
            encoded, labels = fn.readers.file(
                files=self._paths, labels=list(range(len(self._paths))), random_shuffle=True, name="Reader"
            )
            images = fn.random_resized_crop(fn.decoders.image(encoded), size=32)
            mirror = fn.random.coin_flip()
            pipeline.set_outputs(
                fn.crop_mirror_normalize(images, mirror=mirror, mean=[124, 116, 104], std=[58, 57, 57]), labels
            )
        self._loader = Loader(pipeline, ["images", "labels"])

    def _reopen(self, state: dict[str, Any], threads: int) -> Iterator[Any]:
        self._loader.pipeline.close()
        self._open(threads)
        self._loader.load_state_dict(state)
        return iter(self._loader)

    def _run_epoch(self) -> None:
        number = len(self.history)
        seen = np.zeros(len(self._paths), np.int64)
        named: list[tuple[str, str]] = []
        batches, place, expected = iter(self._loader), 0, None
        self._known = len(self._loader.errors)
        while (batch := next(batches, None)) is not None:
            np.add.at(seen, np.ravel(batch["labels"]), 1)
            if expected is not None and digest(batch) != expected:
                sys.exit(f"epoch {number}: the batch after {place} differs in a forked child")
            place, expected = place + 1, None
            if place % BATCHES_PER_DISTURBANCE == 0:
                batches, expected = self._disturb(batches, named)
        named += self._new_events()
        self._check(number, seen, named)

    def _new_events(self) -> list[tuple[str, str]]:
        """Return path and kind of the errors since the last call."""
        errors = self._loader.errors
        new = len(errors) - self._known
        self._known += new
        return [(str(event.path), event.kind) for event in list(errors.events)[len(errors.events) - new :]]

    def _disturb(self, batches: Iterator[Any], named: list[tuple[str, str]]) -> tuple[Iterator[Any], bytes | None]:
        """Do the next harm; return the iterator to go on with, and the digest that its next batch must have."""
        kind = ("stops", "forks", "resizes", "interrupts")[self.done["disturbances"] % 4]
        self.done.update(["disturbances", kind])
        if kind == "stops":
            stop_and_continue()
            return batches, None
        if kind == "forks":
            return batches, fork_and_compare(batches)
        named += self._new_events()
        state = self._loader.state_dict()
        if kind == "interrupts":
            self._run_until_interrupted(batches)
            batches = self._reopen(state, self._threads)
        else:
            batches = self._reopen(state, THREADS[self.done["resizes"] % len(THREADS)])
        self._known = 0
        return batches, None

    def _run_until_interrupted(self, batches: Iterator[Any]) -> None:
        """Let the next tick raise KeyboardInterrupt somewhere inside of the pipeline, whose batches are lost."""
        try:
            self._interrupt = True
            while next(batches, None) is not None:
                pass
        except KeyboardInterrupt:
            pass
        self._interrupt = False

    def _check(self, number: int, seen: np.ndarray[Any, Any], named: list[tuple[str, str]]) -> None:
        good = np.array([path not in self._expected for path in self._paths])
        right = seen.sum() == len(seen) and (seen[good] > 0).all() and not seen[~good].any()
        if not right or sorted(named) != sorted(self._expected.items()):
            unexpected = sorted(set(named) ^ set(self._expected.items()))[:8]
            counts = f"{seen.sum()} samples, {(seen[good] == 0).sum()} missing, {seen[~good].sum()} damaged"
            sys.exit(f"epoch {number}: {counts}; {len(named)} errors, not as expected: {unexpected}")
        self.done["samples"] += int(seen.sum())
        self.done["named"] += len(named)
