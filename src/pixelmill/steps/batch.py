"""Steps that see the whole batch. They run in Python, between two native programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from pixelmill.steps.step import BatchStep, Expr, Input, RandomKey, declared


@declared
class Callback(BatchStep):
    """Call a Python function of the user.

    Attributes:
        values_in: The arguments of the call.
        function: The function; it takes arrays, or lists of arrays.
        layouts: The layouts of the outputs; an empty one allows any number of axes.
        batch: Call it once per batch, with lists, instead of once per sample.
        whole: Call it for all samples of a batch, or of a branch, even if later branches need only some of them.
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
    """Return the extents to pad all samples of a batch to: the given ones, otherwise the largest."""

    shape: Input
    given: Input | None = None
    axes: tuple[int, ...]


@declared
class BatchSingle(BatchStep):
    """Whether all samples, whose shapes are given, have one element."""

    shape: Input


@declared
class PermuteBatch(BatchStep):
    """Reorder samples by indices: one for each sample, or a list for the batch."""

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
    """Combine the moments of samples to a mean and an inverse deviation of the batch."""

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
        function: The function.
        inputs: Its arguments.
        layouts: The layouts of the outputs.
        batch: Call it once per batch instead of once per sample.
        whole: Call it for all samples of a batch, needed or not.
        exact: Raise an error for outputs whose number of axes differs from their layout.
    """
    checked = layouts if exact else ("",) * len(layouts)
    made = Callback(values_in=inputs, function=function, layouts=checked, batch=batch, whole=whole)
    return made.values(*layouts)
