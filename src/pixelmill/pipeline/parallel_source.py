"""Batches of one source that worker processes make ahead of their use, in exact order."""

from __future__ import annotations

from collections import deque

from pixelmill.errors import EngineError
from pixelmill.operators.sources import ExternalSource
from pixelmill.pipeline.source_workers import RemoteSource, SourceWorkers
from pixelmill.types import BatchInfo, SampleInfo


def remote(external: ExternalSource) -> RemoteSource:
    """Describe a source for the workers."""
    return RemoteSource(
        external.source,  # type: ignore[arg-type]
        is_callable=external.is_callable,
        makes_iterators=external.makes_iterators,
        starts_over=external.cycle == "quiet",
    )


class ParallelSource:
    """One source of a pipeline.

    Args:
        workers: The worker processes of the pipeline.
        number: The index of the source among those that the workers run.
        external: The source as the graph has it.
        name: Its name, for messages.
        batch_size: How many samples a batch has.
    """

    def __init__(
        self, workers: SourceWorkers, number: int, external: ExternalSource, *, name: str, batch_size: int
    ) -> None:
        self._workers, self._number, self._external = workers, number, external
        self._name, self._batch_size = name, batch_size
        self._begun: deque[tuple[tuple[int, int], list[int]]] = deque()  # place and requests of batches, in order
        self._epoch: int | None = None
        self._generation: int | None = None
        self._restart = False

    def samples(self, iteration: int, epoch: int) -> list[object]:
        """Return the samples of a batch, or a list with the batch if the source returns batches.

        Args:
            iteration: The number of the batch since the epoch began.
            epoch: The number of the epoch.
        """
        self._leave_others(iteration, epoch)
        for ahead in range(len(self._begun), self._external.ahead + 1):
            self._begun.append(((epoch, iteration + ahead), self._submit(iteration + ahead, epoch)))
        _, tasks = self._begun.popleft()
        try:
            parts = [self._workers.result(task, self._name) for task in tasks]
        except BaseException:
            for task in tasks:
                self._workers.drop(task)
            self._forget()  # what was begun ahead is past the end, or is made again
            raise
        return [sample for part in parts for sample in part]

    def _leave_others(self, iteration: int, epoch: int) -> None:
        """Drop what was begun for another place: after a reset, after a checkpoint was loaded, in a forked child."""
        self._workers.start()
        if self._generation not in (None, self._workers.generation):
            self._begun.clear()
            if not self._external.is_callable:
                raise EngineError(
                    f"external_source {self._name!r}: the worker that ran the iterable is gone; only a callable "
                    "source can continue in a forked process or after an interruption"
                )
        self._generation = self._workers.generation
        restart = self._epoch is not None and self._epoch != epoch and self._external.cycle == "raise"
        moved = bool(self._begun) and self._begun[0][0] != (epoch, iteration)
        if restart or (moved and self._external.is_callable):
            self._forget()
        self._restart, self._epoch = restart, epoch

    def _forget(self) -> None:
        for _, tasks in self._begun:
            for task in tasks:
                self._workers.drop(task)
        self._begun.clear()

    def _submit(self, iteration: int, epoch: int) -> list[int]:
        if not self._external.is_callable:
            restart, self._restart = self._restart, False
            return [self._workers.submit(self._number, None, restart=restart)]
        if not self._external.per_sample:
            info = BatchInfo(iteration, epoch) if self._external.wants_info else iteration
            return [self._workers.submit(self._number, [info])]
        first = iteration * self._batch_size
        infos = [SampleInfo(first + place, place, iteration, epoch) for place in range(self._batch_size)]
        share = -(-self._batch_size // self._workers.count)
        return [
            self._workers.submit(self._number, infos[start : start + share])
            for start in range(0, self._batch_size, share)
        ]
