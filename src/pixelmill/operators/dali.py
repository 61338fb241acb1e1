"""How an operator maps to DALI, and how far results may differ from DALI's: parts of an operator's declaration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pixelmill.steps.step import Expr

Device = Literal["cpu", "gpu", "mixed"]


@dataclass(frozen=True)
class Tolerance:
    """How far results may differ from DALI's.

    Attributes:
        level: For integers: the largest difference; four times as much for types of 16 bits and more.
        relative: For floats: the largest difference, relative to the largest value of the result.
    """

    level: int = 0
    relative: float = 0.0


EXACT = Tolerance()
CLOSE = Tolerance(level=1, relative=1e-3)  # recomputed pixels
NEARLY = Tolerance(relative=1e-4)  # sums, coordinates and matrices


@dataclass(frozen=True)
class DaliCall:
    """The DALI call that does the work of an operator.

    Attributes:
        name: Name of the DALI operator; empty if it is the same.
        devices: The devices that DALI supports it on.
        drawn: Returns arguments of the call that are computed natively, from the lowered operator. This splits
            operators that draw random numbers and then process pixels: the numbers are drawn natively, and DALI
            processes the pixels.
        constants: Further constant arguments of the call.
        without: Arguments of the operator that the call does not take.
        cpu_inputs: The indices of inputs that stay in main memory when the others are on a GPU.
        anywhere: Whether the inputs may be on a GPU when the operator is not, because only their shapes are used.
        adds: Whether the drawn values are added to the input; the call then takes the sum and the input.
    """

    name: str = ""
    devices: tuple[Device, ...] = ("cpu", "gpu")
    drawn: Callable[[Expr], dict[str, Expr]] | None = None
    constants: Mapping[str, object] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    cpu_inputs: tuple[int, ...] = ()
    anywhere: bool = False
    adds: bool = False


SAME = DaliCall()
ON_CPU = DaliCall(devices=("cpu",))
DECODER = DaliCall(devices=("cpu", "mixed"))

# For readers, sources and random numbers: they run natively before DALI, which takes their outputs.
BEFORE: Literal["before"] = "before"

# A DALI call, or always native before DALI, or (None) native wherever the operator is in the graph.
OnDali = DaliCall | Literal["before"] | None
