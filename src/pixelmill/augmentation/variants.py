"""Variants of single samples, in memory: what `augment` would write of them, byte for byte."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from pixelmill.augmentation.program import Failure, Program, Shape
from pixelmill.augmentation.samples import explained, prepare, to_sample
from pixelmill.formats.sample import Sample
from pixelmill.pipeline import Pipeline
from pixelmill.recipe import Recipe

_MOST_AT_ONCE = 8


class VariantMaker:
    """Makes variants, all of a sample at a time.

    Args:
        recipe: What is done.
        seed: What all draws follow from, beside the sample and the variant.
        format: `jpeg` or `png`; that of each image when left out.
        quality: Of JPEG files.
        subsampling: Of JPEG files.
        visibility: Boxes of which a smaller share stays inside the picture are dropped.
    """

    def __init__(
        self,
        recipe: Recipe,
        *,
        seed: int = 0,
        format: str | None = None,
        quality: int = 90,
        subsampling: str = "4:2:0",
        visibility: float = 0.3,
    ) -> None:
        self._recipe = recipe
        self._seed = seed
        self._format = format
        self._quality = quality
        self._subsampling = subsampling
        self._visibility = visibility
        self._programs: dict[Shape, Program] = {}

    def make(self, sample: Sample, number: int, *, count: int) -> list[Sample]:
        """Make the first variants of a sample; DataError if it cannot be used, or one of them cannot be made.

        Args:
            sample: The sample.
            number: Its number in the dataset.
            count: How many variants.
        """
        source = prepare(sample, number, format=self._format)
        program = self._program(source.shape)
        made: list[Sample] = []
        for first in range(1, count + 1, _MOST_AT_ONCE):
            batch = [source.variant(variant) for variant in range(first, min(first + _MOST_AT_ONCE, count + 1))]
            for result in program.take(program.submit(batch), batch):
                if isinstance(result, Failure):
                    raise explained(result, source)
                made.append(to_sample(source, result, least=self._visibility, key=sample.key))
        return made

    def _program(self, shape: Shape) -> Program:
        if shape not in self._programs:
            with Pipeline(batch_size=_MOST_AT_ONCE, num_threads=1, device_id=None):
                self._programs[shape] = Program(
                    self._recipe,
                    shape,
                    seed=self._seed,
                    quality=self._quality,
                    subsampling=self._subsampling,
                    threads=1,
                    batch_size=_MOST_AT_ONCE,
                )
        return self._programs[shape]

    def close(self) -> None:
        """Stop the threads."""
        for program in self._programs.values():
            program.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()
