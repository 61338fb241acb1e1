"""The steps of a recipe: from a list of names and arguments to operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pixelmill import fn, types
from pixelmill import math as node_math
from pixelmill.errors import ArgumentError, PixelmillError
from pixelmill.graph.nodes import DataNode
from pixelmill.operators import REGISTRY
from pixelmill.recipe.draws import Draws, normalized
from pixelmill.recipe.scene import Scene
from pixelmill.recipe.vocabulary import DRAWING, GEOMETRY, JOINING, SHORT_NAMES, StepEntry, entries


def apply_steps(scene: Scene, steps: Sequence[Mapping[str, object]], *, seed: int) -> Scene:
    """Add the steps of a recipe to a graph. Raises ArgumentError that names the invalid step."""
    builder = Builder(scene, Draws(seed))
    builder.run(entries(steps), None)
    return builder.scene.where(None)


class Builder:
    """Adds steps to a scene, each under the condition that all steps around it meet."""

    def __init__(self, scene: Scene, draws: Draws) -> None:
        self.scene = scene
        self._draws = draws
        self._before: tuple[StepEntry, ...] = ()

    def run(self, steps: Sequence[StepEntry], active: DataNode | None) -> None:
        """Add steps in order for the samples whose `active` is not 0; None for all."""
        outer = self._before
        for step in steps:
            self._add(step, active)
            self._before = (*self._before, step)
        self._before = outer

    def _add(self, step: StepEntry, active: DataNode | None) -> None:
        if step.probability is not None:
            coin = fn.random.coin_flip(probability=step.probability, seed=self._draws.seed(step.label, "p"))
            active = _both(active, coin)
        match step.name:
            case "sequential":
                self.run(step.members(), active)
            case "one_of":
                self._one_of(step, active)
            case "some_of":
                self._some_of(step, active)
            case "per_class":
                self._per_class(step, active)
            case _:
                self._primitive(step, active)

    def _one_of(self, step: StepEntry, active: DataNode | None) -> None:
        members = step.members()
        weights = self._weights(step, len(members))
        number = fn.random.choice(len(members), p=weights, seed=self._draws.seed(step.label, "one_of"))
        for place, member in enumerate(members):
            self.run([member], _both(active, number == place))

    def _some_of(self, step: StepEntry, active: DataNode | None) -> None:
        """Apply as many members as `count` says, in their order; which ones is drawn without repetition."""
        members = step.members()
        count = step.arguments.get("count")
        bounds = [count, count] if isinstance(count, int) else count
        whole = isinstance(bounds, list) and len(bounds) == 2 and all(type(bound) is int for bound in bounds)
        if not whole or not 0 <= bounds[0] <= bounds[1] <= len(members):  # type: ignore[index]
            raise step.error(f"count must be an integer up to {len(members)}, or the smallest and the largest one")
        weights = self._weights(step, len(members)) or [1.0] * len(members)
        wanted = self._draws.value({"integers": bounds}, step.label, "count")
        drawn = fn.random.uniform(
            range=[0.0, 1.0], shape=[len(members)], dtype=types.FLOAT64, seed=self._draws.seed(step.label, "some_of")
        )
        # The smallest of exponential waiting times: members are drawn one after the other in proportion to weights.
        times = [-node_math.log(drawn[place] + 1e-300) / max(weight, 1e-12) for place, weight in enumerate(weights)]
        for place, member in enumerate(members):
            rank = fn.cast(times[place] < times[place], dtype=types.INT32)
            for other, time in enumerate(times):
                if other != place:
                    rank = rank + fn.cast(time < times[place], dtype=types.INT32)
            self.run([member], _both(active, rank < wanted))

    def _per_class(self, step: StepEntry, active: DataNode | None) -> None:
        label = self.scene.label
        if label is None:
            raise step.error("the class of the image is not known here; pass its label, as in recipe.apply(label=...)")
        others: DataNode | None = active
        for number, members in step.classes():
            if number is None:
                self.run(members, others)
                continue
            self.run(members, _both(active, label == number))
            others = _both(others, label != number)

    def _weights(self, step: StepEntry, count: int) -> list[float] | None:
        if "weights" not in step.arguments:
            return None
        try:
            return normalized(step.arguments["weights"], count)
        except ArgumentError as error:
            raise step.error(error) from None

    def _primitive(self, step: StepEntry, active: DataNode | None) -> None:
        try:
            self.scene = self._applied(step, self.scene.where(active))
        except (PixelmillError, TypeError, ValueError) as error:
            raise step.error(error) from error

    def _applied(self, step: StepEntry, scene: Scene) -> Scene:
        values = {key: self._draws.value(value, step.label, key) for key, value in step.arguments.items()}
        if step.name in JOINING:
            return self._joined(step, scene, values)
        if step.name in GEOMETRY:
            if step.name in DRAWING:
                values.setdefault("seed", self._draws.seed(step.label, "window"))
            moved: Scene = getattr(scene, step.name)(**values)
            return moved
        name = SHORT_NAMES.get(step.name, step.name)
        return scene.apply(_pixel_change(name, values, seed=self._draws.seed(step.label, "noise")))

    def _joined(self, step: StepEntry, scene: Scene, values: dict[str, Any]) -> Scene:
        count = 1
        if step.name == "mosaic":
            grid = values.get("grid", 2)
            count = grid * grid - 1 if grid in (2, 3) else 0
        others = [self._other(self._draws.seed(step.label, f"other {number}")) for number in range(count)]
        joined: Scene = getattr(scene, step.name)(others if step.name == "mosaic" else others[0], **values)
        return joined

    def _other(self, seed: int) -> Scene:
        """Return another sample after the steps before this one, which make new draws for it."""
        builder = Builder(self.scene.other(seed), Draws(seed))
        builder.run(self._before, None)
        return builder.scene.where(None)


def _both(active: DataNode | None, other: DataNode) -> DataNode:
    flag = fn.cast(other != 0, dtype=types.INT32)
    return flag if active is None else active * flag


def _pixel_change(name: str, values: dict[str, object], *, seed: int) -> Callable[[DataNode], DataNode]:
    operator: Any = fn
    for part in name.split("."):
        operator = getattr(operator, part)
    if REGISTRY[name].draws:
        values["seed"] = seed
    return lambda image: operator(image, **values)
