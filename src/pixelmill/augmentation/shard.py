"""Making one shard: samples are read, worked on in batches, and written in order, each whole or not at all."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from pixelmill.augmentation.program import Failure, Input, Made, Program, Shape
from pixelmill.augmentation.samples import Prepared, explained, prepare, to_sample
from pixelmill.engine.native import Pending
from pixelmill.engine.placement import placed
from pixelmill.errors import DataError
from pixelmill.formats.dataset import ShardWriter
from pixelmill.formats.sample import Sample
from pixelmill.jobs import ShardFiles
from pixelmill.pipeline import Pipeline

if TYPE_CHECKING:
    from pixelmill.augmentation.job import AugmentJob

_BATCH = 32
_BATCH_BYTES = 16 << 20  # of encoded pictures: so many large ones are not kept in memory


@dataclass(eq=False, slots=True)  # not frozen: one is made for every sample, and frozen ones take twice as long
class _Item:
    """One variant of a sample, or why there is none of a sample."""

    number: int
    variant: int
    source: Prepared | DataError

    @property
    def shape(self) -> Shape | None:
        """The program it needs; None if it needs none."""
        return self.source.shape if isinstance(self.source, Prepared) else None


@dataclass(frozen=True, eq=False)
class _Waiting:
    """A batch under way: what was given to the program, and all items that are written with it."""

    program: Program | None
    pending: Pending | None
    inputs: list[Input]
    items: list[_Item]


class ShardMaker:
    """Makes the samples of one shard, several batches at a time.

    Args:
        job: What is done.
        files: Takes note of progress, and of samples that cannot be used.
        writer: Where the samples go.
    """

    def __init__(self, job: AugmentJob, files: ShardFiles, writer: ShardWriter) -> None:
        self._job = job
        self._files = files
        self._writer = writer
        self._where = placed("augment", job.mode)
        self._batch_size = self._where.batch_size(_BATCH)
        self._waiting: deque[_Waiting] = deque()
        self._number = -1
        self._ready: list[tuple[Sample, str | None]] = []
        self._error: DataError | None = None

    def run(self, numbers: Iterable[int]) -> None:
        """Make everything."""
        enough = 2 * self._files.threads  # samples that keep the threads busy while others come and go
        behind = 0  # samples under way behind the batch that is finished next
        for shape, items in _groups(self._read(numbers), self._batch_size):
            self._begin(shape, items)
            behind += len(items) if len(self._waiting) > 1 else 0
            while len(self._waiting) > 1 and behind >= enough:
                self._finish()
                behind -= len(self._waiting[0].items)
        while self._waiting:
            self._finish()
        self._write()

    def _read(self, numbers: Iterable[int]) -> Iterator[_Item]:
        """Read the samples; each comes once for every variant, and as variant 0 where originals are kept."""
        job = self._job
        for number in numbers:
            try:
                source = prepare(job.dataset.sample(number), number, format=job.format)
            except DataError as error:
                yield _Item(number, 0, error)
                continue
            for variant in range(0 if job.keep_originals else 1, job.variants + 1):
                yield _Item(number, variant, source)

    def _program(self, shape: Shape) -> Program:
        """Compile a program, once for all shards that are made here."""
        job, threads = self._job, self._files.threads
        if (shape, threads) not in job.programs:
            with Pipeline(batch_size=self._batch_size, num_threads=1, device_id=None):
                job.programs[shape, threads] = Program(
                    job.how,
                    shape,
                    seed=job.seed,
                    quality=job.quality,
                    subsampling=job.subsampling,
                    threads=threads,
                    batch_size=self._batch_size,
                    where=self._where,
                )
        return job.programs[shape, threads]

    def _begin(self, shape: Shape | None, items: list[_Item]) -> None:
        inputs = [item.source.variant(item.variant) for item in items if _is_changed(item.source, item.variant)]
        if shape is None or not inputs:
            self._waiting.append(_Waiting(None, None, [], items))
            return
        program = self._program(shape)
        self._waiting.append(_Waiting(program, program.submit(inputs), inputs, items))

    def _finish(self) -> None:
        waiting = self._waiting.popleft()
        results: Iterator[Made | Failure] = iter(())
        if waiting.program is not None and waiting.pending is not None:
            results = iter(waiting.program.take(waiting.pending, waiting.inputs))
        for item in waiting.items:
            if item.number != self._number:
                self._write()
                self._number = item.number
            try:
                self._add(item, next(results) if item.variant > 0 else None)
            except DataError as error:
                self._error = self._error or error

    def _add(self, item: _Item, result: Made | Failure | None) -> None:
        """Make a new sample ready. DataError if it cannot be used."""
        if isinstance(item.source, DataError):
            raise item.source
        sample, job = item.source.sample, self._job
        if isinstance(result, Failure):
            raise explained(result, item.source)
        if result is not None:
            key = job.new_key(sample.key, item.variant)
            sample = to_sample(item.source, result, least=job.visibility, key=key)
        name = None if job.survey is None else job.new_key(job.survey.names[item.number], item.variant)
        self._ready.append((sample, name))

    def _write(self) -> None:
        """Write all variants of a sample, or none where one of them failed."""
        ready, error = self._ready, self._error
        self._ready, self._error = [], None
        if error is not None:
            self._job.reject(self._files, self._number, error)
            return
        for sample, name in ready:
            try:
                self._writer.add(sample, name=name)
            except DataError as unfit:  # the container cannot hold it
                self._job.reject(self._files, self._number, unfit)
                return
            self._files.progress(1, sample.size())


def _is_changed(source: Prepared | DataError, variant: int) -> TypeGuard[Prepared]:
    return variant > 0 and isinstance(source, Prepared)


def _groups(items: Iterable[_Item], most: int) -> Iterator[tuple[Shape | None, list[_Item]]]:
    """Put together neighbours that the same program can work on: up to so many, and fewer where they are large."""
    shape: Shape | None = None
    group: list[_Item] = []
    size = 0
    for item in items:
        other = item.shape is not None and shape is not None and item.shape != shape
        if other or len(group) == most or size >= _BATCH_BYTES:
            yield shape, group
            shape, group, size = None, [], 0
        shape = shape or item.shape
        group.append(item)
        size += item.source.sample.size() if isinstance(item.source, Prepared) else 0
    if group:
        yield shape, group
