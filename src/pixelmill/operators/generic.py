"""Types, axes and padding of any array."""

from __future__ import annotations

from pixelmill.errors import ArgumentError
from pixelmill.operators.declare import Ints, PerSample, Tensor, operator
from pixelmill.operators.reductions import counted, named_axes
from pixelmill.steps.batch import BatchExtents
from pixelmill.steps.elements import Cast
from pixelmill.steps.shapes import Pad, Shape, Transpose
from pixelmill.steps.sources import constant_numbers
from pixelmill.types import DALIDataType


@operator("cast")
def cast(data: Tensor, *, dtype: DALIDataType) -> Tensor:
    """Change the type of the elements; what does not fit is rounded and cut to the range.

    Args:
        data: Any array.
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
    """Reorder the axes.

    Args:
        data: Any array.
        perm: The axis of `data` that each axis of the result is; all in reverse order when left out.
        transpose_layout: Reorder the names of the axes as well.
        output_layout: New names of the axes.
    """
    if perm is not None and sorted(perm) != list(range(len(perm))):
        raise ArgumentError(f"transpose: perm must hold each axis once, got {perm}")
    if perm is not None and data.layout and len(perm) != len(data.layout):
        raise ArgumentError(f"transpose: perm {perm} does not fit the axes {data.layout!r}")
    axes = len(perm or data.layout)
    if output_layout and axes and len(output_layout) != axes:
        raise ArgumentError(f"transpose: output_layout {output_layout!r} does not fit {axes} axes")
    order = perm if perm is not None else list(reversed(range(len(data.layout))))
    turned = "".join(data.layout[axis] for axis in order) if data.layout and transpose_layout else data.layout
    return Transpose(data=data, perm=tuple(perm or ())).value(output_layout or turned)


@operator("pad")
def pad(
    data: Tensor,
    *,
    axes: Ints | None = None,
    axis_names: str | None = None,
    shape: PerSample[Ints] | None = None,
    align: PerSample[Ints] | None = None,
    fill_value: PerSample[float] = 0.0,
) -> Tensor:
    """Enlarge arrays at their far ends, by default until all of a batch are equally large.

    Args:
        data: Any array.
        axes: The axes to enlarge, by number; all when left out.
        axis_names: The same by name.
        shape: Smallest extents; -1 or nothing stands for the largest of the batch.
        align: What the extents are made a multiple of.
        fill_value: What is put into the new places.
    """
    chosen = counted("pad", data.layout, named_axes("pad", data.layout, axes, axis_names) or [])
    for name, extents in (("shape", constant_numbers(shape)), ("align", constant_numbers(align))):
        if extents is not None:
            _check_extents(name, extents, len(chosen) or len(data.layout))
    largest = BatchExtents(shape=Shape(data=data).value(), given=shape, axes=tuple(chosen)).value()
    return Pad(data=data, extents=largest, align=align, fill_value=fill_value, axes=tuple(chosen)).value(data.layout)


def _check_extents(name: str, extents: list[float], axes: int) -> None:
    """Refuse what no sample could fit; `axes` is 0 where nobody knows yet how many there are."""
    if axes and len(extents) not in (1, axes):
        raise ArgumentError(f"pad: {name} must be one number, or one for each of {axes} axes, got {extents}")
    if name == "align" and min(extents, default=1) < 1:
        raise ArgumentError(f"pad: align must be at least 1, got {extents}")
