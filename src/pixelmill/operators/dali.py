"""What an operator is on DALI, and how far its results may be from DALI's: parts of its declaration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pixelmill.steps.step import Expr

Device = Literal["cpu", "gpu", "mixed"]


@dataclass(frozen=True)
class Tolerance:
    """What results may differ by from DALI's.

    Attributes:
        level: Whole numbers; of those with 16 bits and more, four times as much.
        share: Floats, as a share of the largest of the result.
    """

    level: int = 0
    share: float = 0.0


EXACT = Tolerance()
CLOSE = Tolerance(level=1, share=1e-3)  # pixels that are worked out anew
NEARLY = Tolerance(share=1e-4)  # sums, places and matrices


@dataclass(frozen=True)
class DaliCall:
    """A call of DALI that does the work of an operator.

    Attributes:
        name: DALI's operator; that of the same name when empty.
        devices: What DALI has it for.
        drawn: Gives arguments of the call that are found out natively, from what the operator was lowered to. An
            operator that draws and then works on pixels is split so: DALI gets the numbers and does the work.
        constants: Further arguments of the call.
        without: Arguments of the operator that the call does not take.
        cpu_inputs: The numbers of inputs that stay in main memory when the rest is on a GPU.
        anywhere: Whether its inputs may be on a GPU when it is not: it looks at their shapes alone.
        adds: Whether what is drawn is added to the input; the call then gets the sum and the input.
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

# Of readers, sources and draws: they run natively, before DALI, and what they give is handed to it.
BEFORE: Literal["before"] = "before"

# What an operator is on DALI: a call, or always native before it, or native wherever it stands.
OnDali = DaliCall | Literal["before"] | None
