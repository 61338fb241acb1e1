"""What translating the pipeline of another library to a recipe results in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Step = dict[str, Any]


@dataclass
class Translation:
    """A translated pipeline.

    Attributes:
        steps: The steps of the recipe.
        approximate: Transforms whose step looks alike but is not the same arithmetic.
        untranslated: Transforms that have no step, with the reason.
        outside: Transforms that are no part of a recipe, such as `ToTensorV2`.
    """

    steps: list[Step] = field(default_factory=list)
    approximate: list[str] = field(default_factory=list)
    untranslated: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)


class UntranslatableError(Exception):
    """Why a transform has no step."""


def with_probability(step: Step, probability: object) -> Step:
    """Return a step that is applied with a probability."""
    if probability in (1, 1.0) or not isinstance(probability, (int, float)):
        return step
    ((name, arguments),) = step.items()
    return {name: {**arguments, "p": probability}}
