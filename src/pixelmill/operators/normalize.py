"""Normalisation by the mean and the standard deviation of each sample or of the batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.arithmetic import arithmetic
from pixelmill.operators.dali import CLOSE
from pixelmill.operators.declare import Ints, PerSampleArray, Tensor, operator
from pixelmill.operators.program import constant, step, steps
from pixelmill.operators.reductions import counted, named_axes
from pixelmill.types import BOOL, FLOAT, DALIDataType

NAME = "normalize"


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
    """Take away the mean and divide by the standard deviation: `scale * (x - mean) / stddev + shift`.

    Args:
        data: Any array of numbers.
        axes: The axes that mean and deviation are taken along; all when left out, or those along which a mean or
            deviation that is given as an array has extent 1.
        axis_names: The same by name.
        mean: The mean: a number, or an array of as many axes as `data`; found in the data when left out.
        stddev: The standard deviation, likewise.
        batch: Take mean and deviation over all samples of a batch.
        ddof: What is taken from the number of elements before the sum of squares is divided by it.
        epsilon: What is added to the variance.
        scale: What the result is multiplied with.
        shift: What is added at last.
        dtype: Type of the result; it is rounded and cut to it.
    """
    chosen = named_axes(NAME, data.layout, axes, axis_names)
    if chosen is not None:
        chosen = counted(NAME, data.layout, chosen)
    _check(mean, stddev, chosen, batch=batch, dtype=dtype)
    spread = {"ddof": ddof, "epsilon": float(epsilon), "scale": float(scale)}
    if batch:
        centre, inverse = _of_batch(data, mean, stddev, chosen, spread)
    else:
        centre, inverse = _of_sample(data, mean, stddev, chosen, spread)
    x = step("cast", data, dtype=int(FLOAT), gives=data.layout)
    result = arithmetic("mul", arithmetic("sub", x, _single(centre)), _single(inverse))
    if shift != 0:
        result = arithmetic("add", result, constant(shift, np.float32))
    return result if dtype == FLOAT else step("cast", result, dtype=int(dtype), gives=data.layout)


def _check(mean: Any, stddev: Any, axes: list[int] | None, *, batch: bool, dtype: DALIDataType) -> None:
    if dtype == BOOL:
        raise ArgumentError(f"{NAME}: dtype must be a number type, got {dtype.name}")
    if axes == []:
        raise ArgumentError(f"{NAME}: axes must name at least one axis")
    if axes is not None and _is_number(mean) and _is_number(stddev):
        raise ArgumentError(f"{NAME}: axes say nothing where mean and stddev are both given as numbers")
    if batch and any(value is not None and not _is_number(value) for value in (mean, stddev)):
        raise ArgumentError(f"{NAME}: over a batch, mean and stddev must be numbers")


def _is_number(value: Tensor | None) -> bool:
    return value is not None and value.step.kind == "constant" and value.step.params["value"].ndim == 0


def _single(value: Tensor) -> Tensor:
    """Bring a mean or a deviation to single precision; the names of its axes are those of the data."""
    if value.step.kind == "constant":
        return constant(value.step.params["value"], np.float32)
    return step("cast", value, dtype=int(FLOAT))


def _of_sample(
    data: Tensor, mean: Any, stddev: Any, axes: list[int] | None, spread: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    guide = next((value for value in (mean, stddev) if value is not None and not _is_number(value)), None)
    along: dict[str, Any] = {"axes": axes or [], "all": axes is None, "keep_dims": True, "name": NAME}
    along["like"] = axes is None and guide is not None
    centre = mean
    if centre is None:
        centre = step("reduce", data, guide or data, operation="mean", dtype=int(FLOAT), ddof=0, **along)
    if _is_number(stddev):
        return centre, constant(_inverse(stddev, spread), np.float32)
    if stddev is not None:
        return centre, step("inverse_of", stddev, **spread)
    return centre, step("inverse_deviation", data, centre, **along, **spread)


def _of_batch(
    data: Tensor, mean: Any, stddev: Any, axes: list[int] | None, spread: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    if _is_number(mean) and _is_number(stddev):
        return _of_sample(data, mean, stddev, axes, spread)
    along = {"axes": axes or [], "all": axes is None, "keep_dims": True, "name": NAME, "like": False}
    moments = steps("moments", data, layouts=("", "", ""), **along)
    given = float(mean.step.params["value"]) if mean is not None else None
    centre, inverse = steps("batch_moments", *moments, layouts=("", ""), mean=given, **spread)
    return centre, inverse if stddev is None else constant(_inverse(stddev, spread), np.float32)


def _inverse(stddev: Tensor | None, spread: dict[str, Any]) -> float:
    assert stddev is not None
    deviation = float(stddev.step.params["value"])
    if spread["epsilon"]:
        return float(spread["scale"] / np.sqrt(deviation * deviation + spread["epsilon"]))
    with np.errstate(divide="ignore"):
        return float(np.float64(spread["scale"]) / deviation)
