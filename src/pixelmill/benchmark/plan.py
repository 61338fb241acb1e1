"""How `bench` measures: its arguments, checked."""

from __future__ import annotations

from dataclasses import dataclass

from pixelmill.benchmark.contest import SEED
from pixelmill.benchmark.report import Work
from pixelmill.benchmark.work import Job, Kind, Source
from pixelmill.engine.placement import Mode, Placement

_TITLES = {
    "train": "random window resized to {0}x{0}, random mirror, normalised float32 CHW",
    "val": "shorter side to {1}, centre crop {0}x{0}, normalised float32 CHW",
    "resize": "whole picture resized to {0}x{0}",
    "read": "read, and nothing else",
}


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

    def job(self, source: Source, *, threads: int) -> Job:
        """Give the work of pixelmill."""
        return Job(
            "pixelmill",
            "",
            self.workload,
            source,
            self.batch_size,
            threads,
            SEED,
            size=self.size,
            device=self.where.device,
            engine=self.where.engine,
        )

    def work(self) -> Work:
        """Describe it for the report."""
        shorter = self.job(Source([]), threads=1).shorter
        return Work(
            workload=self.workload,
            title=_TITLES[self.workload].format(self.size, shorter),
            batch_size=self.batch_size,
            size=self.size,
            threads=self.threads,
            seconds=self.seconds,
            rounds=self.rounds,
            mode=self.mode,
        )
