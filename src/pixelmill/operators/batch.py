"""Operators that reorder the samples of a batch."""

from __future__ import annotations

from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Ints, PerSample, Tensor, operator
from pixelmill.steps.batch import BatchPermutation, PermuteBatch
from pixelmill.steps.step import operator_key


@operator("permute_batch")
def permute_batch(data: Tensor, *, indices: PerSample[Ints]) -> Tensor:
    """Reorder the samples of a batch. A sample may be taken several times, or not at all.

    Args:
        data: Arrays of any type and shape.
        indices: For each position in the batch, the index of the sample to put there: a list, or one number per sample.
    """
    return PermuteBatch(data=data, indices=indices).value(data.layout)


@operator("batch_permutation", draws=True, dali=BEFORE)
def batch_permutation(*, allow_repetitions: bool = False, no_fixed_points: bool = False) -> Tensor:
    """Draw a random order of the samples in a batch, for use with `permute_batch`.

    Args:
        allow_repetitions: Whether a sample may occur several times, and others not at all.
        no_fixed_points: Whether every sample must move to another position.
    """
    return BatchPermutation(
        key=operator_key(), allow_repetitions=allow_repetitions, no_fixed_points=no_fixed_points
    ).value()
