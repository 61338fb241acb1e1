"""A recipe as a program: encoded images and masks in, encoded images and transformed masks out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pixelmill import fn, types
from pixelmill.engine.compile import Key, compile_graph
from pixelmill.engine.native import Data, Pending, Samples, Trouble, sort_troubles
from pixelmill.engine.placement import NATIVE, Placement
from pixelmill.engine.selection import EngineOptions, split_for_dali, start_engine
from pixelmill.errors import MISSING_PIXELS
from pixelmill.graph.nodes import DataNode, OperatorNode, operators_of
from pixelmill.options.augment import VariantOptions
from pixelmill.recipe import Move, Recipe, Scene
from pixelmill.recipe.geometry import Transform
from pixelmill.steps.sources import source_of
from pixelmill.types import Array, Limits

NO_LABEL: Array = np.array(-1, np.int64)  # the class of images without one


@dataclass(frozen=True)
class SampleShape:
    """What a program is made for.

    Attributes:
        is_array: Whether images are arrays of pixels, before and after, instead of encoded files.
        mask: `array`, or `file` for an encoded mask; empty without a mask.
        format: `jpeg` or `png`; empty for arrays.
        has_boxes: Whether the program has to report how points move.
    """

    is_array: bool
    mask: str
    format: str = ""
    has_boxes: bool = False


@dataclass(eq=False, slots=True)  # not frozen: one is created for every sample, and frozen ones take twice as long
class ProgramInput:
    """One sample to process.

    Attributes:
        number: Its number in the dataset.
        variant: Which variant is made, from 1; variant 1 is what the first epoch of a training sees.
        image: The bytes of the file, or the pixels.
        mask: The same for the mask: class numbers, HW1.
        label: The class of the image.
    """

    number: int
    variant: int
    image: Array
    mask: Array | None
    label: Array = field(default_factory=lambda: NO_LABEL)


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
    """

    image: Array
    mask: Array | None
    before: tuple[int, int]
    after: tuple[int, int]
    path: Sequence[Transform]
    notes: Collection[str] = ()
    keypoint_pairs: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Failure:
    """Why a sample could not be processed."""

    kind: str
    message: str


@dataclass(frozen=True, eq=False)
class RecipeGraph:
    """A recipe as a graph.

    Attributes:
        outputs: The new image, the shapes before and after, the values of all moves, and the mask if there is one.
        moves: The geometric steps, if there are boxes.
        image: The source of images.
        mask: The source of masks.
        mask_decoder: The operator that decodes masks.
        label: The source of classes, if the recipe depends on them.
    """

    outputs: list[DataNode]
    moves: tuple[Move, ...]
    image: DataNode
    mask: DataNode | None
    mask_decoder: OperatorNode | None
    label: DataNode | None


def recipe_graph(recipe: Recipe, shape: SampleShape, options: VariantOptions, *, where: Placement) -> RecipeGraph:
    """Return the graph of a recipe; the arguments are those of `RecipeProgram`."""
    source: Any = fn.external_source(name="image", layout="HWC" if shape.is_array else None)
    mask_source: Any = None
    if shape.mask:
        mask_source = fn.external_source(name="mask", layout="HWC" if shape.mask == "array" else None)
    image: Any = source if shape.is_array else _decoded(source, where)
    mask = _decoded_mask(mask_source) if shape.mask == "file" else mask_source
    decoder = mask.operator if shape.mask == "file" else None
    if where.device == "gpu":
        image, mask = image.gpu(), mask.gpu() if shape.mask else None
    label: Any = fn.external_source(name="label") if recipe.depends_on_class() else None
    scene: Scene = recipe.apply(image, mask, label=label, seed=options.seed)
    moves = scene.moves if shape.has_boxes else ()
    details = [node for move in moves for node in move.nodes]
    new = scene.image.cpu()
    outputs = [new if shape.is_array else _encoded(new, shape, options)]
    outputs += [fn.shapes(image, device="cpu"), fn.shapes(scene.image, device="cpu"), *details]
    if scene.mask is not None:
        new_mask: Any = scene.mask.cpu()
        outputs.append(fn.encoders.image(new_mask, format="png") if shape.mask == "file" else new_mask)
    return RecipeGraph([node.cpu() for node in outputs], moves, source, mask_source, decoder, label)


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
    ) -> None:
        self._refused = refused
        graph = recipe_graph(recipe, shape, options, where=where)
        outputs, seed = graph.outputs, options.seed
        self._moves = graph.moves
        self._has_mask = graph.mask is not None
        self._mask_decoder = graph.mask_decoder
        self._plan = compile_graph([node.expr for node in outputs], seed=seed, optimize=True, decode_scaling=True)
        if where.engine == "dali":
            nodes, gpu = operators_of(outputs), where.device == "gpu"
            self._plan = split_for_dali(self._plan, nodes, outputs, seed=seed, gpu=gpu)
        named = [("image", graph.image), ("mask", graph.mask), ("label", graph.label)]
        self._places = {source_of(node.expr): what for what, node in named if node is not None}
        self._pairs = recipe.keypoint_pairs
        self._engine = start_engine(self._plan, EngineOptions(batch_size, threads, Limits(), where.device_id))

    def submit(self, batch: Sequence[ProgramInput]) -> Pending:
        """Start a batch."""
        inputs: dict[Key, Data] = {}
        for key in self._plan.inputs:
            what = self._places[key[0].source]
            inputs[key] = [getattr(sample, what) for sample in batch]
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
        of_mask = self._mask_decoder is not None and trouble.origin is self._mask_decoder
        return Failure(trouble.kind, f"mask: {trouble.message}" if of_mask else trouble.message)

    def _made(self, outputs: Sequence[Any], place: int, notes: Collection[str]) -> ProgramOutput:
        values = [output[place] for output in outputs]
        image, before, after = values[:3]
        path, at = [], 3
        for move in self._moves:
            path.append(move.transform(*values[at : at + len(move.nodes)]))
            at += len(move.nodes)
        mask = values[-1] if self._has_mask else None
        sizes = (int(before[0]), int(before[1])), (int(after[0]), int(after[1]))
        return ProgramOutput(image, mask, *sizes, path, notes, self._pairs)


def _decoded(source: DataNode, where: Placement) -> Any:
    decode: Any = fn.decoders.image  # its stub accepts literal devices only
    return decode(source, output_type=types.RGB, device=where.decoder)


def _decoded_mask(source: DataNode) -> Any:
    return fn.decoders.image(source, output_type=types.GRAY, adjust_orientation=False)


def _encoded(image: DataNode, shape: SampleShape, options: VariantOptions) -> Any:
    return fn.encoders.image(image, format=shape.format, quality=options.quality, subsampling=options.subsampling)
