"""Measures one thing after the other and keeps what was found, so that it can be told at any moment."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import cast

from pixelmill.benchmark import machine
from pixelmill.benchmark.agreement import disagreements
from pixelmill.benchmark.contest import SEED, Contestant, MissingError, in_turns
from pixelmill.benchmark.peers import PEERS, Peer
from pixelmill.benchmark.reading import read_storage
from pixelmill.benchmark.report import Absent, BenchReport, Measured, Stage, Storage, Work, verdict
from pixelmill.benchmark.results import is_installed, scaling, speeds
from pixelmill.benchmark.selection import Selection, select, with_indexes
from pixelmill.benchmark.stages import stages
from pixelmill.benchmark.survey import Bad, survey
from pixelmill.benchmark.work import Job, Kind
from pixelmill.engine.placement import Mode, Placement
from pixelmill.errors import DataError, EngineError

OnProgress = Callable[[str, float], object]

INSTALL = "pip install 'pixelmill[bench]'"
TITLES = {
    "train": "random window resized to {0}x{0}, random mirror, normalised float32 CHW",
    "val": "shorter side to {1}, centre crop {0}x{0}, normalised float32 CHW",
    "resize": "whole picture resized to {0}x{0}",
    "read": "read, and nothing else",
}
_QUALIFYING = 1.0  # seconds in which the variants of a peer find out which is the fastest
_BUSY = 0.5  # load of a processor from which on others disturb
_ERROR = re.compile(r"[\w.]*(Error|Exception)\b")
_LONGEST = 300  # characters of a reason
_LISTED = 8  # bad samples that are described


@dataclass(frozen=True)
class Plan:
    """The arguments of `bench`."""

    workload: Kind
    batch_size: int
    threads: int
    size: int
    seconds: float
    rounds: int
    samples: int
    peers: tuple[str, ...]
    mode: Mode
    where: Placement

    @property
    def steps(self) -> list[int]:
        """The numbers of threads to measure: powers of two, and all."""
        powers = [1 << power for power in range(self.threads.bit_length()) if 1 << power < self.threads]
        return [*powers, self.threads]


class Measuring:
    """One run of `bench`.

    Args:
        plan: The arguments.
        folder: For files that are needed meanwhile.
        tell: Called with what is being done, and which share of all is done.
    """

    def __init__(self, plan: Plan, folder: Path, tell: OnProgress) -> None:
        self.plan = plan
        self._folder = folder
        self._on_progress = tell
        self._share = 0.0, 0.0
        self._machine = machine.facts(("pixelmill", "numpy", "pillow"))
        self._selection: Selection | None = None
        self._bad = Bad(frozenset(), ())
        self._storage: list[Storage] = []
        self._stages: tuple[Stage, ...] = ()
        self._own: list[Contestant] = []  # pixelmill, by number of threads
        self._others: dict[str, Contestant] = {}
        self._absent: dict[str, Absent] = {}
        self._notes: list[str] = []
        if self._machine["load_before"] > _BUSY * self._machine["cores"]:
            busy = f"load {self._machine['load_before']} on {self._machine['cores']} processors"
            self._notes.append(f"the machine was busy before ({busy}), so the figures may vary")
        self._kind = plan.workload

    def open(self, source: str | os.PathLike[str] | Sequence[str]) -> None:
        """Open the dataset and choose samples."""
        found = self._selection = select(source, samples=self.plan.samples)
        self._notes += found.notes
        if not found.readable and self._kind != "read":
            self._kind = "read"
            self._notes.append("the samples are no pictures that could be resized, so reading them is measured")

    def rename(self, name: str) -> None:
        """Call the dataset something else."""
        self._selection = replace(self._found, name=name)

    @property
    def _found(self) -> Selection:
        assert self._selection is not None
        return self._selection

    def tell(self, what: str, share: float) -> None:
        """Tell how much of the present part is done."""
        first, behind = self._share
        self._on_progress(what, first + (behind - first) * share)

    def run(self) -> BenchReport:
        """Measure everything."""
        with ExitStack() as stack:
            self._share = 0.0, 0.1
            self._measure_storage()
            self._share = 0.1, 0.2
            self._look()
            self._share = 0.2, 0.3
            self._measure_stages()
            self._share = 0.3, 0.5
            self._start(stack)
            self._share = 0.5, 1.0
            self._contest()
            found = self.report()
            assert found is not None
            return found

    def _measure_storage(self) -> None:
        self.tell("reading alone", 0)
        found, note = read_storage(self._found.ranges, threads=self.plan.threads, seconds=self.plan.seconds)
        self._storage = found
        self._notes += [note] if note else []

    def _look(self) -> None:
        found = self._found
        show = lambda share: self.tell("looking for bad samples", share)  # noqa: E731
        bad = survey(found.source, self._kind, most=self.plan.samples, threads=self.plan.threads, on_batch=show)
        self._bad = bad
        self._selection = found = found.without(set(bad.files))
        if not found.source.files or len(bad.events) >= len(found.ranges):
            raise DataError(f"bench: no sample of {found.name} can be used; the first:\n{bad.events[0]}", bad.events)

    def _measure_stages(self) -> None:
        if self.plan.where.engine != "native":
            self._notes.append("the stages are those of the native engine, and were not measured in this mode")
            return
        self.tell("stage by stage", 0)
        contestant = Contestant(replace(self._job(1), watch=True))
        try:
            contestant.run(self.plan.seconds)
        finally:
            contestant.close()
        self._stages = stages(
            contestant.steps,
            images=contestant.images,
            cpu_seconds=contestant.own_cpu_seconds,
            normalised=self._kind in ("train", "val"),
        )

    def _job(self, threads: int) -> Job:
        where = self.plan.where
        size, batch = self.plan.size, self.plan.batch_size
        return Job(
            "pixelmill",
            "",
            self._kind,
            self._found.source,
            batch,
            threads,
            SEED,
            size=size,
            device=where.device,
            engine=where.engine,
        )

    def _start(self, stack: ExitStack) -> None:
        """Start pixelmill with every number of threads, and of each peer its fastest variant."""
        wanted = [PEERS[name] for name in self.plan.peers]
        missing = {peer.name for peer in wanted if not is_installed(peer)}
        total = len(wanted) + 1
        self.tell("starting pixelmill", 0)
        if "dali" in self.plan.peers and "dali" not in missing and self._found.source.container not in ("files", "npy"):
            self._index_records()
        for threads in self.plan.steps:
            contestant = Contestant(self._job(threads))
            stack.callback(contestant.close)
            contestant.pause()
            self._own.append(contestant)
        for place, peer in enumerate(wanted, start=1):
            self.tell(f"starting {peer.title}", place / total)
            if peer.name in missing:
                self._leave_out(peer, f"{peer.package} is not installed", INSTALL)
            elif peer.name not in self._absent:
                self._start_peer(peer, stack)

    def _index_records(self) -> None:
        self._selection, trouble = with_indexes(self._found, self._folder)
        if trouble is not None:
            self._leave_out(PEERS["dali"], f"it needs an index, which cannot be written: {trouble}")

    def _start_peer(self, peer: Peer, stack: ExitStack) -> None:
        module = importlib.import_module(f"pixelmill.benchmark.peers.{peer.module}")
        source = self._found.source
        variants = cast(tuple[str, ...], module.fastest(self._kind, source))
        if not variants:
            kind = {"tensor": " of raw pixels", "array": " of pixels"}.get(source.content, "")
            self._leave_out(peer, f"it reads {peer.reads} here, not {source.container}{kind} like these")
            return
        tried = []
        try:
            for variant in variants:
                job = replace(self._job(self.plan.threads), peer=peer.module, variant=variant, engine="native")
                contestant = Contestant(job)
                stack.callback(contestant.close)
                tried.append(contestant)
                if len(variants) > 1:
                    contestant.run(min(self.plan.seconds, _QUALIFYING))
                contestant.pause()
        except (MissingError, EngineError) as error:
            missing = isinstance(error, MissingError)
            self._leave_out(peer, _reason(str(error)), INSTALL if missing else None)
            return
        best = max(tried, key=lambda contestant: max(contestant.record.rates, default=0.0))
        best.record.rates.clear()
        best.record.cpu_milliseconds.clear()
        for contestant in tried:
            if contestant is not best:
                contestant.close()
        self._others[peer.name] = best

    def _leave_out(self, peer: Peer, reason: str, install: str | None = None) -> None:
        self._absent[peer.name] = Absent(peer.name, peer.title, reason, install)

    def _contest(self) -> None:
        everybody = [*self._own, *self._others.values()]
        turns = len(everybody) * self.plan.rounds
        done = 0

        def show(contestant: Contestant) -> None:
            nonlocal done
            done += 1
            titles = [PEERS[name].title for name, other in self._others.items() if other is contestant]
            rates = contestant.record.rates
            self.tell(f"{(titles or ['pixelmill'])[0]}: {rates[-1]:,.0f} images/s" if rates else "", done / turns)

        self.tell("taking turns", 0)
        in_turns(
            everybody, rounds=self.plan.rounds, seconds=self.plan.seconds, after_run=show, on_failure=self._drop_out
        )

        others = [other.record for other in self._others.values()]
        for problem in disagreements(self._own[-1].record, others, random=self._job(1).random):
            self._notes.append(f"not the same work: {problem}")

    def _drop_out(self, contestant: Contestant, error: EngineError) -> None:
        """Leave a peer out that failed in the middle; without pixelmill there is nothing to tell."""
        for name, other in list(self._others.items()):
            if other is contestant:
                del self._others[name]
                self._leave_out(PEERS[name], _reason(str(error)))
                return
        raise error

    def report(self, *, complete: bool = True) -> BenchReport | None:
        """Tell what is known by now; nothing before the dataset was opened."""
        if self._selection is None:
            return None
        found, plan = self._selection, self.plan
        size = sum(length for _, _, length in found.ranges)
        report = BenchReport(
            dataset=Measured(
                name=found.name,
                format=found.format,
                samples=found.samples,
                measured=len(found.ranges),
                mean_bytes=round(size / len(found.ranges), 1),
                kinds=found.kinds,
                bad=len(self._bad.events),
                bad_samples=tuple(str(event) for event in self._bad.events[:_LISTED]),
            ),
            work=Work(
                workload=self._kind,
                title=TITLES[self._kind].format(plan.size, self._job(1).shorter),
                batch_size=plan.batch_size,
                size=plan.size,
                threads=plan.threads,
                seconds=plan.seconds,
                rounds=plan.rounds,
                mode=plan.mode,
            ),
            machine=self._machine,
            storage=tuple(self._storage),
            stages=self._stages,
            scaling=scaling(self._own),
            contestants=speeds(self._own[-1] if self._own else None, self._others),
            absent=tuple(self._absent.values()),
            notes=tuple(self._notes),
            complete=complete,
        )
        return replace(report, verdict=verdict(report))


def _reason(message: str) -> str:
    """Find the line that says what happened in the words of a process that has ended."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    behind = [after for line, after in pairwise(lines) if line == "encountered:"]  # how DALI puts it
    errors = [line for line in lines if _ERROR.match(line)]
    return next(iter([*behind, *errors[-1:], *lines[-1:], "it has ended"]))[:_LONGEST]
