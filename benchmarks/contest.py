"""Runs contestants in turns. Each has a process of its own, which stands still while another one runs."""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from data import Dataset
from peers import limit
from workloads import Job, Workload

# Batches before the clock starts: more than any contestant has ready from the time it stood still.
WARM_BATCHES = 5
SEED = 1
RECORD_PEERS = ("pixelmill", "dali")  # who reads TFRecords here


class MissingError(Exception):
    """What a contestant needs is not installed."""


@dataclass(frozen=True)
class Plan:
    """How to measure."""

    threads: int
    rounds: int
    seconds: float | None
    starts: int
    build: Path


@dataclass
class Record:
    """What a contestant did."""

    peer: str
    variant: str
    rates: list[float] = field(default_factory=list)  # pictures a second, for each round
    cpu_milliseconds: list[float] = field(default_factory=list)  # for each picture, for each round
    first_batch_seconds: list[float] = field(default_factory=list)  # since the start of the process, for each start
    peak_memory: int = 0
    batch: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name peer and variant."""
        return f"{self.peer}: {self.variant}" if self.variant else self.peer


class Contestant:
    """A process that makes batches on demand."""

    def __init__(self, job: Job, build: Path) -> None:
        self.record = Record(job.peer, job.variant)
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in close()
        worker = [sys.executable, str(Path(__file__).with_name("worker.py"))]
        command = limit.command(job, build) if job.peer == "limit" else worker
        started = time.monotonic()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            process_group=0,
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
        """End the process and its children."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._log.close()

    def pause(self) -> None:
        """Let the process and its children stand still."""
        os.killpg(self._process.pid, signal.SIGSTOP)

    def run(self, seconds: float) -> None:
        """Let it run for a time, and note what it did."""
        os.killpg(self._process.pid, signal.SIGCONT)
        answer = self._ask({"seconds": seconds, "warm": WARM_BATCHES})
        self.pause()
        self.record.rates.append(answer["images"] / answer["seconds"])
        self.record.cpu_milliseconds.append(1000 * answer["cpu_seconds"] / answer["images"])
        self.record.peak_memory = max(self.record.peak_memory, answer["peak_memory"])

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._log.seek(0)
            raise RuntimeError(f"{self.record.name} has ended:\n{self._log.read()[-4000:]}")
        values: dict[str, Any] = json.loads(answer)
        if "missing" in values:
            raise MissingError(values["missing"])
        return values


def run(
    workload: Workload, data: Dataset, peers: Sequence[str], plan: Plan, tell: Callable[[str], None]
) -> list[Record]:
    """Measure a workload: start every contestant, then let them run in turns, round after round.

    The order is shuffled once, and every round begins with another contestant.
    """
    with ExitStack() as stack:
        contestants = []
        for job in _jobs(workload, data, peers, plan):
            try:
                contestant = _started(job, plan)
            except MissingError as missing:
                tell(f"{workload.name}: {job.peer} is left out: {missing}")
                continue
            stack.callback(contestant.close)
            contestants.append(contestant)
            tell(f"{workload.name}: {contestant.record.name} is ready")
        order = list(contestants)
        random.Random(SEED).shuffle(order)
        for number in range(plan.rounds):
            turn = number % len(order)
            for contestant in order[turn:] + order[:turn]:
                contestant.run(plan.seconds or workload.seconds)
            tell(f"{workload.name}: round {number + 1} of {plan.rounds} is done")
        return [contestant.record for contestant in contestants]


def _jobs(workload: Workload, data: Dataset, peers: Sequence[str], plan: Plan) -> list[Job]:
    records = workload.container == "tfrecord"
    files = [data.packed] if records else data.files
    return [
        Job(peer, variant, workload.kind, files, data.repeats, workload.batch, plan.threads, SEED, workload.container)
        for peer in peers
        if not records or peer in RECORD_PEERS
        for variant in importlib.import_module(f"peers.{peer}").variants(workload.kind, workload.pictures)
    ]


def _started(job: Job, plan: Plan) -> Contestant:
    """Start a process several times for the time of its first batch, and keep the last."""
    times: list[float] = []
    starts = plan.starts if job.peer in ("pixelmill", "dali") else 1
    for number in range(starts):
        contestant = Contestant(job, plan.build)
        times += contestant.record.first_batch_seconds
        if number < starts - 1:
            contestant.close()
    contestant.pause()
    contestant.record.first_batch_seconds = times
    return contestant
