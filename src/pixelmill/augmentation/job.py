"""The bulk job that augments a dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from pixelmill.augmentation.program_cache import ProgramCache
from pixelmill.augmentation.samples import written_ending
from pixelmill.augmentation.variants import ShardAugmenter, shard_programs
from pixelmill.dataset_jobs.base import DatasetJob
from pixelmill.dataset_jobs.file_names import FileNames, find_file_names
from pixelmill.engine.placement import versions_of
from pixelmill.errors import ArgumentError
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import FILE_FORMATS, open_dataset, open_shard, shard_names
from pixelmill.formats.tfrecord.keys import CONVENTIONS, INCEPTION
from pixelmill.jobs.job import ShardPlan, ShardReport, declared
from pixelmill.jobs.shard_files import ShardFiles
from pixelmill.options.augment import AugmentOptions
from pixelmill.options.running import source_paths
from pixelmill.recipe import Recipe, keypoint_pairs, load_recipe

_PER_SHARD = 1000


@dataclass(frozen=True)
class SampleRange:
    """The samples of one shard, from `first` to before `end`, and the names of its files."""

    first: int
    end: int
    names: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class AugmentJob(DatasetJob):
    """Write variants of all samples of a dataset.

    Attributes:
        options: What is read and written.
        recipe_content: The content of the recipe when the job was planned.
    """

    kind = "augment"
    few = 1000

    options: AugmentOptions = field(metadata=declared(AugmentOptions))
    recipe_content: Mapping[str, Any]

    @property
    def source(self) -> str | tuple[str, ...]:
        """What is read."""
        return source_paths(self.options.source)

    @property
    def to(self) -> str:
        """The container to write; that of the source unless another is named."""
        return self.options.to or self.dataset.format

    def open(self) -> Dataset:
        """Open the dataset that is read."""
        return open_dataset(self.source)

    @property
    def versions(self) -> Mapping[str, str]:
        """The version of DALI if it computes the pixels."""
        return versions_of(self.options.mode)

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe as it was when the job was planned."""
        content = json.loads(json.dumps(self.recipe_content))  # workers have tuples for lists
        if "steps" in content:
            pairs = keypoint_pairs(content.get("keypoint_pairs", []), f"recipe {self.options.recipe}")
            return Recipe(self.options.recipe, steps=tuple(content["steps"]), keypoint_pairs=pairs)
        recipe = load_recipe(self.options.recipe)
        if recipe.content() != content:
            raise ArgumentError(f"augment: the recipe {self.options.recipe} has changed since the job was planned")
        return recipe

    @property
    def length(self) -> int:
        """How many samples are read."""
        limit = self.options.limit
        return len(self.dataset) if limit is None else min(limit, len(self.dataset))

    @property
    def samples(self) -> int | None:
        """Number of samples to write."""
        return self.length * (self.options.variants + int(self.options.keep_originals))

    @cached_property
    def ranges(self) -> list[SampleRange]:
        """The samples of each shard: those of an input file if the container stays, else an equal number."""
        step = self.options.samples_per_shard
        if step is None and self.to == self.dataset.format and self.to not in FILE_FORMATS:
            return self._ranges_by_file()
        edges = [*range(0, self.length, step or _PER_SHARD), self.length]
        count = len(edges) - 1
        return [
            SampleRange(
                edges[number],
                edges[number + 1],
                {
                    what: self.options.prefix + name
                    for what, name in shard_names(self.to, number=number, count=count).items()
                },
            )
            for number in range(count)
        ]

    def _ranges_by_file(self) -> list[SampleRange]:
        files = self.dataset.index.files[: self.length]
        found = []
        for number, path in enumerate(self.dataset.files):
            inside = (files == number).nonzero()[0]
            if len(inside):
                names = _names(self.to, self.options.prefix + path.rstrip("/").rpartition("/")[2])
                found.append(SampleRange(int(inside[0]), int(inside[-1]) + 1, names))
        names_of_records = [part.names["records"] for part in found]
        if len(set(names_of_records)) < len(names_of_records):
            raise ArgumentError(
                "augment: two inputs have the same name; augment them one at a time into separate folders"
            )
        return found

    def find_file_names(self) -> FileNames:
        """Choose a name for the file of each sample."""
        ending = partial(written_ending, format=self.options.format)
        return find_file_names(self.dataset, range(self.length), to=self.to, ending=ending)

    @cached_property
    def shards(self) -> Sequence[ShardPlan]:
        """The files of each shard; images and masks of folders are named by `file_names`."""
        return [ShardPlan(number, tuple(part.names.values())) for number, part in enumerate(self.ranges)]

    def expect(self, numbers: Sequence[int]) -> None:
        """Announce the samples of these shards."""
        samples = chain.from_iterable(_samples(self.ranges[number]) for number in numbers)
        # Before them the first record, which `_keys` reads.
        self.dataset.expect(chain((0,) if self.dataset.format == "tfrecord" and self.length else (), samples))

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        """Write the variants of the samples of one shard."""
        if number == 0:
            self.reject_faults(files)
        part = self.ranges[number]
        with open_shard(self.to, files.open, names=part.names, **self.writer_options(self._keys())) as writer:
            following = [number for later in files.following for number in _samples(self.ranges[later])]
            ShardAugmenter(self, files, writer).run(_samples(part), following=following)
        return ShardReport(samples=writer.samples, counts=writer.counts)

    @cached_property
    def _programs(self) -> dict[tuple[int, tuple[str, ...]], ProgramCache]:
        return {}

    def programs(self, threads: int, refused: tuple[str, ...]) -> ProgramCache:
        """Return the compiled programs, shared by all shards that this process makes."""
        key = threads, refused
        if key not in self._programs:
            self._programs[key] = shard_programs(self.recipe, self.options, threads=threads, refused=refused)
        return self._programs[key]

    def variant_key(self, key: str, variant: int) -> str:
        """Return the key of a variant."""
        several = self.options.variants > 1 or self.options.keep_originals
        return f"{key}-{variant}" if several and variant > 0 else key

    def file_name(self, number: int, variant: int) -> str | None:
        """Return the name of the file of a variant, for containers with one file per sample."""
        return None if self.file_names is None else self.variant_key(self.file_names.names[number], variant)

    def _keys(self) -> str:
        """Return the feature names of the TFRecords that are read, so that they stay."""
        own = self.dataset.layout.partition(" ")[0] if self.dataset.format == "tfrecord" else ""
        return own if own in CONVENTIONS else INCEPTION.name


def _samples(part: SampleRange) -> range:
    return range(part.first, part.end)


def _names(format: str, records: str) -> dict[str, str]:
    """Return the names of the files of a shard, derived from that of its record file."""
    patterns = shard_names(format)
    stem = records.removesuffix(PurePosixPath(patterns["records"]).suffix)
    return {
        what: records if what == "records" else stem + PurePosixPath(pattern).suffix
        for what, pattern in patterns.items()
    }
