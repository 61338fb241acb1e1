"""The bulk job that augments a dataset."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from pixelmill.augmentation.program import Failure, Input, Program, Shape
from pixelmill.augmentation.samples import MaskKind, shape_of, to_input, to_sample
from pixelmill.conversion.dataset_job import HOW, DatasetJob
from pixelmill.conversion.survey import Survey, survey
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.adapters.tfrecord_keys import CONVENTIONS, INCEPTION
from pixelmill.formats.dataset import Dataset, ShardWriter
from pixelmill.formats.registry import FILE_FORMATS, open_dataset, open_shard, shard_names
from pixelmill.formats.sample import Sample
from pixelmill.jobs import ShardFiles, ShardPlan, ShardReport
from pixelmill.pipeline import Pipeline
from pixelmill.recipe import Recipe, load_recipe

_BATCH = 8
_UNDER_WAY = 3  # batches


@dataclass(frozen=True)
class Shard:
    """The samples of one shard and the names of its files."""

    first: int
    behind: int
    names: Mapping[str, str]


@dataclass(frozen=True)
class AugmentJob(DatasetJob):
    """Write variants of all samples of a dataset. The fields are the arguments of `augment`."""

    kind = "augment"

    source: str | tuple[str, ...] = field(metadata=HOW)
    recipe: str = field(metadata=HOW)
    recipe_content: Mapping[str, Any]
    to: str
    variants: int = 1
    keep_originals: bool = False
    seed: int = 0
    format: str | None = None
    quality: int = 90
    subsampling: str = "4:2:0"
    visibility: float = 0.3
    samples_per_shard: int = 1000
    limit: int | None = None

    @cached_property
    def dataset(self) -> Dataset:
        """The dataset that is read."""
        return open_dataset(self.source)

    @cached_property
    def how(self) -> Recipe:
        """The recipe, as it was when the job was planned."""
        recipe = load_recipe(self.recipe)
        if json.dumps(recipe.content()) != json.dumps(self.recipe_content):  # workers have tuples for lists
            raise ArgumentError(f"augment: the recipe {self.recipe} has changed since the job was planned")
        return recipe

    @property
    def length(self) -> int:
        """How many samples are read."""
        return len(self.dataset) if self.limit is None else min(self.limit, len(self.dataset))

    @property
    def samples(self) -> int | None:
        """Number of samples to write."""
        return self.length * (self.variants + int(self.keep_originals))

    @cached_property
    def parts(self) -> list[Shard]:
        """All shards: an input file each where the container stays, else pieces of equal length."""
        if self.to == self.dataset.format and self.to not in FILE_FORMATS:
            return self._parts_by_file()
        edges = [*range(0, self.length, self.samples_per_shard), self.length]
        count = len(edges) - 1
        return [
            Shard(edges[number], edges[number + 1], shard_names(self.to, number=number, count=count))
            for number in range(count)
        ]

    def _parts_by_file(self) -> list[Shard]:
        files = self.dataset.index.files[: self.length]
        parts = []
        for number, path in enumerate(self.dataset.files):
            inside = (files == number).nonzero()[0]
            if len(inside):
                parts.append(Shard(int(inside[0]), int(inside[-1]) + 1, _names(self.to, file_name(path))))
        names = [part.names["records"] for part in parts]
        if len(set(names)) < len(names):
            raise ArgumentError(
                "augment: two inputs have the same name; augment them one by one into folders of their own"
            )
        return parts

    @cached_property
    def survey(self) -> Survey | None:
        """The names of all files, for containers with a file for each sample."""
        return survey(self.dataset, range(self.length), to=self.to) if self.to in FILE_FORMATS else None

    @cached_property
    def shards(self) -> Sequence[ShardPlan]:
        """The files of each shard; images and masks of folders are named by `survey`."""
        return [ShardPlan(number, tuple(part.names.values())) for number, part in enumerate(self.parts)]

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        """Write the variants of the samples of one shard."""
        if number == 0:
            self.reject_faults(files)
        with open_shard(
            self.to, files.open, names=self.parts[number].names, **self.writer_options(self._keys())
        ) as writer:
            _ShardMaker(self, files, writer).run(self.parts[number])
        return ShardReport(samples=writer.samples)

    def _keys(self) -> str:
        """Keep the keys of TFRecords that are read."""
        own = self.dataset.layout.partition(" ")[0] if self.dataset.format == "tfrecord" else ""
        return own if own in CONVENTIONS else INCEPTION.name


@dataclass(frozen=True, eq=False)
class _Waiting:
    """A batch under way: what was given to the program, and whose it is."""

    program: Program
    shape: Shape
    pending: Any
    inputs: list[Input]
    samples: list[tuple[Sample, MaskKind | None]]


class _ShardMaker:
    """Makes the samples of one shard, several batches at a time, and writes them in order."""

    def __init__(self, job: AugmentJob, files: ShardFiles, writer: ShardWriter) -> None:
        self._job = job
        self._files = files
        self._writer = writer
        self._programs: dict[Shape, Program] = {}
        self._waiting: deque[_Waiting] = deque()

    def run(self, part: Shard) -> None:
        """Make everything."""
        try:
            for shape, group in _groups(self._read(part)):
                self._begin(shape, group)
                while len(self._waiting) >= _UNDER_WAY:
                    self._finish()
            while self._waiting:
                self._finish()
        finally:
            for program in self._programs.values():
                program.close()

    def _read(self, part: Shard) -> Iterator[tuple[Shape, Input, Sample, MaskKind | None]]:
        """Read the samples; each comes once for every variant, and as variant 0 where originals are kept."""
        dataset = self._job.dataset
        for number in range(part.first, part.behind):
            try:
                sample = dataset.sample(number)
                shape = shape_of(sample, self._job.format)
                for variant in range(0 if self._job.keep_originals else 1, self._job.variants + 1):
                    made, kind = to_input(sample, number, variant)
                    yield shape, made, sample, kind
            except DataError as error:
                event = error.events[0] if error.events else dataset.event(number, "corrupt", str(error))
                self._files.reject(event, dataset.raw(number), extension="bin")

    def _begin(self, shape: Shape, group: list[tuple[Input, Sample, MaskKind | None]]) -> None:
        if shape not in self._programs:
            job = self._job
            with Pipeline(batch_size=_BATCH, num_threads=1, device_id=None):
                self._programs[shape] = Program(
                    job.how,
                    shape,
                    seed=job.seed,
                    quality=job.quality,
                    subsampling=job.subsampling,
                    threads=self._files.threads,
                )
        program = self._programs[shape]
        inputs = [made for made, _, _ in group]
        changed = [made for made in inputs if made.variant > 0]
        pending = program.submit(changed) if changed else None
        self._waiting.append(_Waiting(program, shape, pending, inputs, [(sample, kind) for _, sample, kind in group]))

    def _finish(self) -> None:
        waiting = self._waiting.popleft()
        changed = [made for made in waiting.inputs if made.variant > 0]
        results = iter(waiting.program.take(waiting.pending, changed) if changed else ())
        for made, (sample, kind) in zip(waiting.inputs, waiting.samples, strict=True):
            if made.variant == 0:
                self._write(sample, made)
                continue
            result = next(results)
            if isinstance(result, Failure):
                event = self._job.dataset.event(made.number, result.kind, result.message)
                self._files.reject(event, sample.image, extension=sample.extension)
                continue
            new = to_sample(
                sample,
                result,
                kind,
                format=waiting.shape.format,
                least=self._job.visibility,
                key=self._key(sample.key, made.variant),
            )
            self._write(new, made)

    def _write(self, sample: Sample, made: Input) -> None:
        name = None
        if self._job.survey is not None:
            name = self._key(self._job.survey.names[made.number], made.variant)
        self._writer.add(sample, name=name)
        self._files.progress(1, sample.size())

    def _key(self, key: str, variant: int) -> str:
        several = self._job.variants > 1 or self._job.keep_originals
        return f"{key}-{variant}" if several and variant > 0 else key


def _groups(
    samples: Iterable[tuple[Shape, Input, Sample, MaskKind | None]],
) -> Iterator[tuple[Shape, list[tuple[Input, Sample, MaskKind | None]]]]:
    """Put together neighbours that the same program can work on."""
    shape: Shape | None = None
    group: list[tuple[Input, Sample, MaskKind | None]] = []
    for next_shape, made, sample, kind in samples:
        if group and (next_shape != shape or len(group) == _BATCH):
            assert shape is not None
            yield shape, group
            group = []
        shape = next_shape
        group.append((made, sample, kind))
    if group and shape is not None:
        yield shape, group


def _names(format: str, records: str) -> dict[str, str]:
    """Name the files beside a record file like it."""
    patterns = shard_names(format)
    stem = records.removesuffix(PurePosixPath(patterns["records"]).suffix)
    return {
        what: records if what == "records" else stem + PurePosixPath(pattern).suffix
        for what, pattern in patterns.items()
    }


def file_name(path: str) -> str:
    """Give the last part of a path or an address."""
    return path.rstrip("/").rpartition("/")[2]
