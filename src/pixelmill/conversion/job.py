"""The bulk job that converts a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pixelmill.conversion.dataset_job import HOW, DatasetJob
from pixelmill.conversion.encoding import Encoding
from pixelmill.conversion.selection import select, shard_bounds
from pixelmill.errors import DataError
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import FILE_FORMATS, open_dataset, open_shard, shard_names
from pixelmill.jobs import ShardFiles, ShardPlan, ShardReport

if TYPE_CHECKING:
    from pixelmill.conversion.survey import Survey


@dataclass(frozen=True)
class ConvertJob(DatasetJob):
    """Write the samples of a dataset into another container. The fields are the arguments of `convert`."""

    kind = "convert"

    source: str | tuple[str, ...] = field(metadata=HOW)
    to: str
    source_format: str | None = field(default=None, metadata=HOW)
    root: str | None = field(default=None, metadata=HOW)
    allow_outside: bool = field(default=False, metadata=HOW)
    limit: int | None = None
    shuffle: bool = False
    seed: int = 0
    split: tuple[tuple[str, float], ...] = ()
    part: str | None = None
    samples_per_shard: int | None = None
    shard_bytes: int | None = None
    shard_count: int | None = None
    resize: tuple[int, ...] | None = None
    max_side: int | None = None
    format: str | None = None
    quality: int | None = None
    keys: str = "inception"
    survey_file: str | None = field(default=None, metadata=HOW)

    @cached_property
    def dataset(self) -> Dataset:
        """The dataset that is read."""
        return open_dataset(self.source, self.source_format, root=self.root, allow_outside=self.allow_outside)

    @property
    def few(self) -> int:
        """What one process does about as fast as workers start."""
        return 500 if self.encoding.is_needed else 5000

    @cached_property
    def encoding(self) -> Encoding:
        """How images are encoded anew."""
        return Encoding(self.resize, self.max_side, self.format, self.quality)

    @cached_property
    def order(self) -> np.ndarray[Any, Any]:
        """The numbers of the samples to write."""
        return select(
            len(self.dataset), limit=self.limit, shuffle=self.shuffle, seed=self.seed, split=self.split, part=self.part
        )

    @cached_property
    def survey(self) -> Survey | None:
        """The names of all files, for containers with a file for each sample."""
        if self.to not in FILE_FORMATS:
            return None
        from pixelmill.conversion.survey import Survey, survey

        if self.survey_file:
            return Survey.load(self.survey_file)
        return survey(self.dataset, self.order, to=self.to, keep_endings=self.format is None)

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """First and last position of each shard in the order."""
        by_bytes = self.samples_per_shard is None and self.shard_count is None
        sizes = [size_of(self.dataset, int(number)) for number in self.order] if by_bytes else [0] * len(self.order)
        return shard_bounds(
            sizes,
            samples_per_shard=self.samples_per_shard,
            shard_bytes=self.shard_bytes,
            num_shards=self.shard_count,
        )

    @cached_property
    def shards(self) -> Sequence[ShardPlan]:
        """The files of each shard; images and masks of folders are named by `survey`."""
        count = len(self.bounds)
        return [
            ShardPlan(number, tuple(shard_names(self.to, number=number, count=count).values()))
            for number in range(count)
        ]

    @property
    def samples(self) -> int | None:
        """Number of samples to write."""
        return len(self.order)

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        """Write the samples of one shard."""
        if number == 0:
            self.reject_faults(files)
        with open_shard(
            self.to, files.open, number=number, count=len(self.bounds), **self.writer_options(self.keys)
        ) as writer:
            for position in range(*self.bounds[number]):
                item = int(self.order[position])
                try:
                    sample = self.dataset.sample(item)
                    sample = self.encoding.apply(sample)
                    writer.add(sample, name=self.survey.names[position] if self.survey else None)
                except DataError as error:
                    self.reject(files, item, error)
                    continue
                files.progress(1, sample.size())
        return ShardReport(samples=writer.samples)


def size_of(dataset: Dataset, number: int) -> int:
    """Count the bytes of a sample; 0 if it is not there, which is met again when it is read."""
    try:
        return dataset.size(number)
    except (DataError, OSError):
        return 0
