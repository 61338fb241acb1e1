"""Normalization by the mean and standard deviation of each sample or of the batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.arithmetic import arithmetic
from pixelmill.operators.dali import CLOSE
from pixelmill.operators.declare import Ints, PerSampleArray, Tensor, operator
from pixelmill.operators.reductions import axis_indices, resolved_axes
from pixelmill.steps.batch import BatchMoments
from pixelmill.steps.elements import Cast, InverseDeviation, InverseOf, Moments, Reduce
from pixelmill.steps.sources import constant, constant_array, constant_numbers
from pixelmill.types import BOOL, FLOAT, DALIDataType

NAME = "normalize"


@dataclass(frozen=True, eq=False)
class Spread:
    """How the standard deviation is computed, and the scale applied to its inverse."""

    ddof: int
    epsilon: float
    scale: float


@operator(NAME, tolerance=CLOSE)
def normalize(
    data: Tensor,
    *,
    axes: Ints | None = None,
    axis_names: str | None = None,
    mean: PerSampleArray[float] | None = None,
    stddev: PerSampleArray[float] | None = None,
    batch: bool = False,
    ddof: int = 0,
    epsilon: float = 0.0,
    scale: float = 1.0,
    shift: float = 0.0,
    dtype: DALIDataType = FLOAT,
) -> Tensor:
    """Subtract the mean and divide by the standard deviation: `scale * (x - mean) / stddev + shift`.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index. If None, all axes, or those along which a given `mean` or `stddev` array has
            extent 1.
        axis_names: The same axes by layout letter, such as `"HW"`.
        mean: The mean: a number, or an array with as many axes as `data`; computed from the data if None.
        stddev: The standard deviation, in the same form; computed from the data if None.
        batch: Whether to compute mean and standard deviation over the whole batch instead of per sample.
        ddof: Delta degrees of freedom: the sum of squares is divided by N - ddof, where N is the number of elements.
        epsilon: Value added to the variance, to avoid division by small numbers.
        scale: Factor applied after the division.
        shift: Value added after scaling.
        dtype: Type of the result; integers are rounded and clamped.
    """
    chosen = axis_indices(NAME, data.layout, axes, axis_names)
    if chosen is not None:
        chosen = resolved_axes(NAME, data.layout, chosen)
    _check(mean, stddev, chosen, batch=batch, dtype=dtype)
    spread = Spread(ddof, epsilon, scale)
    if batch:
        center, inverse = _of_batch(data, mean, stddev, chosen, spread)
    else:
        center, inverse = _of_sample(data, mean, stddev, chosen, spread)
    x = Cast(data=data, dtype=FLOAT).value(data.layout)
    result = arithmetic("mul", arithmetic("sub", x, _single(center)), _single(inverse))
    if shift != 0:
        result = arithmetic("add", result, constant(shift, np.float32))
    return result if dtype == FLOAT else Cast(data=result, dtype=dtype).value(data.layout)


def _check(
    mean: Tensor | None, stddev: Tensor | None, axes: list[int] | None, *, batch: bool, dtype: DALIDataType
) -> None:
    if dtype == BOOL:
        raise ArgumentError(f"{NAME}: dtype must be a number type, got {dtype.name}")
    if axes == []:
        raise ArgumentError(f"{NAME}: axes must contain at least one axis")
    if axes is not None and _is_number(mean) and _is_number(stddev):
        raise ArgumentError(f"{NAME}: axes cannot be combined with constant numbers for both mean and stddev")
    if batch and any(value is not None and not _is_number(value) for value in (mean, stddev)):
        raise ArgumentError(f"{NAME}: with batch=True, mean and stddev must be numbers")


def _is_number(value: Tensor | None) -> bool:
    array = constant_array(value)
    return array is not None and array.ndim == 0


def _single(value: Tensor) -> Tensor:
    """Convert a mean or an inverse deviation to float32, without a layout: it broadcasts against the data."""
    array = constant_array(value)
    if array is not None:
        return constant(array, np.float32)
    return Cast(data=value, dtype=FLOAT).value()


def _of_sample(
    data: Tensor, mean: Tensor | None, stddev: Tensor | None, axes: list[int] | None, spread: Spread
) -> tuple[Tensor, Tensor]:
    guide = next((value for value in (mean, stddev) if value is not None and not _is_number(value)), None)
    like = axes is None and guide is not None
    center = mean
    if center is None:
        center = Reduce(
            data=data,
            guide=guide or data,
            operation="mean",
            axes=tuple(axes or ()),
            all=axes is None,
            like=like,
            keep_dims=True,
            dtype=FLOAT,
            ddof=0,
            name=NAME,
        ).value()
    if stddev is not None and _is_number(stddev):
        return center, constant(_inverse(stddev, spread), np.float32)
    if stddev is not None:
        inverse = InverseOf(stddev=stddev, ddof=spread.ddof, epsilon=spread.epsilon, scale=spread.scale)
        return center, inverse.value()
    return center, InverseDeviation(
        data=data,
        mean=center,
        axes=tuple(axes or ()),
        all=axes is None,
        like=like,
        keep_dims=True,
        name=NAME,
        ddof=spread.ddof,
        epsilon=spread.epsilon,
        scale=spread.scale,
    ).value()


def _of_batch(
    data: Tensor, mean: Tensor | None, stddev: Tensor | None, axes: list[int] | None, spread: Spread
) -> tuple[Tensor, Tensor]:
    if _is_number(mean) and _is_number(stddev):
        return _of_sample(data, mean, stddev, axes, spread)
    moments = Moments(data=data, axes=tuple(axes or ()), all=axes is None, like=False, keep_dims=True, name=NAME)
    counts, means, squares = moments.values("", "", "")
    center, inverse = BatchMoments(
        counts=counts,
        means=means,
        squares=squares,
        mean=None if mean is None else _number(mean),
        ddof=spread.ddof,
        epsilon=spread.epsilon,
        scale=spread.scale,
    ).pair()
    return center, inverse if stddev is None else constant(_inverse(stddev, spread), np.float32)


def _inverse(stddev: Tensor, spread: Spread) -> float:
    deviation = _number(stddev)
    if spread.epsilon:
        return float(spread.scale / np.sqrt(deviation * deviation + spread.epsilon))
    with np.errstate(divide="ignore"):
        return float(np.float64(spread.scale) / deviation)


def _number(value: Tensor) -> float:
    numbers = constant_numbers(value)
    assert numbers is not None
    return float(numbers[0])
