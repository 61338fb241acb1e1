"""How `bench` measures: its options with everything resolved."""

from __future__ import annotations

from dataclasses import dataclass

from pixelmill.benchmark.bench_report import Work
from pixelmill.benchmark.contestants import SEED
from pixelmill.benchmark.workload import Kind, PeerTask, Source
from pixelmill.engine.placement import Placement
from pixelmill.options.bench import BenchOptions

_TITLES = {
    "train": "random window resized to {0}x{0}, random mirror, normalized float32 CHW",
    "val": "shorter side to {1}, center crop {0}x{0}, normalized float32 CHW",
    "resize": "whole image resized to {0}x{0}",
    "read": "read, and nothing else",
}


@dataclass(frozen=True)
class BenchSettings:
    """The options of `bench`, resolved.

    Attributes:
        options: The options of the caller.
        workload: What is measured; reading alone if the data cannot be decoded.
        threads: Threads of each contestant.
        peers: The names of the peers.
        where: The engine and its GPU.
    """

    options: BenchOptions
    workload: Kind
    threads: int
    peers: tuple[str, ...]
    where: Placement

    @property
    def thread_counts(self) -> list[int]:
        """The numbers of threads to measure: powers of two, and all."""
        powers = [1 << power for power in range(self.threads.bit_length()) if 1 << power < self.threads]
        return [*powers, self.threads]

    def task(self, source: Source, *, threads: int) -> PeerTask:
        """Return the work of pixelmill."""
        return PeerTask(
            "pixelmill",
            "",
            self.workload,
            source,
            self.options.batch_size,
            threads,
            SEED,
            size=self.options.size,
            device=self.where.device,
            engine=self.where.engine,
        )

    def work(self) -> Work:
        """Describe the work for the report."""
        shorter = self.task(Source([]), threads=1).shorter
        return Work(
            workload=self.workload,
            title=_TITLES[self.workload].format(self.options.size, shorter),
            batch_size=self.options.batch_size,
            size=self.options.size,
            threads=self.threads,
            seconds=float(self.options.seconds),
            rounds=self.options.rounds,
            mode=self.options.mode,
        )
