"""Cast, transpose and pad, for arrays of any kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pixelmill.errors import ArgumentError
from pixelmill.operators.declare import Ints, PerSample, Tensor, operator
from pixelmill.operators.reductions import axis_indices, resolved_axes
from pixelmill.steps.batch import BatchExtents, callback
from pixelmill.steps.elements import Cast
from pixelmill.steps.shapes import Pad, Shape, Transpose
from pixelmill.steps.sources import constant, constant_numbers
from pixelmill.types import Array, DALIDataType


@operator("cast")
def cast(data: Tensor, *, dtype: DALIDataType) -> Tensor:
    """Convert the element type. Values are rounded and clamped to the range of the new type.

    Args:
        data: Arrays of any type and shape.
        dtype: The new type.
    """
    return Cast(data=data, dtype=dtype).value(data.layout)


@operator("transpose")
def transpose(
    data: Tensor,
    *,
    perm: Ints | None = None,
    transpose_layout: bool = True,
    output_layout: str | None = None,
) -> Tensor:
    """Permute the axes.

    Args:
        data: Arrays of any type and shape.
        perm: For each axis of the result, the axis of `data` that it takes; the reverse order if None.
        transpose_layout: Whether to permute the layout as well.
        output_layout: The layout of the result; overrides `transpose_layout`.
    """
    if perm is not None and sorted(perm) != list(range(len(perm))):
        raise ArgumentError(f"transpose: perm must contain each axis once, got {perm}")
    if perm is not None and data.layout and len(perm) != len(data.layout):
        raise ArgumentError(f"transpose: perm {perm} does not match the layout {data.layout!r}")
    axes = len(perm or data.layout)
    if output_layout and axes and len(output_layout) != axes:
        raise ArgumentError(f"transpose: output_layout {output_layout!r} does not match {axes} axes")
    order = perm if perm is not None else list(reversed(range(len(data.layout))))
    turned = "".join(data.layout[axis] for axis in order) if data.layout and transpose_layout else data.layout
    return Transpose(data=data, perm=tuple(perm or ())).value(output_layout or turned)


@operator("pad")
def pad(
    data: Tensor,
    *,
    axes: PerSample[Ints] | None = None,
    axis_names: str | None = None,
    shape: PerSample[Ints] | None = None,
    align: PerSample[Ints] | None = None,
    fill_value: PerSample[float] = 0.0,
) -> Tensor:
    """Pad arrays at the end of each axis, by default to the largest extents in the batch.

    Args:
        data: Arrays of any type and shape.
        axes: The axes to pad, by index; all if None.
        axis_names: The same axes by layout letter, such as `"HW"`.
        shape: Minimum extents; -1 or None stands for the largest extent in the batch.
        align: Extents are rounded up to a multiple of this.
        fill_value: The value of the padding.
    """
    fixed = constant_numbers(axes)
    if axes is not None and fixed is None:
        return _padded_along_own_axes(data, axes, axis_names, shape, align, fill_value)
    indices = None if fixed is None else [int(axis) for axis in fixed]
    chosen = resolved_axes("pad", data.layout, axis_indices("pad", data.layout, indices, axis_names) or [])
    for name, extents in (("shape", constant_numbers(shape)), ("align", constant_numbers(align))):
        if extents is not None:
            _check_extents(name, extents, len(chosen) or len(data.layout))
    largest = BatchExtents(shape=Shape(data=data).value(), given=shape, axes=tuple(chosen)).value()
    return Pad(data=data, extents=largest, align=align, fill_value=fill_value, axes=tuple(chosen)).value(data.layout)


def _padded_along_own_axes(
    data: Tensor,
    axes: Tensor,
    axis_names: str | None,
    shape: Tensor | None,
    align: Tensor | None,
    fill_value: Tensor,
) -> Tensor:
    """Pad each sample along axes of its own."""
    if axis_names is not None:
        raise ArgumentError("pad: axes and axis_names are mutually exclusive")
    given = (axes, shape or constant(-1, np.int64), align or constant(1, np.int64))
    (extents,) = callback(_own_extents, Shape(data=data).value(), *given, layouts=("",), whole=False)
    return Pad(data=data, extents=extents, fill_value=fill_value, axes=()).value(data.layout)


def _own_extents(
    shapes: Sequence[Array], axes: Sequence[Array], given: Sequence[Array], align: Sequence[Array]
) -> list[Array]:
    """Return the extents of all axes of each sample; only those of its own `axes` grow."""
    largest = np.max(np.stack(shapes), axis=0)
    results: list[Array] = []
    for place, own in enumerate(axes):
        extents = np.array(shapes[place], np.int64)
        numbers = np.ravel(own).astype(np.int64)
        if any(not -extents.size <= axis < extents.size for axis in numbers):
            raise ArgumentError(f"pad: axes must be {-extents.size} to {extents.size - 1}, got {numbers.tolist()}")
        chosen = numbers % extents.size if numbers.size else np.arange(extents.size)
        wanted = _for_axes("shape", given[place], chosen.size)
        factors = _for_axes("align", align[place], chosen.size)
        if factors.min(initial=1) < 1:
            raise ArgumentError(f"pad: align must be at least 1, got {factors.tolist()}")
        least = np.maximum(extents[chosen], np.where(wanted > 0, wanted, largest[chosen]))
        extents[chosen] = -(-least // factors) * factors
        results.append(extents)
    return results


def _for_axes(name: str, values: npt.ArrayLike, axes: int) -> npt.NDArray[np.int64]:
    """Return one number for each axis."""
    numbers = np.ravel(values).astype(np.int64)
    if numbers.size not in (1, axes):
        raise ArgumentError(f"pad: {name} must be one number, or one for each of {axes} axes, got {numbers.tolist()}")
    return np.broadcast_to(numbers, axes)


def _check_extents(name: str, extents: list[float], axes: int) -> None:
    """Raise ArgumentError for extents that no sample could match; `axes` is 0 if their number is not known yet."""
    if axes and len(extents) not in (1, axes):
        raise ArgumentError(f"pad: {name} must be one number, or one for each of {axes} axes, got {extents}")
    if name == "align" and min(extents, default=1) < 1:
        raise ArgumentError(f"pad: align must be at least 1, got {extents}")
