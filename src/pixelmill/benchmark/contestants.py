"""Runs contestants in turns. Each has its own process, which is paused while another one runs."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from pixelmill.benchmark.workload import PeerTask
from pixelmill.errors import EngineError

# Batches before the clock starts: more than any contestant has ready from the time it stood still.
WARM_BATCHES = 5
SEED = 1
_LOG = 4000  # characters of the output of a process that ended
WORKER = (sys.executable, "-m", "pixelmill.benchmark.worker")


class MissingError(EngineError):
    """What a contestant needs is not installed."""


@dataclass
class Record:
    """What a contestant did."""

    peer: str
    variant: str
    rates: list[float] = field(default_factory=list)  # images per second, for each round
    cpu_milliseconds: list[float] = field(default_factory=list)  # for each image, for each round
    first_batch_seconds: list[float] = field(default_factory=list)  # since the start of the process, for each start
    peak_memory: int = 0
    batch: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name peer and variant."""
        return f"{self.peer}: {self.variant}" if self.variant else self.peer


class Contestant:
    """A process that makes batches on demand.

    Args:
        job: What it does.
        command: The program, where it is another than the worker of this package.
        environment: What is added to the environment.
    """

    def __init__(
        self, job: PeerTask, *, command: Sequence[str] = WORKER, environment: Mapping[str, str] | None = None
    ) -> None:
        if not hasattr(os, "killpg"):
            raise EngineError("bench: contestants are paused in turns, which this operating system cannot do")
        self.job = job
        self.record = Record(job.peer, job.variant)
        self.steps: dict[str, int] = {}  # nanoseconds of each kind of step in the last round, where it is watched
        self.images = 0  # of the last round
        self.own_cpu_seconds = 0.0  # of the last round, without worker processes, exactly
        self._log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed in close()
        started = time.monotonic()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            process_group=0,
            env={**os.environ, **(environment or {})},
        )
        try:
            first = self._ask(asdict(job))
        except BaseException:
            self.close()
            raise
        if "moment" in first:
            self.record.first_batch_seconds.append(first.pop("moment") - started)
            self.record.peak_memory = first.pop("peak_memory")
        self.record.batch = first

    def close(self) -> None:
        """End the process and its children; doing it again does nothing."""
        if self._process.returncode is not None:  # its process id may belong to another process by now
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._log.close()

    def pause(self) -> None:
        """Suspend the process and its children."""
        os.killpg(self._process.pid, signal.SIGSTOP)

    def run(self, seconds: float, *, warm: int = WARM_BATCHES) -> None:
        """Let it make some batches, then run for a time, and note what it did in that time."""
        os.killpg(self._process.pid, signal.SIGCONT)
        answer = self._ask({"seconds": seconds, "warm": warm})
        self.pause()
        self.record.rates.append(answer["images"] / answer["seconds"])
        self.record.cpu_milliseconds.append(1000 * answer["cpu_seconds"] / answer["images"])
        self.record.peak_memory = max(self.record.peak_memory, answer["peak_memory"])
        self.steps, self.images = answer.get("steps", {}), answer["images"]
        self.own_cpu_seconds = answer.get("own_cpu_seconds", 0.0)

    def _ask(self, question: dict[str, object]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._log.seek(0)
            raise EngineError(f"{self.record.name} has ended:\n{self._log.read()[-_LOG:]}")
        values: dict[str, Any] = json.loads(answer)
        if "missing" in values:
            raise MissingError(values["missing"])
        return values


def in_turns(
    contestants: Sequence[Contestant],
    *,
    rounds: int,
    seconds: float,
    after_run: Callable[[Contestant], object] = lambda _: None,
    after_round: Callable[[int], object] = lambda _: None,
    on_failure: Callable[[Contestant, EngineError], object] | None = None,
) -> None:
    """Let contestants run in turns, round after round.

    The order is shuffled once, and every round begins with another contestant.

    Args:
        contestants: Suspended processes.
        rounds: How often each of them runs.
        seconds: How long each of them runs in a round.
        after_run: Called with a contestant after its turn.
        after_round: Called with the number of rounds done.
        on_failure: Called with a contestant that ended, which is then excluded; without it, the error is raised.
    """
    order = list(contestants)
    random.Random(SEED).shuffle(order)
    for number in range(rounds):
        turn = number % max(len(order), 1)
        for contestant in order[turn:] + order[:turn]:
            try:
                contestant.run(seconds)
            except EngineError as error:
                if on_failure is None:
                    raise
                on_failure(contestant, error)
                order.remove(contestant)
            after_run(contestant)
        after_round(number + 1)
