"""Reductions: sums, means, variances and extremes along axes of each sample."""

from __future__ import annotations

from pixelmill.errors import ArgumentError, IndexOutOfRangeError, LayoutError
from pixelmill.operators.dali import NEARLY
from pixelmill.operators.declare import Ints, Tensor, operator
from pixelmill.steps.elements import Reduce
from pixelmill.types import BOOL, NO_TYPE, STRING, DALIDataType


def axis_indices(name: str, layout: str, axes: list[int] | None, axis_names: str | None) -> list[int] | None:
    """Return axis indices from indices or names; None if neither is given."""
    if axis_names is None:
        return axes
    if axes is not None:
        raise ArgumentError(f"{name}: axes and axis_names are mutually exclusive")
    missing = [letter for letter in axis_names if letter not in layout]
    if missing:
        raise LayoutError(f"{name}: axis_names {axis_names!r} are not all part of the layout {layout!r}")
    return [layout.index(letter) for letter in axis_names]


def resolved_axes(name: str, layout: str, axes: list[int]) -> list[int]:
    """Resolve negative axes if the layout tells the number of axes; raises ArgumentError for invalid ones."""
    if layout:
        wrong = [axis for axis in axes if not -len(layout) <= axis < len(layout)]
        if wrong:
            raise IndexOutOfRangeError(f"{name}: axis {wrong[0]} does not exist in the layout {layout!r}")
        axes = [axis % len(layout) for axis in axes]
    if len(set(axes)) < len(axes):
        raise ArgumentError(f"{name}: an axis occurs twice in {axes}")
    return axes


def reduced(
    operation: str,
    data: Tensor,
    mean: Tensor | None = None,
    *,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DALIDataType | None = None,
    ddof: int = 0,
) -> Tensor:
    """Add a reduction step."""
    name = f"reductions.{operation}"
    if dtype in (BOOL, STRING, NO_TYPE):
        raise ArgumentError(f"{name}: dtype must be a number type, got {dtype.name}")
    chosen = axis_indices(name, data.layout, axes, axis_names)
    layout = data.layout if keep_dims else ""
    if chosen is not None:
        chosen = resolved_axes(name, data.layout, chosen)
        if not keep_dims:
            layout = "".join(letter for axis, letter in enumerate(data.layout) if axis not in chosen)
    return Reduce(
        data=data,
        guide=mean,
        operation=operation,
        axes=tuple(chosen or []),
        all=chosen is None,
        like=False,
        keep_dims=keep_dims,
        dtype=dtype,
        ddof=ddof,
        name=name,
    ).value(layout)


@operator("reductions.sum")
def sum(
    data: Tensor,
    *,
    axes: Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Compute the sum of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        dtype: Type of the result; if None, uint64 or int64 for integers and that of `data` for floats.
    """
    return reduced("sum", data, axes=axes, axis_names=axis_names, keep_dims=keep_dims, dtype=dtype)


@operator("reductions.mean", tolerance=NEARLY)
def mean(
    data: Tensor,
    *,
    axes: Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Compute the mean of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        dtype: Type of the result; float if None.
    """
    return reduced("mean", data, axes=axes, axis_names=axis_names, keep_dims=keep_dims, dtype=dtype)


@operator("reductions.mean_square", tolerance=NEARLY)
def mean_square(
    data: Tensor,
    *,
    axes: Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Compute the mean square of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        dtype: Type of the result; float if None.
    """
    return reduced("mean_square", data, axes=axes, axis_names=axis_names, keep_dims=keep_dims, dtype=dtype)


@operator("reductions.rms", tolerance=NEARLY, class_name="RMS")
def rms(
    data: Tensor,
    *,
    axes: Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Compute the root mean square of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        dtype: Type of the result; float if None.
    """
    return reduced("rms", data, axes=axes, axis_names=axis_names, keep_dims=keep_dims, dtype=dtype)


@operator("reductions.min")
def min(data: Tensor, *, axes: Ints | None = None, axis_names: str | None = None, keep_dims: bool = False) -> Tensor:
    """Compute the minimum of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
    """
    return reduced("min", data, axes=axes, axis_names=axis_names, keep_dims=keep_dims)


@operator("reductions.max")
def max(data: Tensor, *, axes: Ints | None = None, axis_names: str | None = None, keep_dims: bool = False) -> Tensor:
    """Compute the maximum of elements.

    Args:
        data: Numeric arrays of any shape.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
    """
    return reduced("max", data, axes=axes, axis_names=axis_names, keep_dims=keep_dims)


@operator("reductions.std_dev", tolerance=NEARLY)
def std_dev(
    data: Tensor,
    mean: Tensor,
    *,
    axes: Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
) -> Tensor:
    """Compute the standard deviation of elements around a given mean.

    Args:
        data: Numeric arrays of any shape.
        mean: The mean: one number, or one per element of the result.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        ddof: Delta degrees of freedom: the sum of squares is divided by N - ddof, where N is the number of elements.
    """
    return reduced("std_dev", data, mean, axes=axes, axis_names=axis_names, keep_dims=keep_dims, ddof=ddof)


@operator("reductions.variance", tolerance=NEARLY)
def variance(
    data: Tensor,
    mean: Tensor,
    *,
    axes: Ints | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
) -> Tensor:
    """Compute the variance of elements around a given mean.

    Args:
        data: Numeric arrays of any shape.
        mean: The mean: one number, or one per element of the result.
        axes: The axes to reduce, by index; None reduces all axes, an empty list reduces none.
        axis_names: The same axes by layout letter, such as `"HW"`.
        keep_dims: Whether to keep the reduced axes with extent 1.
        ddof: Delta degrees of freedom: the sum of squares is divided by N - ddof, where N is the number of elements.
    """
    return reduced("variance", data, mean, axes=axes, axis_names=axis_names, keep_dims=keep_dims, ddof=ddof)
