"""A recipe as a program: encoded images and masks in, encoded images and transformed masks out."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pixelmill.augmentation.graphs import SampleShape, recipe_graph
from pixelmill.engine.compile import Key, compile_graph
from pixelmill.engine.native import Data, Pending, Samples, Trouble, sort_troubles
from pixelmill.engine.placement import NATIVE, Placement
from pixelmill.engine.selection import EngineOptions, split_for_dali, start_engine
from pixelmill.errors import MISSING_PIXELS
from pixelmill.graph.nodes import operators_of
from pixelmill.options.augment import VariantOptions
from pixelmill.recipe import Recipe
from pixelmill.recipe.geometry import Transform
from pixelmill.steps.sources import source_of
from pixelmill.types import Array, Limits

NO_LABEL: Array = np.array(-1, np.int64)  # the class of images without one
NO_BOXES: Array = np.empty((0, 4), np.float32)


@dataclass(eq=False, slots=True)  # not frozen: one is created for every sample, and frozen ones take twice as long
class ProgramInput:
    """One sample to process.

    Attributes:
        number: Its number in the dataset.
        variant: Which variant is made, from 1; variant 1 is what the first epoch of a training sees.
        image: The bytes of the file, or the pixels.
        mask: The same for the mask: class numbers, HW1.
        label: The class of the image.
        boxes: Left, top, right, bottom of its objects as fractions, (n, 4).
        others: The samples that it is joined with.
    """

    number: int
    variant: int
    image: Array
    mask: Array | None
    label: Array = field(default_factory=lambda: NO_LABEL)
    boxes: Array = field(default_factory=lambda: NO_BOXES)
    others: Sequence[ProgramInput] = ()


@dataclass(eq=False, slots=True)
class OtherOutput:
    """How another sample became part of an image.

    Attributes:
        place: Its place among those that the sample is joined with.
        before: Height and width before.
        after: Height and width of the joined image.
        path: The transform of each geometric step.
        keypoint_pairs: Numbers of the keypoints that swap when left and right do.
    """

    place: int
    before: tuple[int, int]
    after: tuple[int, int]
    path: Sequence[Transform]
    keypoint_pairs: Sequence[tuple[int, int]] = ()


@dataclass(eq=False, slots=True)
class ProgramOutput:
    """One processed sample.

    Attributes:
        image: The bytes of the new file, or the pixels.
        mask: The same for the transformed mask.
        before: Height and width before.
        after: Height and width after.
        path: The transform of each geometric step, if there are boxes.
        notes: Kinds of remarks about the sample.
        keypoint_pairs: Numbers of the keypoints that swap when left and right do.
        others: The samples that it was joined with, if there are boxes.
    """

    image: Array
    mask: Array | None
    before: tuple[int, int]
    after: tuple[int, int]
    path: Sequence[Transform]
    notes: Collection[str] = ()
    keypoint_pairs: Sequence[tuple[int, int]] = ()
    others: Sequence[OtherOutput] = ()


@dataclass(frozen=True)
class Failure:
    """Why a sample could not be processed; `other` is the place of the joined sample that is the cause, if one is."""

    kind: str
    message: str
    other: int | None = None


class RecipeProgram:
    """A compiled recipe with its worker threads.

    Args:
        recipe: What is done.
        shape: What it is done to.
        options: How variants are drawn and encoded.
        threads: Samples that are processed at the same time.
        batch_size: The largest batch.
        where: The engine and its GPU.
        refused: Kinds of notes that make a sample a failed one.
        others: The same as `shape` for each sample that it is joined with; by default they are alike.
    """

    def __init__(
        self,
        recipe: Recipe,
        shape: SampleShape,
        options: VariantOptions,
        *,
        threads: int,
        batch_size: int = 8,
        where: Placement = NATIVE,
        refused: Collection[str] = (MISSING_PIXELS,),
        others: Sequence[SampleShape] | None = None,
    ) -> None:
        self._refused = refused
        self._graph = graph = recipe_graph(recipe, shape, options, where=where, others=others)
        outputs, seed = graph.outputs, options.seed
        self.seeds = graph.seeds
        self._has_mask = graph.samples[0].mask is not None
        self._plan = compile_graph([node.expr for node in outputs], seed=seed, optimize=True, decode_scaling=True)
        if where.engine == "dali":
            nodes, gpu = operators_of(outputs), where.device == "gpu"
            self._plan = split_for_dali(self._plan, nodes, outputs, seed=seed, gpu=gpu)
        self._places = {
            source_of(node.expr): (place, what)
            for place, nodes in enumerate(graph.samples)
            for what in ("image", "mask", "label", "boxes")
            if (node := getattr(nodes, what)) is not None
        }
        self._pairs = recipe.keypoint_pairs
        self._engine = start_engine(self._plan, EngineOptions(batch_size, threads, Limits(), where.device_id))

    def submit(self, batch: Sequence[ProgramInput]) -> Pending:
        """Start a batch."""
        inputs: dict[Key, Data] = {}
        for key in self._plan.inputs:
            place, what = self._places[key[0].source]
            inputs[key] = [getattr(sample.others[place - 1] if place else sample, what) for sample in batch]
        samples = Samples(
            np.array([sample.variant - 1 for sample in batch], np.uint32),
            np.array([sample.number for sample in batch], np.uint64),
            np.empty((len(batch), 0), np.int64),
            inputs,
        )
        return self._engine.submit(samples)

    def take(self, pending: Pending, batch: Sequence[ProgramInput]) -> list[ProgramOutput | Failure]:
        """Wait for a batch and return the result of each sample."""
        result = pending.result()
        troubles, notes = sort_troubles(result.troubles, refused=self._refused)
        failures = {place: self._failure(trouble) for place, trouble in troubles.items()}
        if not result.outputs:  # a graph of several programs fails as a whole: run it again without the bad samples
            others = [made for place, made in enumerate(batch) if place not in failures]
            again = iter(self.take(self.submit(others), others) if others else ())
            return [failures[place] if place in failures else next(again) for place in range(len(batch))]
        return [
            failures.get(place) or self._made(result.outputs, place, notes.get(place, ()))
            for place in range(len(batch))
        ]

    def close(self) -> None:
        """Stop the threads."""
        self._engine.close()

    def _failure(self, trouble: Trouble) -> Failure:
        for place, nodes in enumerate(self._graph.samples):
            of_mask = any(trouble.origin is decoder for decoder in nodes.mask_decoders)
            if of_mask or (place and any(trouble.origin is decoder for decoder in nodes.decoders)):
                message = f"mask: {trouble.message}" if of_mask else trouble.message
                return Failure(trouble.kind, message, place - 1 if place else None)
        return Failure(trouble.kind, trouble.message)

    def _made(self, outputs: Sequence[Any], place: int, notes: Collection[str]) -> ProgramOutput:
        values = iter([output[place] for output in outputs])
        image, before, after = next(values), _size(next(values)), _size(next(values))
        path = [move.transform(*itertools.islice(values, len(move.nodes))) for move in self._graph.moves]
        others = self._others(values, after) if self._graph.parts else ()
        mask = next(values) if self._has_mask else None
        return ProgramOutput(image, mask, before, after, path, notes, self._pairs, others)

    def _others(self, values: Iterator[Any], after: tuple[int, int]) -> list[OtherOutput]:
        parts = self._graph.parts
        paths = [[move.transform(*itertools.islice(values, len(move.nodes))) for move in part.moves] for part in parts]
        joined = [part.active is None or bool(next(values)) for part in parts]
        before = [_size(next(values)) for _ in self.seeds]
        return [
            OtherOutput(place, before[place], after, path, self._pairs)
            for part, path, is_joined in zip(parts, paths, joined, strict=True)
            if is_joined
            for place in [self.seeds.index(part.seed or 0)]
        ]


def _size(shape: Array) -> tuple[int, int]:
    return int(shape[0]), int(shape[1])
