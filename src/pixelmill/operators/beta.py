"""Draws from the beta distribution, which MixUp and CutMix choose their shares by."""

from __future__ import annotations

from typing import Annotated

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Ints, PerSample, Range, Tensor, operator
from pixelmill.operators.random import extents
from pixelmill.steps.random import Beta
from pixelmill.steps.step import operator_key
from pixelmill.types import FLOAT, FLOAT64, DALIDataType


@operator("random.beta", draws=True, dali=BEFORE)
def beta(
    like: Tensor | None = None,
    *,
    alpha: PerSample[Annotated[float, Range(0)]] = 1.0,
    beta: PerSample[Annotated[float, Range(0)]] = 1.0,
    shape: PerSample[Ints] | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Draw numbers between 0 and 1 from a beta distribution.

    Args:
        like: A value whose shape the result takes.
        alpha: Above 0; the larger it is, the closer to 1 are the numbers.
        beta: Above 0; the larger it is, the closer to 0 are the numbers.
        shape: The shape of the result; a single number when left out.
        dtype: Type of the result, float or double; float when left out.
    """
    if dtype not in (None, FLOAT, FLOAT64):
        raise ArgumentError(f"random.beta: dtype must be FLOAT or FLOAT64, got {dtype.name}")
    if shape is not None and like is not None:
        raise ArgumentError("random.beta: the shape is given twice, by shape and by the input")
    return Beta(alpha=alpha, beta=beta, shape=extents(shape, like), key=operator_key(), wide=dtype == FLOAT64).value()
