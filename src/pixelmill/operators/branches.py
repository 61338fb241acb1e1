"""Choosing between values from sample to sample. Only the branch that is taken is run."""

from __future__ import annotations

from pixelmill.operators.declare import Tensor, operator
from pixelmill.steps.shapes import Choose, Merge


@operator("_branches.merge")
def merge(condition: Tensor, taken: Tensor, otherwise: Tensor) -> Tensor:
    """Take one of two values for each sample.

    Args:
        condition: A number; anything but 0 is true.
        taken: The value where it is true.
        otherwise: The value where it is not.
    """
    layout = taken.layout if taken.layout == otherwise.layout else ""
    return Merge(condition=condition, taken=taken, otherwise=otherwise).value(layout)


@operator("_branches.choose")
def choose(number: Tensor, *values: Tensor) -> Tensor:
    """Take one of several values for each sample.

    Args:
        number: The number of the value, counted from 0.
        values: What there is to choose from.
    """
    layouts = {value.layout for value in values}
    return Choose(number=number, choices=values).value(layouts.pop() if len(layouts) == 1 else "")
