"""The programs of a recipe, one for each shape of samples, and the samples that these are joined with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from pixelmill.augmentation.graphs import SampleShape, recipe_graph
from pixelmill.augmentation.program import RecipeProgram
from pixelmill.augmentation.samples import PreparedSample, prepare
from pixelmill.engine.placement import NATIVE, Placement
from pixelmill.errors import MISSING_PIXELS, ArgumentError, DataError
from pixelmill.formats.dataset import Dataset
from pixelmill.options.augment import VariantOptions
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.partners import partner_items
from pixelmill.recipe import Recipe


class ProgramCache:
    """Compiles a recipe once for each shape of samples.

    Args:
        recipe: What is done.
        options: How variants are drawn and encoded.
        threads: Samples that are processed at the same time.
        batch_size: The largest batch.
        where: The engine and its GPU.
        refused: Kinds of notes that make a sample a failed one.
    """

    def __init__(
        self,
        recipe: Recipe,
        options: VariantOptions,
        *,
        threads: int,
        batch_size: int,
        where: Placement = NATIVE,
        refused: Collection[str] = (MISSING_PIXELS,),
    ) -> None:
        self._refused = refused
        self._recipe = recipe
        self._options = options
        self._threads = threads
        self.batch_size = batch_size
        self._where = where
        self._programs: dict[tuple[SampleShape, ...], RecipeProgram] = {}
        self._seeds: dict[SampleShape, list[int]] = {}

    def others(self, source: PreparedSample, variant: int, dataset: Dataset | None) -> tuple[PreparedSample, ...]:
        """Return the samples that a variant is joined with. Raises DataError if one cannot be used.

        Args:
            source: The sample.
            variant: The number of the variant.
            dataset: The dataset that it belongs to; None if there is none.
        """
        if self._recipe.steps and not self._recipe.joins_samples():
            return ()
        seeds = self._seeds_for(source.shape)
        if not seeds:
            return ()
        if dataset is None:
            raise ArgumentError(f"recipe {self._recipe.name} joins samples of a dataset, and there is none here")
        if self._recipe.mixes_labels() and source.sample.labels:
            raise ArgumentError(
                f"recipe {self._recipe.name} blends images, whose classes files cannot hold; for classification mix "
                "batches with pixelmill.mixing"
            )
        own, epoch = np.array([source.number]), np.array([variant - 1], np.uint32)
        numbers = [int(partner_items(seed, len(dataset), own, epoch)[0]) for seed in seeds]
        found = []
        for number in numbers:
            try:
                found.append(prepare(dataset.sample(number), number, format=self._options.format))
            except DataError as error:
                raise DataError(f"joined with {located(dataset, number)}: {error}", error.events) from error
        return tuple(found)

    def _seeds_for(self, shape: SampleShape) -> list[int]:
        """Return what names the samples that samples of a shape are joined with."""
        if shape not in self._seeds:
            with Pipeline(batch_size=1, num_threads=1, device_id=None):
                self._seeds[shape] = recipe_graph(self._recipe, shape, self._options, where=self._where).seeds
        return self._seeds[shape]

    def program(self, shape: SampleShape, others: Sequence[PreparedSample] = ()) -> RecipeProgram:
        """Return the program for samples of a shape, joined with others."""
        shapes = program_shapes(shape, others)
        if shapes not in self._programs:
            with Pipeline(batch_size=self.batch_size, num_threads=1, device_id=None):
                self._programs[shapes] = RecipeProgram(
                    self._recipe,
                    shapes[0],
                    self._options,
                    threads=self._threads,
                    batch_size=self.batch_size,
                    where=self._where,
                    refused=self._refused,
                    others=shapes[1:] if others else None,
                )
        return self._programs[shapes]

    def close(self) -> None:
        """Stop the threads of all programs."""
        for program in self._programs.values():
            program.close()


def program_shapes(shape: SampleShape, others: Sequence[PreparedSample]) -> tuple[SampleShape, ...]:
    """Return what a program is made for: a sample, and those that it is joined with."""
    has_boxes = shape.has_boxes or any(other.shape.has_boxes for other in others)
    return replace(shape, has_boxes=has_boxes), *(replace(other.shape, has_boxes=False) for other in others)


def located(dataset: Dataset, number: int) -> str:
    """Return where a sample is."""
    path, offset = dataset.locate(number)
    return path if offset is None else f"{path}, offset {offset}"
