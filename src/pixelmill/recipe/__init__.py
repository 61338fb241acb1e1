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
from pathlib import Path

import numpy as np

from pixelmill import fn
from pixelmill.errors import ArgumentError, suggestion
from pixelmill.graph.nodes import DataNode
from pixelmill.pipeline import Pipeline
from pixelmill.recipe.geometry import follow
from pixelmill.recipe.scene import Move, Scene
from pixelmill.recipe.steps import apply_steps, named_step
from pixelmill.storage.yaml_file import read_yaml

_BUILTIN = Path(__file__).parent / "builtin"
_FIELDS = {"name", "about", "steps"}

__all__ = ["Move", "Recipe", "Scene", "check_recipe", "follow", "load_recipe", "recipe_names"]


@dataclass(frozen=True)
class Recipe:
    """What is done to each image, as a list of steps or as a function.

    Attributes:
        name: Its name.
        about: A description in one sentence.
        steps: The steps, each a mapping of one name to its arguments; empty for a recipe that is a function.
        function: A function from a `Scene` to a `Scene`; None if the recipe is a list of steps.
        source: The origin of the function, `file.py:name`.
    """

    name: str
    about: str = ""
    steps: tuple[Mapping[str, object], ...] = ()
    function: Callable[[Scene], Scene] | None = field(default=None, compare=False)
    source: str | None = None

    def apply(self, image: DataNode, mask: DataNode | None = None, *, seed: int = 0) -> Scene:
        """Add the recipe to a graph, for example in a `pipeline_def` function.

        Args:
            image: Images, HWC.
            mask: Masks of the size of the images.
            seed: Seed of the random numbers, in addition to the sample and the epoch.
        """
        scene = Scene(image, mask)
        if self.function is None:
            return apply_steps(scene, self.steps, seed=seed)
        found = self.function(scene)
        if not isinstance(found, Scene):
            raise ArgumentError(f"recipe {self.name}: the function must return a Scene, got {type(found).__name__}")
        return found

    def content(self) -> dict[str, object]:
        """Return everything that determines the result, as JSON values, for the plan of a job."""
        if self.source is None:
            return {"steps": json.loads(json.dumps(self.steps))}
        digest = hashlib.sha256(Path(self.source.rpartition(":")[0]).read_bytes()).hexdigest()
        return {"function": self.source.rpartition(":")[2], "sha256": digest}


def recipe_names() -> tuple[str, ...]:
    """Return the names of the recipes that come with pixelmill."""
    return tuple(sorted(path.stem for path in _BUILTIN.glob("*.yaml")))


def load_recipe(source: str | os.PathLike[str]) -> Recipe:
    """Load a recipe: a built-in one by name, a YAML file, or a function as `file.py:name`."""
    text = os.fspath(source)
    if text in recipe_names():
        return _from_yaml(_BUILTIN / f"{text}.yaml")
    path, colon, name = text.rpartition(":")
    if colon and path.endswith(".py"):
        return _from_function(Path(path), name)
    if not os.path.lexists(text):
        known, hint = ", ".join(recipe_names()), suggestion(text, recipe_names())
        there = f"there is no file {text} and no built-in recipe of this name"
        raise ArgumentError(f"recipe: {there}; built-in: {known}{hint}")
    return _from_yaml(Path(text))


def check_recipe(recipe: Recipe) -> tuple[int, int]:
    """Run a recipe on an image of 480x640 with a mask; return the height and width of the result."""
    black = np.zeros((480, 640, 3), np.uint8)
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, seed=0)
    with pipeline:
        image = fn.external_source(source=lambda: [black], layout="HWC")
        mask = fn.external_source(source=lambda: [black[:, :, :1]], layout="HWC")
        try:
            scene = recipe.apply(image, mask)
        except ArgumentError as error:
            raise ArgumentError(f"recipe {recipe.name}: {error}") from error
        pipeline.set_outputs(scene.image, scene.mask)
    outputs = pipeline.run()
    pipeline.close()
    sizes = [output.at(0).shape[:2] for output in outputs]
    if sizes[0] != sizes[1]:
        raise ArgumentError(f"recipe {recipe.name}: the image becomes {sizes[0]}, but its mask becomes {sizes[1]}")
    return int(sizes[0][0]), int(sizes[0][1])


def _from_yaml(path: Path) -> Recipe:
    content = read_yaml(str(path))
    if not isinstance(content, dict) or not isinstance(content.get("steps"), list) or not content["steps"]:
        raise ArgumentError(f"recipe: {path} needs a list `steps`")
    unknown = sorted(str(key) for key in content.keys() - _FIELDS)
    if unknown:
        raise ArgumentError(f"recipe: {path}: unknown field {unknown[0]!r}; expected {', '.join(sorted(_FIELDS))}")
    name = str(content.get("name", path.stem))
    try:
        steps = tuple({key: value} for key, value in (named_step(s, n) for n, s in enumerate(content["steps"], 1)))
    except ArgumentError as error:
        raise ArgumentError(f"recipe {name}, {path}: {error}") from None
    return Recipe(name, str(content.get("about", "")), steps)


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
