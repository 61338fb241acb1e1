"""Runs the contestants of a workload in turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import extra_peers
from data import Dataset
from extra_peers import limit
from workloads import Workload

from pixelmill.benchmark.contestants import SEED, WORKER, Contestant, MissingError, Record, in_turns
from pixelmill.benchmark.workload import PeerTask, Source

RECORD_PEERS = ("pixelmill", "dali")  # those that read TFRecords here


@dataclass(frozen=True)
class Plan:
    """How to measure."""

    threads: int
    rounds: int
    seconds: float | None
    starts: int
    build: Path


def run(
    workload: Workload, data: Dataset, names: Sequence[str], plan: Plan, tell: Callable[[str], None]
) -> list[Record]:
    """Measure a workload: start every contestant, then run them in turns, round after round."""
    return run_tasks(workload, _jobs(workload, data, names, plan), plan, tell)


def run_tasks(workload: Workload, tasks: Sequence[PeerTask], plan: Plan, tell: Callable[[str], None]) -> list[Record]:
    """Measure the tasks of a workload in turns."""
    with ExitStack() as stack:
        contestants = []
        for job in tasks:
            try:
                contestant = _started(job, plan)
            except MissingError as missing:
                tell(f"{workload.name}: {job.peer} is left out: {missing}")
                continue
            stack.callback(contestant.close)
            contestants.append(contestant)
            tell(f"{workload.name}: {contestant.record.name} is ready")
        in_turns(
            contestants,
            rounds=plan.rounds,
            seconds=plan.seconds or workload.seconds,
            after_round=lambda done: tell(f"{workload.name}: round {done} of {plan.rounds} is done"),
        )
        return [contestant.record for contestant in contestants]


def peaks_of_memory(tasks: Sequence[PeerTask], batches: int, plan: Plan) -> list[float]:
    """Return the peaks of memory after the same number of batches, medians over processes that take turns."""
    peaks: list[list[int]] = [[] for _ in tasks]
    for _ in range(plan.rounds):
        for task, found in zip(tasks, peaks, strict=True):
            with closing(_started(task, replace(plan, starts=1))) as contestant:
                contestant.run(0.01, warm=batches)
                found.append(contestant.record.peak_memory)
    return [median(found) for found in peaks]


def _jobs(workload: Workload, data: Dataset, names: Sequence[str], plan: Plan) -> list[PeerTask]:
    records = workload.container == "tfrecord"
    source = Source(data.files, repeats=data.repeats)
    if records:
        source = Source([data.packed], "tfrecord", indexes=[f"{data.packed}.idx"], repeats=data.repeats)
    return [
        task for peer in names if not records or peer in RECORD_PEERS for task in tasks(peer, workload, source, plan)
    ]


def tasks(peer: str, workload: Workload, source: Source, plan: Plan) -> list[PeerTask]:
    """Return the tasks of a peer: one for each way to do the work."""
    package = extra_peers.package_of(peer, workload)
    shared = (workload.kind, source, workload.batch, plan.threads, SEED)
    ways = extra_peers.variants(peer, workload, source)
    return [PeerTask(peer, variant, *shared, package=package) for variant in ways]


def _started(job: PeerTask, plan: Plan) -> Contestant:
    """Start a process several times to measure the time of its first batch, and keep the last one."""
    times: list[float] = []
    starts = plan.starts if job.peer in ("pixelmill", "dali", "pack") else 1
    command = limit.command(job, plan.build) if job.peer == "limit" else WORKER
    here = {"PYTHONPATH": str(Path(__file__).resolve().parent)}  # for the modules of extra_peers
    for number in range(starts):
        contestant = Contestant(job, command=command, environment=here)
        times += contestant.record.first_batch_seconds
        if number < starts - 1:
            contestant.close()
    contestant.pause()
    contestant.record.first_batch_seconds = times
    return contestant
