"""Selection between values, sample by sample. Only the selected branch is run."""

from __future__ import annotations

from pixelmill.operators.declare import Tensor, operator
from pixelmill.steps.shapes import Choose, Merge


@operator("_branches.merge")
def merge(condition: Tensor, taken: Tensor, otherwise: Tensor) -> Tensor:
    """Select one of two values for each sample.

    Args:
        condition: A number; anything but 0 is true.
        taken: The value if the condition is true.
        otherwise: The value if it is false.
    """
    layout = taken.layout if taken.layout == otherwise.layout else ""
    return Merge(condition=condition, taken=taken, otherwise=otherwise).value(layout)


@operator("_branches.choose")
def choose(number: Tensor, *values: Tensor) -> Tensor:
    """Select one of several values for each sample.

    Args:
        number: The index of the value, from 0.
        values: The values to select from.
    """
    layouts = {value.layout for value in values}
    return Choose(number=number, choices=values).value(layouts.pop() if len(layouts) == 1 else "")
