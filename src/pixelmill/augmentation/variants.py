"""Variants of samples: those of one sample in memory, and those of a whole shard in batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, TypeGuard

from pixelmill.augmentation.graphs import SampleShape
from pixelmill.augmentation.program import Failure, ProgramInput, ProgramOutput, RecipeProgram
from pixelmill.augmentation.program_cache import ProgramCache, located, program_shapes
from pixelmill.augmentation.samples import PreparedSample, new_sample, prepare, sample_error
from pixelmill.engine.native import Pending
from pixelmill.engine.placement import placement_for
from pixelmill.errors import DataError
from pixelmill.formats.dataset import Dataset, ShardWriter
from pixelmill.formats.sample import Sample
from pixelmill.jobs.shard_files import ShardFiles
from pixelmill.options.augment import AugmentOptions, VariantOptions
from pixelmill.recipe import Recipe

_BATCH = 32
_BATCH_BYTES = 16 << 20  # of encoded images, so that a batch of large ones does not fill the memory
_VARIANTS_AT_ONCE = 8


class VariantMaker:
    """Makes the variants of single samples, in memory: the same bytes that `augment` would write.

    Args:
        recipe: What is done.
        options: How variants are drawn and encoded.
        dataset: The dataset of the samples, for recipes that join several of them.
    """

    def __init__(self, recipe: Recipe, options: VariantOptions, *, dataset: Dataset | None = None) -> None:
        self._options = options
        self._dataset = dataset
        self._programs = ProgramCache(recipe, options, threads=1, batch_size=_VARIANTS_AT_ONCE)

    def make(self, sample: Sample, number: int, *, count: int) -> list[Sample]:
        """Return the first variants of a sample. Raises DataError if the sample or a variant cannot be used.

        Args:
            sample: The sample.
            number: Its number in the dataset.
            count: How many variants.
        """
        source = prepare(sample, number, format=self._options.format)
        items = (
            _Item(number, variant, source, self._programs.others(source, variant, self._dataset))
            for variant in range(1, count + 1)
        )
        made: list[Sample] = []
        for _, group in _groups(items, _VARIANTS_AT_ONCE):
            program = self._programs.program(source.shape, group[0].others)
            batch = [source.variant(item.variant, item.others) for item in group]
            for item, result in zip(group, program.take(program.submit(batch), batch), strict=True):
                if isinstance(result, Failure):
                    raise sample_error(result, source, item.places(self._dataset))
                visibility, others = self._options.visibility, item.others
                made.append(new_sample(source, result, visibility=visibility, key=sample.key, others=others))
        return made

    def close(self) -> None:
        """Stop the threads."""
        self._programs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


class VariantJob(Protocol):
    """What a shard needs of its job."""

    @property
    def options(self) -> AugmentOptions:
        """What is read and written."""

    @property
    def dataset(self) -> Dataset:
        """The dataset that is read."""

    def programs(self, threads: int, refused: tuple[str, ...]) -> ProgramCache:
        """Return the compiled programs, shared by all shards that this process makes."""

    def file_name(self, number: int, variant: int) -> str | None:
        """Return the name of the file of a variant, for containers with one file per sample."""

    def variant_key(self, key: str, variant: int) -> str:
        """Return the key of a variant."""

    def reject(self, files: ShardFiles, number: int, error: DataError | UnicodeError) -> None:
        """Skip a sample."""


@dataclass(eq=False, slots=True)  # not frozen: one is created for every sample, and frozen ones take twice as long
class _Item:
    """One variant of a sample, or why the sample has none."""

    number: int
    variant: int
    source: PreparedSample | DataError
    others: tuple[PreparedSample, ...] = ()

    @property
    def shape(self) -> tuple[SampleShape, ...] | None:
        """The shapes that its program is made for; None if it needs no program."""
        return program_shapes(self.source.shape, self.others) if isinstance(self.source, PreparedSample) else None

    def places(self, dataset: Dataset | None) -> list[str]:
        """Return where the samples are that it is joined with."""
        return [located(dataset, other.number) for other in self.others] if dataset is not None else []


@dataclass(frozen=True, eq=False)
class _Batch:
    """A batch in progress: what the program works on, and all items that are written with it."""

    program: RecipeProgram | None
    pending: Pending | None
    inputs: list[ProgramInput]
    items: list[_Item]


class ShardAugmenter:
    """Writes the variants of one shard: read, process in batches, and write in order.

    All variants of a sample are written, or none if one of them fails.

    Args:
        job: What is done.
        files: Counts progress and bad samples.
        writer: Where the samples go.
    """

    def __init__(self, job: VariantJob, files: ShardFiles, writer: ShardWriter) -> None:
        self._job = job
        self._files = files
        self._writer = writer
        self._programs = job.programs(files.threads, files.refused_notes)
        self._batches: deque[_Batch] = deque()
        self._number = -1
        self._ready: list[tuple[Sample, str | None]] = []
        self._notes: set[str] = set()
        self._error: DataError | None = None

    def run(self, numbers: Iterable[int]) -> None:
        """Write the variants of these samples."""
        enough = 2 * self._files.threads  # samples in progress that keep the threads busy
        following = 0  # samples in progress after the batch that is finished next
        for shape, items in _groups(self._read(numbers), self._programs.batch_size):
            self._submit(shape, items)
            following += len(items) if len(self._batches) > 1 else 0
            while len(self._batches) > 1 and following >= enough:
                self._finish()
                following -= len(self._batches[0].items)
        while self._batches:
            self._finish()
        self._write()

    def _read(self, numbers: Iterable[int]) -> Iterator[_Item]:
        """Yield each sample once for every variant, and as variant 0 if originals are kept."""
        options, numbers = self._job.options, list(numbers)
        self._job.dataset.expect(numbers)
        for number in numbers:
            try:
                source = prepare(self._job.dataset.sample(number), number, format=options.format)
            except DataError as error:
                yield _Item(number, 0, error)
                continue
            if options.keep_originals:
                yield _Item(number, 0, source)
            for variant in range(1, options.variants + 1):
                try:
                    others = self._programs.others(source, variant, self._job.dataset)
                except DataError as error:
                    yield _Item(number, 0, error)
                    break
                yield _Item(number, variant, source, others)

    def _submit(self, shape: tuple[SampleShape, ...] | None, items: list[_Item]) -> None:
        inputs = [
            item.source.variant(item.variant, item.others) for item in items if _is_changed(item.source, item.variant)
        ]
        if shape is None or not inputs:
            self._batches.append(_Batch(None, None, [], items))
            return
        joined = next((item.others for item in items if item.variant > 0), ())
        program = self._programs.program(shape[0], joined)
        self._batches.append(_Batch(program, program.submit(inputs), inputs, items))

    def _finish(self) -> None:
        batch = self._batches.popleft()
        results: Iterator[ProgramOutput | Failure] = iter(())
        if batch.program is not None and batch.pending is not None:
            results = iter(batch.program.take(batch.pending, batch.inputs))
        for item in batch.items:
            if item.number != self._number:
                self._write()
                self._number = item.number
            try:
                self._add(item, next(results) if item.variant > 0 else None)
            except DataError as error:
                self._error = self._error or error  # the first one is reported

    def _add(self, item: _Item, result: ProgramOutput | Failure | None) -> None:
        """Prepare a new sample for writing. Raises DataError if it cannot be used."""
        if isinstance(item.source, DataError):
            raise item.source
        sample, job = item.source.sample, self._job
        if isinstance(result, Failure):
            raise sample_error(result, item.source, item.places(job.dataset))
        if result is not None:
            self._notes.update(result.notes)
            key = job.variant_key(sample.key, item.variant)
            visibility, others = job.options.visibility, item.others
            sample = new_sample(item.source, result, visibility=visibility, key=key, others=others)
        self._ready.append((sample, job.file_name(item.number, item.variant)))

    def _write(self) -> None:
        """Write all variants of a sample, or skip it if one of them failed."""
        ready, notes, error = self._ready, self._notes, self._error
        self._ready, self._notes, self._error = [], set(), None
        if error is not None:
            self._job.reject(self._files, self._number, error)
            return
        for sample, name in ready:
            try:
                self._writer.add(sample, name=name)
            except (DataError, UnicodeError) as unfit:  # the container cannot hold it
                self._job.reject(self._files, self._number, unfit)
                return
            self._files.progress(1, sample.size())
        if notes:
            self._files.note(notes)


def shard_programs(recipe: Recipe, options: AugmentOptions, *, threads: int, refused: Collection[str]) -> ProgramCache:
    """Return the programs of a job on the device of its mode."""
    where = placement_for("augment", options.mode)
    size = where.batch_size(_BATCH)
    return ProgramCache(recipe, options, threads=threads, batch_size=size, where=where, refused=refused)


def _is_changed(source: PreparedSample | DataError, variant: int) -> TypeGuard[PreparedSample]:
    return variant > 0 and isinstance(source, PreparedSample)


def _groups(items: Iterable[_Item], most: int) -> Iterator[tuple[tuple[SampleShape, ...] | None, list[_Item]]]:
    """Group neighbors that the same program can process: up to `most`, fewer if they are large."""
    shape: tuple[SampleShape, ...] | None = None
    group: list[_Item] = []
    size = 0
    for item in items:
        other = item.shape is not None and shape is not None and item.shape != shape
        if other or len(group) == most or size >= _BATCH_BYTES:
            yield shape, group
            shape, group, size = None, [], 0
        shape = shape or item.shape
        group.append(item)
        size += item.source.sample.size() if isinstance(item.source, PreparedSample) else 0
    if group:
        yield shape, group
