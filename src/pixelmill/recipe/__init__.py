"""Recipes: lists of operators with constants and random numbers as arguments, for offline and online augmentation.

name: flips
about: Random flip, and slightly changed brightness.
steps:
  - flip: {horizontal: {coin: 0.5}}
  - brightness: {brightness: {uniform: [0.8, 1.2]}, p: 0.5}
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from pixelmill import fn, storage
from pixelmill.errors import ArgumentError, suggestion
from pixelmill.graph.nodes import DataNode
from pixelmill.pipeline import Pipeline
from pixelmill.recipe.geometry import follow
from pixelmill.recipe.joins import other_sample
from pixelmill.recipe.oriented_boxes import follow_corners, from_corners, to_corners
from pixelmill.recipe.scene import Move, Part, Scene
from pixelmill.recipe.steps import apply_steps
from pixelmill.recipe.vocabulary import BOXED, JOINING, entries, walk
from pixelmill.storage.yaml_file import read_yaml

_BUILTIN = Path(__file__).parent / "builtin"
_FIELDS = {"name", "about", "steps", "keypoint_pairs"}
# Left and right eyes, ears, shoulders, elbows, wrists, hips, knees and ankles of people in COCO.
_COCO_PAIRS = tuple((number, number + 1) for number in range(1, 17, 2))

__all__ = [
    "Move",
    "Part",
    "Recipe",
    "Scene",
    "check_recipe",
    "follow",
    "follow_corners",
    "from_corners",
    "load_recipe",
    "other_sample",
    "recipe_names",
    "to_corners",
]


@dataclass(frozen=True)
class Recipe:
    """What is done to each image, as a list of steps or as a function.

    Attributes:
        name: Its name.
        about: A description in one sentence.
        steps: The steps, each a mapping of one name to its arguments; empty for a recipe that is a function.
        function: A function from a `Scene` to a `Scene`; None if the recipe is a list of steps.
        source: The origin of the function, `file.py:name`.
        keypoint_pairs: Numbers, from 0, of the keypoints that swap when left and right do.
    """

    name: str
    about: str = ""
    steps: tuple[Mapping[str, object], ...] = ()
    function: Callable[[Scene], Scene] | None = field(default=None, compare=False)
    source: str | None = None
    keypoint_pairs: tuple[tuple[int, int], ...] = ()

    def depends_on_boxes(self) -> bool:
        """Whether a step depends on the boxes of the image, so that `apply` needs them."""
        return bool(self.steps) and any(step.name in BOXED for step in walk(entries(self.steps)))

    def joins_samples(self) -> bool:
        """Whether a step joins several samples; a function may as well, which is not known before it is called."""
        return bool(self.steps) and any(step.name in JOINING for step in walk(entries(self.steps)))

    def mixes_labels(self) -> bool:
        """Whether a step blends images, so that the class of the image alone is not true any more."""
        return bool(self.steps) and any(step.name in ("mixup", "cutmix") for step in walk(entries(self.steps)))

    def depends_on_class(self) -> bool:
        """Whether a step depends on the class of the image, so that `apply` needs its label."""
        return bool(self.steps) and any(step.name == "per_class" for step in walk(entries(self.steps)))

    def apply(
        self,
        image: DataNode,
        mask: DataNode | None = None,
        *,
        label: DataNode | None = None,
        boxes: DataNode | None = None,
        seed: int = 0,
        others: Callable[[int], Scene] | None = None,
    ) -> Scene:
        """Add the recipe to a graph, for example in a `pipeline_def` function.

        Args:
            image: Images, HWC.
            mask: Masks of the size of the images.
            label: Class numbers, for steps that depend on them.
            boxes: Left, top, right, bottom as fractions of the size, (n, 4), for steps that depend on them.
            seed: Seed of the random numbers, in addition to the sample and the epoch.
            others: Returns another sample of the dataset for a number that names it; by default it is read by the
                reader that the image comes from.
        """
        others = others or _read_others(image, mask, label, boxes)
        scene = Scene(image, mask, label=label, boxes=boxes, others=others)
        if self.function is None:
            return apply_steps(scene, self.steps, seed=seed)
        found = self.function(scene)
        if not isinstance(found, Scene):
            raise ArgumentError(f"recipe {self.name}: the function must return a Scene, got {type(found).__name__}")
        return found

    def content(self) -> dict[str, object]:
        """Return everything that determines the result, as JSON values, for the plan of a job."""
        if self.source is None:
            pairs = {"keypoint_pairs": [list(pair) for pair in self.keypoint_pairs]} if self.keypoint_pairs else {}
            return {"steps": json.loads(json.dumps(self.steps)), **pairs}
        digest = hashlib.sha256(Path(self.source.rpartition(":")[0]).read_bytes()).hexdigest()
        return {"function": self.source.rpartition(":")[2], "sha256": digest}


def recipe_names() -> tuple[str, ...]:
    """Return the names of the recipes that come with pixelmill."""
    return tuple(sorted(path.stem for path in _BUILTIN.glob("*.yaml")))


def load_recipe(source: str | os.PathLike[str]) -> Recipe:
    """Load a recipe: a built-in one by name, a YAML file, also at an address, or a function as `file.py:name`."""
    text = os.fspath(source)
    if text in recipe_names():
        return _from_yaml(str(_BUILTIN / f"{text}.yaml"))
    path, colon, name = text.rpartition(":")
    if colon and path.endswith(".py"):
        return _from_function(Path(path), name)
    if not storage.is_remote(text) and not os.path.lexists(text):
        known, hint = ", ".join(recipe_names()), suggestion(text, recipe_names())
        there = f"there is no file {text} and no built-in recipe of this name"
        raise ArgumentError(f"recipe: {there}; built-in: {known}{hint}")
    return _from_yaml(text)


def _read_others(image: DataNode, *further: DataNode | None) -> Callable[[int], Scene]:
    def read(seed: int) -> Scene:
        mask, label, boxes = (None if value is None else other_sample(value, seed) for value in further)
        return Scene(other_sample(image, seed), mask, label=label, boxes=boxes)

    return read


def check_recipe(recipe: Recipe) -> tuple[int, int]:
    """Run a recipe on an image of 480x640 with a mask; return the height and width of the result."""
    black = np.zeros((480, 640, 3), np.uint8)
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, seed=0)
    with pipeline:
        image = fn.external_source(source=lambda: [black], layout="HWC")
        mask = fn.external_source(source=lambda: [black[:, :, :1]], layout="HWC")
        try:
            boxes = fn.constant(fdata=[0.25, 0.25, 0.75, 0.75], shape=[1, 4])
            others = lambda seed: Scene(image, mask, boxes=boxes)  # noqa: E731
            scene = recipe.apply(image, mask, boxes=boxes, others=others)
        except ArgumentError as error:
            raise ArgumentError(f"recipe {recipe.name}: {error}") from error
        pipeline.set_outputs(scene.image, scene.mask)
    outputs = pipeline.run()
    pipeline.close()
    sizes = [output.at(0).shape[:2] for output in outputs]
    if sizes[0] != sizes[1]:
        raise ArgumentError(f"recipe {recipe.name}: the image becomes {sizes[0]}, but its mask becomes {sizes[1]}")
    return int(sizes[0][0]), int(sizes[0][1])


def _from_yaml(path: str) -> Recipe:
    content = read_yaml(path)
    if not isinstance(content, dict) or not isinstance(content.get("steps"), list) or not content["steps"]:
        raise ArgumentError(f"recipe: {path} needs a list `steps`")
    unknown = sorted(str(key) for key in content.keys() - _FIELDS)
    if unknown:
        raise ArgumentError(f"recipe: {path}: unknown field {unknown[0]!r}; expected {', '.join(sorted(_FIELDS))}")
    name = str(content.get("name", PurePath(path).stem))
    try:
        entries(content["steps"])
    except ArgumentError as error:
        raise ArgumentError(f"recipe {name}, {path}: {error}") from None
    steps = tuple(_with_arguments(step) for step in content["steps"])
    pairs = keypoint_pairs(content.get("keypoint_pairs", []), f"recipe {name}, {path}")
    return Recipe(name, str(content.get("about", "")), steps, keypoint_pairs=pairs)


def keypoint_pairs(given: object, where: str) -> tuple[tuple[int, int], ...]:
    """Read the keypoints that swap when left and right do: `coco`, or a list of pairs of numbers."""
    if given == "coco":
        return _COCO_PAIRS
    pairs: list[Any] = given if isinstance(given, list) else [given]
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(one) is int and one >= 0 for one in pair):
            raise ArgumentError(f"{where}: keypoint_pairs must be `coco` or a list of pairs of numbers, got {given!r}")
    return tuple((pair[0], pair[1]) for pair in pairs)


def _with_arguments(step: str | Mapping[str, object]) -> Mapping[str, object]:
    if isinstance(step, str):
        return {step: {}}
    ((name, arguments),) = step.items()
    return {name: {} if arguments is None else arguments}


def _from_function(path: Path, name: str) -> Recipe:
    import importlib.util

    spec = importlib.util.spec_from_file_location(f"_pixelmill_recipe_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ArgumentError(f"recipe: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise ArgumentError(f"recipe: {path} has no function {name!r}")
    about = (function.__doc__ or "").strip().partition("\n")[0]
    return Recipe(name, about, (), function, f"{path}:{name}")
