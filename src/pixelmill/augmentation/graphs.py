"""A recipe as a graph: sources of encoded images and masks, of the sample and of those that it is joined with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pixelmill import fn, types
from pixelmill.engine.placement import Placement
from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.options.augment import VariantOptions
from pixelmill.recipe import Move, Part, Recipe, Scene


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


@dataclass(frozen=True, eq=False)
class SampleNodes:
    """The sources of one sample, and what is made of them.

    Attributes:
        image: The source of images.
        mask: The source of masks.
        label: The source of classes, if the recipe depends on them.
        boxes: The source of boxes, if the recipe may depend on them.
        pixels: The decoded image.
        decoders: The operators that decode its image.
        mask_decoders: The operators that decode its mask.
    """

    image: DataNode
    mask: DataNode | None
    label: DataNode | None
    boxes: DataNode | None
    pixels: DataNode
    decoders: list[OperatorNode] = field(default_factory=list)
    mask_decoders: list[OperatorNode] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class RecipeGraph:
    """A recipe as a graph.

    Attributes:
        outputs: The new image, the shapes before and after, the values of all moves, for each other sample its shape
            before, and the mask if there is one.
        moves: The geometric steps, if there are boxes.
        parts: The other samples in the image, if there are boxes.
        samples: The sources of the sample itself, and of those that it is joined with.
        seeds: What names those that it is joined with.
    """

    outputs: list[DataNode]
    moves: tuple[Move, ...]
    parts: tuple[Part, ...]
    samples: list[SampleNodes]
    seeds: list[int]


def recipe_graph(
    recipe: Recipe,
    shape: SampleShape,
    options: VariantOptions,
    *,
    where: Placement,
    others: Sequence[SampleShape] | None = None,
) -> RecipeGraph:
    """Return the graph of a recipe; the arguments are those of `RecipeProgram`."""
    seeds: list[int] = []
    own, scene = _sources(recipe, shape, "", where)
    samples = [own]

    def other(seed: int) -> Scene:
        if where.engine == "dali":
            raise ArgumentError("steps that join several samples run on the native engine; use --mode cpu")
        own_shape = shape if others is None else others[len(seeds)]
        seeds.append(seed)
        nodes, made = _sources(recipe, own_shape, f" {len(seeds)}", where)
        samples.append(nodes)
        return _with_masks_of(scene, made, nodes.boxes)

    made = recipe.apply(scene.image, scene.mask, label=scene.label, boxes=own.boxes, seed=options.seed, others=other)
    parts = made.parts if shape.has_boxes else ()
    details = [node for part in parts for move in part.moves for node in move.nodes]
    details += [part.active for part in parts[1:] if part.active is not None]
    new = made.image.cpu()
    outputs = [new if shape.is_array else _encoded(new, shape, options)]
    outputs += [fn.shapes(own.pixels, device="cpu"), fn.shapes(made.image, device="cpu"), *details]
    outputs += [fn.shapes(nodes.pixels, device="cpu") for nodes in samples[1:] if parts]
    if made.mask is not None:
        new_mask: Any = made.mask.cpu()
        outputs.append(fn.encoders.image(new_mask, format="png") if shape.mask == "file" else new_mask)
    return RecipeGraph([node.cpu() for node in outputs], parts[0].moves if parts else (), parts[1:], samples, seeds)


def _sources(recipe: Recipe, shape: SampleShape, suffix: str, where: Placement) -> tuple[SampleNodes, Scene]:
    source: Any = fn.external_source(name=f"image{suffix}", layout="HWC" if shape.is_array else None)
    mask_source: Any = None
    if shape.mask:
        mask_source = fn.external_source(name=f"mask{suffix}", layout="HWC" if shape.mask == "array" else None)
    image: Any = source if shape.is_array else _decoded(source, where)
    mask = _decoded_mask(mask_source) if shape.mask == "file" else mask_source
    decoders = [] if shape.is_array else [image.operator]
    mask_decoders = [mask.operator] if shape.mask == "file" else []
    if where.device == "gpu":
        image, mask = image.gpu(), mask.gpu() if shape.mask else None
    label: Any = fn.external_source(name=f"label{suffix}") if recipe.depends_on_class() else None
    may_look = recipe.function is not None or recipe.depends_on_boxes()
    boxes: Any = fn.external_source(name=f"boxes{suffix}") if may_look else None
    nodes = SampleNodes(source, mask_source, label, boxes, image, decoders, mask_decoders)
    return nodes, Scene(image, mask, label=label)


def _with_masks_of(scene: Scene, other: Scene, boxes: DataNode | None) -> Scene:
    """Return another sample with a mask if the sample has one: an empty one if it has none of its own."""
    mask = None if scene.mask is None else other.mask
    if scene.mask is not None and mask is None:
        mask = fn.cast_like(other.image[:, :, :1] * 0, scene.mask)
    return Scene(other.image, mask, label=other.label, boxes=boxes)


def _decoded(source: DataNode, where: Placement) -> Any:
    decode: Any = fn.decoders.image  # its stub accepts literal devices only
    return decode(source, output_type=types.RGB, device=where.decoder)


def _decoded_mask(source: DataNode) -> Any:
    return fn.decoders.image(source, output_type=types.GRAY, adjust_orientation=False)


def _encoded(image: DataNode, shape: SampleShape, options: VariantOptions) -> Any:
    return fn.encoders.image(image, format=shape.format, quality=options.quality, subsampling=options.subsampling)
