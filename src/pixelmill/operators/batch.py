"""Samples of a batch in other places."""

from __future__ import annotations

from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Ints, PerSample, Tensor, operator
from pixelmill.steps.batch import BatchPermutation, PermuteBatch
from pixelmill.steps.step import operator_key


@operator("permute_batch")
def permute_batch(data: Tensor, *, indices: PerSample[Ints]) -> Tensor:
    """Take samples of the batch in another order; some may be taken twice, others not at all.

    Args:
        data: Any array.
        indices: For each place of the batch, the sample that is put there: a list, or a number for each sample.
    """
    return PermuteBatch(data=data, indices=indices).value(data.layout)


@operator("batch_permutation", draws=True, dali=BEFORE)
def batch_permutation(*, allow_repetitions: bool = False, no_fixed_points: bool = False) -> Tensor:
    """Draw an order for the samples of a batch, to be given to `permute_batch`.

    Args:
        allow_repetitions: Whether a sample may be taken twice, and another not at all.
        no_fixed_points: Whether every sample must get another place.
    """
    return BatchPermutation(
        key=operator_key(), allow_repetitions=allow_repetitions, no_fixed_points=no_fixed_points
    ).value()
