"""What is done to samples for each task, as statements of a pipeline."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pixelmill.errors import ArgumentError
from pixelmill.image_loader.program import ApplyFunction, ApplyRecipe, Call, Name, Program, Scale, Statement
from pixelmill.image_loader.settings import AUTO_AUGMENT, AutoAugment, Function, ImageSettings, ReaderSettings
from pixelmill.recipe import Recipe, load_recipe
from pixelmill.types import FLOAT, FLOAT16, INT64, INTERP_NN, UINT8

# For validation, the shorter side is resized to size / 0.875 and the center is cropped: 256 and 224 are the usual pair.
CENTER_FRACTION = 0.875
# The smallest part of an image that is cropped: of photographs of one object, and of scenes whose masks matter as well.
SCENE_AREA = [0.25, 1.0]
# The windows of SSD: one that overlaps all objects at least so much, or the whole image.
OVERLAPS = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9]

# Oriented boxes follow recipes, not the operators on plain boxes; this is the recipe if none is given.
ORIENTED = "oriented"

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "classification": ("image", "label"),
    "multilabel": ("image", "label"),
    "detection": ("image", "boxes", "box_label", "corners"),
    "segmentation": ("image", "mask"),
    "unlabeled": ("image",),
}
_IMAGES, _MASKS, _MIRROR = Name("images"), Name("masks"), Name("mirror")


@dataclass(frozen=True)
class Presets:
    """The statements for some settings.

    Args:
        settings: What is done to an image.
        seed: The seed of recipes.
        origin: What `load_recipe` loads the recipe from, if it is known.
        has_box_labels: Whether the boxes of the dataset have classes.
        array_images: Whether images are npy files of pixels.
        array_masks: Whether masks are npy files of class numbers.
        has_corners: Whether the boxes of the dataset are oriented.
    """

    settings: ImageSettings
    seed: int = 0
    origin: str | None = None
    has_box_labels: bool = True
    array_images: bool = False
    array_masks: bool = False
    has_corners: bool = False

    def program(self, reader: ReaderSettings) -> Program:
        """Return the pipeline of a loader."""
        lines = [_read(reader, self._columns())]
        if self.settings.task == "detection":
            made, outputs = self._detection()
        elif self.settings.task == "segmentation":
            made, outputs = self._segmentation()
        else:
            made, outputs = [*self._decoded(), *self.image_statements()], ["images"]
        if self.settings.task in ("classification", "multilabel"):
            made, outputs = [*made, _renamed("labels", "label")], ["images", "labels"]
        if self.settings.task == "unlabeled":
            names = Call(("names",), "fn.get_property", (Name("columns", "image"),), {"key": "source_info"})
            made, outputs = [*made, names], ["images", "names"]
        return Program((*lines, *made), tuple(outputs))

    def _columns(self) -> list[str]:
        present = {"box_label": self.has_box_labels, "corners": self.has_corners}
        return [name for name in COLUMNS[self.settings.task] if present.get(name, True)]

    def image_statements(self) -> list[Statement]:
        """Return the statements from decoded images to the tensors of a batch, for tasks that need the image alone."""
        own = self.settings
        if not own.train:
            sides = [round(side / CENTER_FRACTION) for side in self._size]
            resize = Call(("images",), "fn.resize", (_IMAGES,), {"size": sides, "mode": "not_smaller"})
            return [resize, self._normalized(crop=self._size)]
        if own.augment is None:
            return [self._cropped(), _coin(), self._normalized(mirror=_MIRROR)]
        if own.augment in AUTO_AUGMENT:
            return [self._cropped(), _coin(), _flipped("images"), self._auto_augmented(), self._normalized()]
        if isinstance(own.augment, Recipe):
            augmented: Statement = ApplyRecipe(own.augment, self.origin, ("images",), self.seed)
        else:
            augmented = ApplyFunction(own.augment)
        return [augmented, self._resized("images"), self._normalized()]

    @property
    def _size(self) -> list[int]:
        return [self.settings.height, self.settings.width]

    def _cropped(self) -> Call:
        return Call(("images",), "fn.random_resized_crop", (_IMAGES,), {"size": self._size})

    def _resized(self, name: str) -> Call:
        nearest = {"interp_type": INTERP_NN, "antialias": False} if name == "masks" else {}
        return Call((name,), "fn.resize", (Name(name),), {"size": self._size, **nearest})

    def _auto_augmented(self) -> Call:
        kind = str(self.settings.augment)
        strength = {"n": 2, "m": 9} if kind == "rand_augment" else {}
        function = {"trivial_augment": "trivial_augment.trivial_augment_wide"}.get(kind, f"{kind}.{kind}")
        return Call(("images",), function, (_IMAGES,), {**strength, "shape": self._size})

    def _normalized(self, *, crop: list[int] | None = None, mirror: Name | None = None) -> Call:
        own = self.settings
        arguments: dict[str, object] = {} if crop is None else {"crop": crop}
        if mirror is not None:
            arguments["mirror"] = mirror
        if own.dtype == "uint8":
            arguments["dtype"] = UINT8
        else:
            arguments |= {name: [round(value * 255, 6) for value in getattr(own, name)] for name in ("mean", "std")}
            arguments["dtype"] = FLOAT16 if own.dtype == "float16" else FLOAT
        return Call(
            ("images",), "fn.crop_mirror_normalize", (_IMAGES,), {**arguments, "output_layout": own.layout.strip("N")}
        )

    def _detection(self) -> tuple[list[Statement], list[str]]:
        names = ["boxes", *(["labels"] if self.has_box_labels else []), *(["corners"] if self.has_corners else [])]
        columns = {"boxes": "boxes", "labels": "box_label", "corners": "corners"}
        recipe, origin = self.settings.augment, self.origin
        if recipe is None and self.has_corners:
            recipe, origin = load_recipe(ORIENTED), ORIENTED
        lines: list[Statement] = [_renamed(name, columns[name]) for name in names]
        outputs = ["images", *names]
        if not self.settings.train:
            lines += [*self._decoded(), self._resized("images"), self._normalized()]
            sizes = Call(("sizes",), "fn.peek_image_shape", (Name("columns", "image"),))
            lines, outputs = [*lines, sizes], [*outputs, "sizes"]
        elif isinstance(recipe, Recipe):
            lines += [
                *self._decoded(),
                Call(("sizes",), "fn.shapes", (_IMAGES,)),
                ApplyRecipe(recipe, origin, ("images",), self.seed, has_boxes=True),
                self._boxes_after(names),
                self._resized("images"),
                self._normalized(),
            ]
        else:
            drawn = {"thresholds": OVERLAPS, "aspect_ratio": [0.5, 2.0], "scaling": [0.3, 1.0], "num_attempts": 50}
            window = Call(
                ("anchor", "extent", *names),
                "fn.random_bbox_crop",
                tuple(map(Name, names)),
                {**drawn, "bbox_layout": "xyXY"},
            )
            cut = (Name("columns", "image"), Name("anchor"), Name("extent"))
            flip = Call(("boxes",), "fn.bb_flip", (Name("boxes"),), {"ltrb": True, "horizontal": _MIRROR})
            # Boxes of many datasets reach over the edge of the image by a pixel or by rounding.
            lines.append(Call(("boxes",), "math.clamp", (Name("boxes"),), {"lo": 0.0, "hi": 1.0}))
            lines += [window, Call(("images",), "fn.decoders.image_slice", cut), self._resized("images")]
            lines += [_coin(), flip, self._normalized(mirror=_MIRROR)]
        height, width = self._size
        lines.append(Scale("boxes", (width, height, width, height)))
        return [*lines, *([Scale("corners", (width, height))] if self.has_corners else [])], outputs

    def _boxes_after(self, names: Sequence[str]) -> Call:
        plain = [Name(name) for name in names if name != "corners"]
        corners = {"corners": Name("corners")} if self.has_corners else {}
        return Call(tuple(names), "boxes_after", (Name("scene"), Name("sizes"), *plain), corners)

    def _segmentation(self) -> tuple[list[Statement], list[str]]:
        # Masks are stored as their images are: neither is turned upright.
        lines = [*self._decoded(adjust_orientation=False), *self._decoded_masks()]
        return [*lines, *self.mask_statements()], ["images", "masks"]

    def _decoded(self, **options: object) -> list[Statement]:
        encoded = (Name("columns", "image"),)
        if not self.array_images:
            return [Call(("images",), "fn.decoders.image", encoded, options)]
        return [
            Call(("images",), "fn.decoders.numpy", encoded),
            Call(("images",), "fn.reshape", (_IMAGES,), {"layout": "HWC"}),
        ]

    def _decoded_masks(self) -> list[Statement]:
        encoded = (Name("columns", "mask"),)
        if not self.array_masks:
            return [Call(("masks",), "fn.decoders.mask", encoded)]
        return [
            Call(("masks",), "fn.decoders.numpy", encoded),
            Call(("masks",), "fn.reshape", (_MASKS,), {"rel_shape": [1, 1, -1], "layout": "HWC"}),
        ]

    def mask_statements(self) -> list[Statement]:
        """Return the statements from decoded images and masks to the tensors of a batch."""
        lines: list[Statement] = []
        mirror: Name | None = None
        if isinstance(self.settings.augment, Recipe):
            lines.append(ApplyRecipe(self.settings.augment, self.origin, ("images", "masks"), self.seed))
        elif self.settings.train:
            mirror = _MIRROR
            lines += [Call(("sizes",), "fn.shapes", (_IMAGES,)), *_same_window("sizes")]
        lines += [self._resized("images"), self._resized("masks")]
        if mirror is not None:
            lines += [_coin(), _flipped("masks")]
        lines += [
            self._normalized(mirror=mirror),
            Call(("masks",), "fn.squeeze", (_MASKS,), {"axes": [2]}),
            Call(("masks",), "fn.cast", (_MASKS,), {"dtype": INT64}),
        ]
        return lines


def check_labels(recipe: object, task: str) -> None:
    """Raise ArgumentError for a recipe that blends images whose classes are not weights."""
    if isinstance(recipe, Recipe) and task in ("classification", "multilabel") and recipe.mixes_labels():
        raise ArgumentError(
            f"augment: {recipe.name} blends images, and batches for {task} have whole classes; mix batches with "
            "pixelmill.mixing, or build a pipeline and use scene.soft_label"
        )


def _read(reader: ReaderSettings, columns: list[str]) -> Call:
    path = reader.paths[0] if len(reader.paths) == 1 else list(reader.paths)
    arguments: dict[str, object] = {"path": path, "columns": columns, "name": "Reader"}
    if reader.format is not None:
        arguments["format"] = reader.format
    if reader.split is not None:
        arguments["split"] = reader.split
    if reader.shuffle:
        arguments["random_shuffle"] = True
    if reader.sampler == "balanced":
        arguments["balanced"] = True
    if reader.world_size > 1:
        arguments |= {"num_shards": reader.world_size, "shard_id": reader.rank}
    return Call(("columns",), "fn.readers.dataset", (), {**arguments, **reader.options})


def _renamed(name: str, column: str) -> Statement:
    return Column(name, Name("columns", column))


def _coin() -> Call:
    return Call(("mirror",), "fn.random.coin_flip", (), {"probability": 0.5})


def _flipped(name: str) -> Call:
    return Call((name,), "fn.flip", (Name(name),), {"horizontal": _MIRROR})


def _same_window(sizes: str) -> list[Statement]:
    """Cut the same random window out of images and masks."""
    window = Call(("anchor", "extent"), "fn.random_crop_generator", (Name(sizes),), {"random_area": SCENE_AREA})
    pixels = {"axes": [0, 1], "normalized_anchor": False, "normalized_shape": False}
    place = Name("anchor"), Name("extent")
    return [window, *(Call((name,), "fn.slice", (Name(name), *place), pixels) for name in ("images", "masks"))]


@dataclass(frozen=True)
class Column(Statement):
    """A column of the reader under a name of its own."""

    target: str
    column: Name

    def run(self, values: dict[str, object]) -> None:
        values[self.target] = self.column.value(values)

    def __str__(self) -> str:
        return f"{self.target} = {self.column}"


def loaded_augmentation(augment: object) -> tuple[Recipe | AutoAugment | Function | None, str | None]:
    """Return what an argument `augment` stands for, and what `load_recipe` loads it from.

    Args:
        augment: The name or the file of a recipe, a `Recipe`, one of `AUTO_AUGMENT`, or a function from images to
            images.
    """
    if augment is None or isinstance(augment, Recipe):
        return augment, None
    if isinstance(augment, (str, os.PathLike)):
        text = os.fspath(augment)
        for kind in AUTO_AUGMENT:
            if text == kind:
                return kind, None
        try:
            return load_recipe(text), text
        except ArgumentError as error:
            if os.path.lexists(text):
                raise
            raise ArgumentError(f"augment: {error}; also: {', '.join(AUTO_AUGMENT)}") from None
    if callable(augment):
        return augment, None
    raise ArgumentError(
        f"augment must be a recipe (a name, a YAML file or a Recipe), one of {', '.join(AUTO_AUGMENT)}, "
        f"or a function from images to images, got {augment!r}"
    )
