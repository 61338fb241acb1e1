"""A pipeline as a list of statements: they make its graph, and they are the text of a program that makes the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pixelmill import fn, math, types
from pixelmill.auto_aug import auto_augment, rand_augment, trivial_augment
from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode
from pixelmill.image_loader.recipe_boxes import boxes_after
from pixelmill.recipe import Recipe

Values = dict[str, Any]  # nodes, and dictionaries of nodes, by the names that statements give them
AUTO_AUGMENT = {"auto_augment": auto_augment, "rand_augment": rand_augment, "trivial_augment": trivial_augment}
_GLOBALS: Values = {"fn": fn, "math": math, "boxes_after": boxes_after, **AUTO_AUGMENT}  # what statements may call


@dataclass(frozen=True)
class Name:
    """A value that an earlier statement has made.

    Attributes:
        name: Its name.
        key: For a dictionary: which of its values.
    """

    name: str
    key: str | None = None

    def __str__(self) -> str:
        return self.name if self.key is None else f'{self.name}["{self.key}"]'

    def value(self, values: Values) -> Any:
        """Return the value."""
        return values[self.name] if self.key is None else values[self.name][self.key]


class Statement(ABC):
    """One line of the function that defines a pipeline."""

    @abstractmethod
    def run(self, values: Values) -> None:
        """Add the line to the graph."""

    @abstractmethod
    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Call(Statement):
    """The call of an operator.

    Attributes:
        targets: The names of its results.
        function: Its name, such as `fn.resize`.
        inputs: Its inputs.
        arguments: Its arguments: constants, and the names of nodes.
    """

    targets: tuple[str, ...]
    function: str
    inputs: tuple[Name, ...] = ()
    arguments: Mapping[str, object] = field(default_factory=dict)

    def run(self, values: Values) -> None:
        first, *path = self.function.split(".")
        function: Any = _GLOBALS[first]
        for part in path:
            function = getattr(function, part)
        given = {
            key: value.value(values) if isinstance(value, Name) else value for key, value in self.arguments.items()
        }
        made = function(*(name.value(values) for name in self.inputs), **given)
        several = list(made) if isinstance(made, (list, tuple)) else [made]
        values.update(zip(self.targets, several, strict=True))

    def __str__(self) -> str:
        inputs = [str(name) for name in self.inputs]
        arguments = [f"{key}={literal(value)}" for key, value in self.arguments.items()]
        return _wrapped(f"{', '.join(self.targets)} = {self.function}(", [*inputs, *arguments])


@dataclass(frozen=True)
class Scale(Statement):
    """The multiplication of a node by constants."""

    target: str
    factors: tuple[float, ...]

    def run(self, values: Values) -> None:
        values[self.target] = values[self.target] * types.Constant(list(self.factors))

    def __str__(self) -> str:
        return f"{self.target} = {self.target} * types.Constant({list(self.factors)})"


@dataclass(frozen=True)
class ApplyRecipe(Statement):
    """The steps of a recipe, applied to images and masks.

    Attributes:
        recipe: The recipe.
        origin: What `load_recipe` loads it from; None for one that has no name or file.
        targets: `images`, and `masks` if there are any.
        seed: The seed of its random numbers.
        has_boxes: Whether there are `boxes`.
    """

    recipe: Recipe
    origin: str | None
    targets: tuple[str, ...]
    seed: int
    has_boxes: bool = False

    @property
    def _takes_boxes(self) -> bool:
        return self.has_boxes and self.recipe.depends_on_boxes()

    def run(self, values: Values) -> None:
        boxes = {"boxes": values["boxes"]} if self._takes_boxes else {}
        scene = self.recipe.apply(*(values[name] for name in self.targets), **boxes, seed=self.seed)
        values["scene"] = scene
        values.update(zip(self.targets, (scene.image, scene.mask), strict=False))

    def __str__(self) -> str:
        made = ", ".join(("scene.image", "scene.mask")[: len(self.targets)])
        loaded = "recipe" if self.origin is None else f"load_recipe({literal(self.origin)})"
        boxes = ", boxes=boxes" if self._takes_boxes else ""
        call = f"scene = {loaded}.apply({', '.join(self.targets)}{boxes}, seed={self.seed})"
        return f"{call}\n{', '.join(self.targets)} = {made}"


@dataclass(frozen=True)
class ApplyFunction(Statement):
    """The user's own function from images to images."""

    function: Any

    def run(self, values: Values) -> None:
        made = self.function(values["images"])
        if not isinstance(made, DataNode):
            raise ArgumentError(f"augment: the function must return images as a node of fn.*, got {made!r}")
        values["images"] = made

    def __str__(self) -> str:
        return "images = augment(images)  # the function that was passed as augment="


@dataclass(frozen=True)
class Program:
    """The function that defines a pipeline.

    Attributes:
        statements: Its lines.
        outputs: The names of the nodes that it returns.
    """

    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]

    def run(self) -> list[DataNode]:
        """Build the graph in the current pipeline and return its outputs."""
        values: Values = {}
        for statement in self.statements:
            statement.run(values)
        return [values[name] for name in self.outputs]

    def lines(self) -> list[str]:
        """Return the body of the function as text."""
        body = [line for statement in self.statements for line in str(statement).splitlines()]
        return [*body, f"return {', '.join(self.outputs)}"]

    def globals(self) -> set[str]:
        """Return the names besides `fn` that calls begin with."""
        calls = [statement for statement in self.statements if isinstance(statement, Call)]
        return {call.function.partition(".")[0] for call in calls} - {"fn"}

    def parameters(self) -> list[str]:
        """Return what cannot be written as text: the parameters of the function."""
        own = [s for s in self.statements if isinstance(s, ApplyFunction)]
        recipes = [s for s in self.statements if isinstance(s, ApplyRecipe) and s.origin is None]
        return [*(["augment"] if own else []), *(["recipe"] if recipes else [])]


def literal(value: object) -> str:
    """Return a constant as Python text."""
    if isinstance(value, Name):
        return str(value)
    if isinstance(value, Enum):
        return f"types.{value.name}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, str):
        # Double quotes, as formatters write them; `repr` picks single ones and escapes the rest safely.
        text = repr(value)
        return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text else text
    return repr(value)


def _wrapped(start: str, parts: Sequence[str], *, width: int = 100) -> str:
    line = f"{start}{', '.join(parts)})"
    if len(line) <= width:
        return line
    return "\n".join([start, *(f"    {part}," for part in parts), ")"])
