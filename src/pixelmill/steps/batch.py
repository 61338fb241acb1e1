"""Steps that see the whole batch, and are run in Python between two native programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from pixelmill.steps.step import BatchStep, Expr, Input, RandomKey, declared


@declared
class Callback(BatchStep):
    """Call a Python function of the user.

    Attributes:
        values_in: What it is called with.
        function: What is called, with arrays, or with lists of them.
        layouts: Names of the axes of the outputs; an empty one fits any number of axes.
        batch: Call it once for a batch, with lists, instead of for every sample.
        whole: Call it for all samples of a batch, or of a branch, also where later branches need only some of them.
    """

    output_counts: ClassVar[range] = range(1, 2**16)

    values_in: tuple[Input | None, ...]
    function: Callable[..., object]
    layouts: tuple[str, ...]
    batch: bool
    whole: bool

    @property
    def outputs(self) -> int:
        """One for each layout."""
        return len(self.layouts)


@declared
class BatchExtents(BatchStep):
    """Find the extents that all samples of a batch shall have: those given, and where none is, the largest."""

    shape: Input
    given: Input | None = None
    axes: tuple[int, ...]


@declared
class BatchSingle(BatchStep):
    """Whether all samples, whose shapes are given, have one element."""

    shape: Input


@declared
class PermuteBatch(BatchStep):
    """Put samples into the places that indices tell: one for each sample, or a list for the batch."""

    data: Input
    indices: Input


@declared
class BatchPermutation(BatchStep):
    """Draw a permutation of the places of a batch."""

    key: RandomKey
    allow_repetitions: bool
    no_fixed_points: bool


@declared
class BatchMoments(BatchStep):
    """Join the moments of samples to a mean and an inverse deviation for all."""

    output_counts: ClassVar[range] = range(2, 3)

    counts: Input
    means: Input
    squares: Input
    mean: float | None
    ddof: int
    epsilon: float
    scale: float


def callback(
    function: Callable[..., object],
    *inputs: Expr | None,
    layouts: tuple[str, ...],
    batch: bool = True,
    whole: bool = True,
    exact: bool = True,
) -> tuple[Expr, ...]:
    """Add a call of a Python function, with one output for each of `layouts`.

    Args:
        function: What is called.
        inputs: What it is called with.
        layouts: Names of the axes of the outputs.
        batch: Call it once for a batch instead of for every sample.
        whole: Call it for all samples of a batch, needed or not.
        exact: Refuse outputs with another number of axes than their layouts name.
    """
    checked = layouts if exact else ("",) * len(layouts)
    made = Callback(values_in=inputs, function=function, layouts=checked, batch=batch, whole=whole)
    return made.values(*layouts)
