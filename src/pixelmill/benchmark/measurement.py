"""Measures one thing after another and keeps the results, so that a report can be made at any moment."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import cast

from pixelmill.amounts import counted
from pixelmill.benchmark import environment
from pixelmill.benchmark.agreement import disagreements
from pixelmill.benchmark.bad_samples import BadSamples, find_bad_samples
from pixelmill.benchmark.bench_report import Absent, BenchReport, Measured, Stage, Storage, verdict
from pixelmill.benchmark.contestants import Contestant, MissingError, in_turns
from pixelmill.benchmark.fastest_variant import reason_in, start_fastest
from pixelmill.benchmark.peers import PEERS, Peer
from pixelmill.benchmark.results import is_installed, scaling, speeds
from pixelmill.benchmark.selection import Selection, select, with_indexes
from pixelmill.benchmark.settings import BenchSettings
from pixelmill.benchmark.stage_costs import stages
from pixelmill.benchmark.storage_speed import read_storage
from pixelmill.benchmark.workload import PeerTask
from pixelmill.errors import DataError, EngineError

OnProgress = Callable[[str, float], object]

INSTALL = "pip install 'pixelmill[bench]'"
_FEWEST_BATCHES = 10
_SHORTEST = 1.0  # seconds of a turn; start and end of a batch weigh too much below
_BUSY = 0.5  # load of a processor from which on others disturb
_LISTED = 8  # bad samples that are described


class Measurement:
    """One run of `bench`.

    Args:
        settings: How to measure.
        folder: For files that are needed meanwhile.
        on_progress: Called with what is being done, and the fraction that is done.
    """

    def __init__(self, settings: BenchSettings, folder: Path, on_progress: OnProgress) -> None:
        self.settings = settings
        self._folder = folder
        self._on_progress = on_progress
        self._share = 0.0, 0.0
        self._machine = environment.describe(("pixelmill", "numpy", "pillow"))
        self._selection: Selection | None = None
        self._bad = BadSamples(frozenset(), ())
        self._storage: list[Storage] = []
        self._stages: tuple[Stage, ...] = ()
        self._own: list[Contestant] = []  # pixelmill, by number of threads
        self._others: dict[str, Contestant] = {}
        self._absent: dict[str, Absent] = {}
        self._notes: list[str] = []
        if self._machine["load_before"] > _BUSY * self._machine["cores"]:
            busy = f"load {self._machine['load_before']} on {self._machine['cores']} processors"
            self._notes.append(f"the machine was busy before ({busy}), so the figures may vary")

    def open(self, source: str | os.PathLike[str] | Sequence[str]) -> None:
        """Open the dataset and choose samples."""
        found = self._selection = select(source, samples=self.settings.options.samples)
        self._notes += [*found.notes, *self._too_small(len(found.ranges))]
        if not found.readable and self.settings.workload != "read":
            self.settings = replace(self.settings, workload="read")
            self._notes.append("the samples are not images that could be resized, so only reading is measured")

    def _too_small(self, samples: int) -> list[str]:
        """Return why the figures cannot be trusted, if too little is measured to tell."""
        options = self.settings.options
        found = []
        if samples < _FEWEST_BATCHES * options.batch_size:
            few = f"{counted(samples, 'sample')}, fewer than {_FEWEST_BATCHES} batches of {options.batch_size}"
            found.append(
                f"warning: {few}, are too few to tell how fast a training run would be; measure a larger dataset"
            )
        if options.seconds < _SHORTEST:
            found.append(
                f"warning: turns of {options.seconds:g} s are too short to tell; use --seconds {_SHORTEST:g} or more"
            )
        return found

    def rename(self, name: str) -> None:
        """Call the dataset something else."""
        self._selection = replace(self._found, name=name)

    @property
    def _found(self) -> Selection:
        assert self._selection is not None
        return self._selection

    def report_progress(self, what: str, fraction: float) -> None:
        """Report how much of the current part is done."""
        first, end = self._share
        self._on_progress(what, first + (end - first) * fraction)

    def run(self) -> BenchReport:
        """Measure everything."""
        with ExitStack() as stack:
            parts: dict[Callable[[], None], float] = {  # and about how many seconds they take
                self._measure_storage: 2 * self.settings.options.seconds,
                self._look: 1,
                self._measure_stages: 1 + self.settings.options.seconds,
                lambda: self._start(stack): len(self.settings.thread_counts) + 5 * len(self.settings.peers),
                self._contest: (len(self.settings.thread_counts) + len(self.settings.peers))
                * self.settings.options.rounds
                * self.settings.options.seconds,
            }
            done, total = 0.0, sum(parts.values())
            for part, seconds in parts.items():
                self._share = done / total, (done + seconds) / total
                part()
                done += seconds
            found = self.report()
            assert found is not None
            return found

    def _measure_storage(self) -> None:
        self.report_progress("reading alone", 0)
        found, note = read_storage(
            self._found.ranges, threads=self.settings.threads, seconds=self.settings.options.seconds
        )
        self._storage = found
        self._notes += [note] if note else []

    def _look(self) -> None:
        found = self._found
        show = lambda fraction: self.report_progress("looking for bad samples", fraction)  # noqa: E731
        bad = find_bad_samples(
            found.source,
            self.settings.workload,
            most=self.settings.options.samples,
            threads=self.settings.threads,
            on_batch=show,
        )
        self._bad = bad
        self._selection = found = found.without(set(bad.files))
        if not found.source.files or len(bad.events) >= len(found.ranges):
            raise DataError(f"bench: no sample of {found.name} can be used; the first:\n{bad.events[0]}", bad.events)

    def _measure_stages(self) -> None:
        if self.settings.where.engine != "native":
            self._notes.append("the stages are those of the native engine, and were not measured in this mode")
            return
        self.report_progress("stage by stage", 0)
        contestant = Contestant(replace(self._job(1), watch=True))
        try:
            contestant.run(self.settings.options.seconds)
        finally:
            contestant.close()
        self._stages = stages(
            contestant.steps,
            images=contestant.images,
            cpu_seconds=contestant.own_cpu_seconds,
            normalized=self.settings.workload in ("train", "val"),
        )

    def _job(self, threads: int) -> PeerTask:
        return self.settings.task(self._found.source, threads=threads)

    def _start(self, stack: ExitStack) -> None:
        """Start pixelmill with every number of threads, and of each peer its fastest variant."""
        requested = [PEERS[name] for name in self.settings.peers]
        missing = {peer.name for peer in requested if not is_installed(peer)}
        total = len(requested) + 1
        self.report_progress("starting pixelmill", 0)
        if (
            "dali" in self.settings.peers
            and "dali" not in missing
            and self._found.source.container not in ("files", "npy", "pack")
        ):
            self._index_records()
        for threads in self.settings.thread_counts:
            contestant = Contestant(self._job(threads))
            stack.callback(contestant.close)
            contestant.pause()
            self._own.append(contestant)
        for place, peer in enumerate(requested, start=1):
            self.report_progress(f"starting {peer.title}", place / total)
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
        variants = cast(tuple[str, ...], module.fastest(self.settings.workload, source))
        if not variants:
            kind = {"tensor": " of raw pixels", "array": " of pixels"}.get(source.content, "")
            self._leave_out(peer, f"it reads {peer.reads} here, not {source.container}{kind} like these")
            return
        own = replace(self._job(self.settings.threads), peer=peer.module, engine="native")
        jobs = [replace(own, variant=variant) for variant in variants]
        try:
            self._others[peer.name] = start_fastest(jobs, seconds=self.settings.options.seconds, stack=stack)
        except EngineError as error:
            self._leave_out(peer, reason_in(str(error)), INSTALL if isinstance(error, MissingError) else None)

    def _leave_out(self, peer: Peer, reason: str, install: str | None = None) -> None:
        self._absent[peer.name] = Absent(peer.name, peer.title, reason, install)

    def _contest(self) -> None:
        contestants = [*self._own, *self._others.values()]
        turns = len(contestants) * self.settings.options.rounds
        done = 0

        def show(contestant: Contestant) -> None:
            nonlocal done
            done += 1
            titles = [PEERS[name].title for name, other in self._others.items() if other is contestant]
            rates = contestant.record.rates
            self.report_progress(
                f"{(titles or ['pixelmill'])[0]}: {rates[-1]:,.0f} images/s" if rates else "", done / turns
            )

        self.report_progress("taking turns", 0)
        in_turns(
            contestants,
            rounds=self.settings.options.rounds,
            seconds=self.settings.options.seconds,
            after_run=show,
            on_failure=self._drop_out,
        )
        others = [other.record for other in self._others.values()]
        for problem in disagreements(self._own[-1].record, others, random=self._job(1).random):
            self._notes.append(f"not the same work: {problem}")

    def _drop_out(self, contestant: Contestant, error: EngineError) -> None:
        """Leave a peer out that failed in the middle; without pixelmill there is nothing to report."""
        for name, other in list(self._others.items()):
            if other is contestant:
                del self._others[name]
                self._leave_out(PEERS[name], reason_in(str(error)))
                return
        raise error

    def report(self, *, complete: bool = True) -> BenchReport | None:
        """Return what is known so far; None before the dataset was opened."""
        if self._selection is None:
            return None
        report = BenchReport(
            dataset=self._measured(self._selection),
            work=self.settings.work(),
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

    def _measured(self, found: Selection) -> Measured:
        size = sum(length for _, _, length in found.ranges)
        return Measured(
            name=found.name,
            format=found.format,
            samples=found.samples,
            measured=len(found.ranges),
            mean_bytes=round(size / len(found.ranges), 1),
            kinds=found.kinds,
            bad=len(self._bad.events),
            bad_samples=tuple(str(event) for event in self._bad.events[:_LISTED]),
        )
