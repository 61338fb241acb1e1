"""Choosing between values from sample to sample. Only the branch that is taken is run."""

from __future__ import annotations

from pixelmill.operators.declare import Tensor, operator
from pixelmill.operators.program import step


@operator("_branches.merge")
def merge(condition: Tensor, taken: Tensor, otherwise: Tensor) -> Tensor:
    """Take one of two values for each sample.

    Args:
        condition: A number; anything but 0 is true.
        taken: The value where it is true.
        otherwise: The value where it is not.
    """
    layout = taken.layout if taken.layout == otherwise.layout else ""
    return step("merge", condition, taken, otherwise, gives=layout)


@operator("_branches.is_number")
def is_number(value: Tensor, *, number: int) -> Tensor:
    """Tell for each sample whether a value is a given number.

    Args:
        value: A whole number.
        number: What it is compared with.
    """
    return step("is_number", value, number=number)
