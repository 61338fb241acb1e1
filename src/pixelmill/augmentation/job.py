"""The bulk job that augments a dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pixelmill.augmentation.program import Program, Shape
from pixelmill.augmentation.shard import ShardMaker
from pixelmill.conversion.dataset_job import HOW, DatasetJob
from pixelmill.engine.placement import Mode, versions_of
from pixelmill.errors import ArgumentError
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import FILE_FORMATS, open_dataset, open_shard, shard_names
from pixelmill.formats.tfrecord.keys import CONVENTIONS, INCEPTION
from pixelmill.jobs import ShardFiles, ShardPlan, ShardReport
from pixelmill.recipe import Recipe, load_recipe

if TYPE_CHECKING:
    from pixelmill.conversion.survey import Survey


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
    few = 1000

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
    mode: Mode = "cpu"

    @property
    def versions(self) -> Mapping[str, str]:
        """The version of DALI where it makes the pixels."""
        return versions_of(self.mode)

    @cached_property
    def dataset(self) -> Dataset:
        """The dataset that is read."""
        return open_dataset(self.source)

    @cached_property
    def how(self) -> Recipe:
        """The recipe, as it was when the job was planned."""
        content = json.loads(json.dumps(self.recipe_content))  # workers have tuples for lists
        if "steps" in content:
            return Recipe(self.recipe, steps=tuple(content["steps"]))
        recipe = load_recipe(self.recipe)
        if recipe.content() != content:
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
        if self.to not in FILE_FORMATS:
            return None
        from pixelmill.conversion.survey import survey

        return survey(self.dataset, range(self.length), to=self.to)

    @cached_property
    def shards(self) -> Sequence[ShardPlan]:
        """The files of each shard; images and masks of folders are named by `survey`."""
        return [ShardPlan(number, tuple(part.names.values())) for number, part in enumerate(self.parts)]

    @cached_property
    def programs(self) -> dict[tuple[Shape, int], Program]:
        """The compiled programs by what they are for and their threads."""
        return {}

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        """Write the variants of the samples of one shard."""
        if number == 0:
            self.reject_faults(files)
        with open_shard(
            self.to, files.open, names=self.parts[number].names, **self.writer_options(self._keys())
        ) as writer:
            part = self.parts[number]
            ShardMaker(self, files, writer).run(range(part.first, part.behind))
        return ShardReport(samples=writer.samples)

    def new_key(self, key: str, variant: int) -> str:
        """Name a variant of a sample."""
        several = self.variants > 1 or self.keep_originals
        return f"{key}-{variant}" if several and variant > 0 else key

    def _keys(self) -> str:
        """Keep the keys of TFRecords that are read."""
        own = self.dataset.layout.partition(" ")[0] if self.dataset.format == "tfrecord" else ""
        return own if own in CONVENTIONS else INCEPTION.name


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
