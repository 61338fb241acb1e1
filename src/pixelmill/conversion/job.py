"""The bulk job that converts a dataset."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pixelmill.conversion.codebook import codebook_bytes, codebook_hash
from pixelmill.conversion.encoding import Encoding, encoding_of
from pixelmill.dataset_jobs.base import DatasetJob
from pixelmill.dataset_jobs.file_names import FileNames, find_file_names
from pixelmill.dataset_jobs.selection import select, shard_bounds
from pixelmill.errors import DataError
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import open_dataset, open_shard, shard_names
from pixelmill.formats.sample import file_ending
from pixelmill.jobs.job import HOW, ShardPlan, ShardReport, declared
from pixelmill.jobs.shard_files import ShardFiles
from pixelmill.options.convert import ConvertOptions, split_pairs
from pixelmill.options.running import list_options, source_paths
from pixelmill.types import Array


@dataclass(frozen=True, kw_only=True)
class ConvertJob(DatasetJob):
    """Write the samples of a dataset into another container.

    Attributes:
        options: What is read and written.
        part: The name of the subset to write, if there is a split.
        codebook: For packs: the codebook as text; the plan has its hash.
    """

    kind = "convert"

    options: ConvertOptions = field(metadata=declared(ConvertOptions))
    part: str | None = None
    codebook: str = field(default="", repr=False, metadata=HOW)

    @property
    def source(self) -> str | tuple[str, ...]:
        """What is read."""
        return source_paths(self.options.source)

    @property
    def to(self) -> str:
        """The container to write."""
        return self.options.to

    def open(self) -> Dataset:
        """Open the dataset that is read."""
        given = self.options
        return open_dataset(self.source, given.source_format, **list_options(given))

    @property
    def few(self) -> int:
        """Below this number of samples one process is about as fast as starting workers."""
        return 500 if self.encoding.is_needed or self.to == "pack" else 5000

    @property
    def versions(self) -> Mapping[str, str]:
        """The codebook of a pack, which decides its bytes."""
        return {"codebook": codebook_hash(self.codebook)} if self.codebook else {}

    def writer_options(self, keys: str) -> dict[str, Any]:
        """Return the options of the writer of a shard."""
        return {"codebook": codebook_bytes(self.codebook)} if self.codebook else super().writer_options(keys)

    @cached_property
    def encoding(self) -> Encoding:
        """How images are encoded again."""
        return encoding_of(self.options)

    @cached_property
    def order(self) -> Array:
        """The numbers of the samples to write."""
        given = self.options
        return select(
            len(self.dataset),
            limit=given.limit,
            shuffle=given.shuffle,
            seed=given.seed,
            split=split_pairs(given.split),
            part=self.part,
        )

    def find_file_names(self) -> FileNames:
        """Choose a name for the file of each sample."""
        ending = file_ending if self.options.format is None else None
        return find_file_names(self.dataset, self.order, to=self.to, ending=ending)

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """First and last position of each shard in the order."""
        given = self.options
        by_bytes = given.samples_per_shard is None and given.num_shards is None
        sizes = [size_of(self.dataset, int(number)) for number in self.order] if by_bytes else [0] * len(self.order)
        return shard_bounds(
            sizes,
            samples_per_shard=given.samples_per_shard,
            shard_bytes=given.shard_size,
            num_shards=given.num_shards,
        )

    @cached_property
    def shards(self) -> Sequence[ShardPlan]:
        """The files of each shard; images and masks of folders are named by `file_names`."""
        count = len(self.bounds)
        return [
            ShardPlan(number, tuple(shard_names(self.to, number=number, count=count).values()))
            for number in range(count)
        ]

    @property
    def samples(self) -> int | None:
        """Number of samples to write."""
        return len(self.order)

    def expect(self, numbers: Sequence[int]) -> None:
        """Announce the samples of these shards."""
        coming = itertools.chain.from_iterable(range(*self.bounds[number]) for number in numbers)
        self.dataset.expect(int(self.order[position]) for position in coming)

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        """Write the samples of one shard."""
        if number == 0:
            self.reject_faults(files)
        keys, names = self.options.keys, self.file_names
        with open_shard(
            self.to, files.open, number=number, count=len(self.bounds), **self.writer_options(keys)
        ) as writer:
            self.expect((number, *files.following))
            for position in range(*self.bounds[number]):
                item = int(self.order[position])
                try:
                    sample, notes = self.encoding.apply(
                        self.dataset.sample(item), strict=files.strict, refused=files.refused_notes
                    )
                    writer.add(sample, name=None if names is None else names.names[position])
                except (DataError, UnicodeError) as error:
                    self.reject(files, item, error)
                    continue
                files.note(notes)
                files.progress(1, sample.size())
        return ShardReport(samples=writer.samples, counts=writer.counts)


def size_of(dataset: Dataset, number: int) -> int:
    """Return the bytes of a sample; 0 if it is missing, which is reported when it is read."""
    try:
        return dataset.size(number)
    except (DataError, OSError):
        return 0
