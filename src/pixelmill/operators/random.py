"""Random numbers: one value or one array per sample."""

from __future__ import annotations

from typing import Annotated

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.steps.elements import Cast
from pixelmill.steps.random import Choice, CoinFlip, Normal, Uniform
from pixelmill.steps.shapes import Contiguous, Shape
from pixelmill.steps.sources import constant
from pixelmill.steps.step import operator_key
from pixelmill.types import FLOAT, FLOAT64, INT32, DALIDataType


def _cast(value: Tensor, drawn: DALIDataType, wanted: DALIDataType | None) -> Tensor:
    return value if wanted in (None, drawn) else Cast(data=value, dtype=wanted).value(value.layout)


def output_shape(shape: Tensor | None, like: Tensor | None) -> Tensor | None:
    """Return the shape of the result: `shape`, or that of `like`, whose elements are not needed."""
    return shape if shape is not None or like is None else Shape(data=like).value()


@operator("random.uniform", draws=True, aliases=("Uniform",), dali=BEFORE)
def uniform(
    like: Tensor | None = None,
    *,
    range: PerSample[Floats] | None = None,
    values: PerSample[Floats] | None = None,
    shape: PerSample[Ints] | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Draw random numbers uniformly from a range or from a list of values.

    Args:
        like: A value whose shape the result takes.
        range: Lower bound (inclusive) and upper bound (exclusive); -1 and 1 if None.
        values: Numbers to choose from, as an alternative to `range`.
        shape: The shape of the result; a scalar if None.
        dtype: Type of the result; float if None.
    """
    if range is not None and values is not None:
        raise ArgumentError("random.uniform: range and values are mutually exclusive")
    if shape is not None and like is not None:
        raise ArgumentError("random.uniform: the shape is specified twice, by shape and by the input")
    bounds = range if range is not None else constant([-1.0, 1.0])
    wide = dtype not in (None, FLOAT)
    drawn = Uniform(
        range=bounds, choices=values, shape=output_shape(shape, like), key=operator_key(), wide=wide
    ).value()
    return _cast(drawn, FLOAT64 if wide else FLOAT, dtype)


@operator("random.normal", draws=True, aliases=("NormalDistribution",), dali=BEFORE)
def normal(
    like: Tensor | None = None,
    *,
    mean: PerSample[float] = 0.0,
    stddev: PerSample[Annotated[float, Range(0)]] = 1.0,
    shape: PerSample[Ints] | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Draw random numbers from a normal distribution.

    Args:
        like: A value whose shape the result takes.
        mean: Mean of the distribution.
        stddev: Standard deviation of the distribution.
        shape: The shape of the result; a scalar if None.
        dtype: Type of the result; float if None.
    """
    drawn = Normal(mean=mean, stddev=stddev, shape=output_shape(shape, like), key=operator_key()).value()
    return _cast(drawn, FLOAT, dtype)


@operator("random.coin_flip", draws=True, aliases=("CoinFlip",), dali=BEFORE)
def coin_flip(
    like: Tensor | None = None,
    *,
    probability: PerSample[Annotated[float, Range(0, 1)]] = 0.5,
    shape: PerSample[Ints] | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Draw 1 with a given probability, 0 otherwise.

    Args:
        like: A value whose shape the result takes.
        probability: Probability of a 1.
        shape: The shape of the result; a scalar if None.
        dtype: Type of the result; int32 if None.
    """
    drawn = CoinFlip(probability=probability, shape=output_shape(shape, like), key=operator_key()).value()
    return _cast(drawn, INT32, dtype)


@operator("random.choice", draws=True, dali=BEFORE)
def choice(
    a: Tensor,
    like: Tensor | None = None,
    *,
    p: PerSample[Floats] | None = None,
    shape: PerSample[Ints] | None = None,
) -> Tensor:
    """Draw random elements of a list, or integers from 0 to a - 1.

    Args:
        a: An integer, or the list; of an array with several axes, elements along the first axis are drawn.
        like: A value whose shape the result takes.
        p: The probability of each element; uniform if None.
        shape: The shape of the result; a single element if None.
    """
    return Choice(
        choices=Contiguous(data=a).value(), weights=p, shape=output_shape(shape, like), key=operator_key()
    ).value()
