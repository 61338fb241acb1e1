"""Sequences of frames: the first axis counts the frames."""

from __future__ import annotations

from typing import Annotated

from pixelmill.errors import ArgumentError
from pixelmill.operators.declare import Ints, PerSample, Range, Tensor, operator
from pixelmill.steps.remapping import RearrangeFrames
from pixelmill.steps.sources import constant_numbers
from pixelmill.steps.step import Expr


def _check_sequence(name: str, layout: str) -> None:
    if layout and not layout.startswith("F"):
        raise ArgumentError(f"{name}: the input must be a sequence, whose layout starts with F, got {layout!r}")


@operator("sequence_rearrange")
def sequence_rearrange(data: Tensor, *, new_order: PerSample[Annotated[Ints, Range(0)]]) -> Tensor:
    """Reorder, repeat or drop the frames of a sequence.

    Args:
        data: Sequences.
        new_order: The frames of the result, by their numbers in `data`; at least one.
    """
    _check_sequence("sequence_rearrange", data.layout)
    numbers = constant_numbers(new_order)
    if numbers is not None and len(numbers) == 0:
        raise ArgumentError("sequence_rearrange: new_order must not be empty: empty result sequences are not allowed")
    return RearrangeFrames(data=data, new_order=new_order).value(data.layout)


@operator("per_frame")
def per_frame(data: Tensor, *, replace: bool = False) -> Tensor:
    """Mark an array as a sequence: the first letter of its layout becomes F.

    Passed as an argument of an operator on sequences, it has one value for each frame.

    Args:
        data: Any array.
        replace: Whether to replace a first letter other than F; by default that is an error.
    """
    layout = data.layout
    if layout and layout[0] != "F" and not replace:
        raise ArgumentError(
            f"per_frame: the layout of a sequence starts with F, got {layout!r}; replace=True changes it"
        )
    return Expr(data.step, data.index, f"F{layout[1:]}")
