"""Random numbers from the beta distribution, which MixUp and CutMix draw their mixing weights from."""

from __future__ import annotations

from typing import Annotated

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Ints, PerSample, Range, Tensor, operator
from pixelmill.operators.random import output_shape
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
    """Draw random numbers between 0 and 1 from a beta distribution.

    Args:
        like: A value whose shape the result takes.
        alpha: First shape parameter, above 0; larger values move the distribution toward 1.
        beta: Second shape parameter, above 0; larger values move the distribution toward 0.
        shape: The shape of the result; a scalar if None.
        dtype: Type of the result: FLOAT (the default) or FLOAT64.
    """
    if dtype not in (None, FLOAT, FLOAT64):
        raise ArgumentError(f"random.beta: dtype must be FLOAT or FLOAT64, got {dtype.name}")
    if shape is not None and like is not None:
        raise ArgumentError("random.beta: the shape is specified twice, by shape and by the input")
    return Beta(
        alpha=alpha, beta=beta, shape=output_shape(shape, like), key=operator_key(), wide=dtype == FLOAT64
    ).value()
