"""Operators on the shape of samples: query, reshape, squeeze, expand, concatenate."""

from __future__ import annotations

from pixelmill.errors import ArgumentError, LayoutError
from pixelmill.operators.dali import BEFORE, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Tensor, operator
from pixelmill.operators.reductions import axis_indices, resolved_axes
from pixelmill.steps.elements import Cast
from pixelmill.steps.shapes import Concatenate, ExpandDims, Reshape, Shape, Squeeze, Subscript
from pixelmill.steps.sources import constant, constant_array, constant_numbers
from pixelmill.types import INT64, UINT8, DALIDataType


@operator("shapes", renamed={"type": "dtype"}, dali=DaliCall(anywhere=True))
def shapes(data: Tensor, *, dtype: DALIDataType = INT64) -> Tensor:
    """Return the shape of each sample.

    Args:
        data: Arrays of any type and shape.
        dtype: Type of the result.
    """
    extents = Shape(data=data).value()
    return extents if dtype == INT64 else Cast(data=extents, dtype=dtype).value()


def reshaped(
    name: str,
    data: Tensor,
    shape_input: Tensor | None,
    *,
    shape: Tensor | None,
    rel_shape: Tensor | None,
    src_dims: Tensor | None,
    layout: str | None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Add the step that reinterprets elements with another shape, and optionally another type."""
    ways = {"shape": shape, "rel_shape": rel_shape, "the input": shape_input}
    given = [way for way, value in ways.items() if value is not None]
    if len(given) > 1:
        raise ArgumentError(f"{name}: the shape is specified twice, by {given[0]} and by {given[1]}")
    if not given and layout is None and src_dims is None and dtype is None:
        raise ArgumentError(f"{name}: nothing to change; specify a shape or a layout")
    for way in (shape, rel_shape):
        numbers = constant_numbers(way)
        if numbers is not None:
            _check_extents(name, numbers)
    extents = shape if shape is not None else shape_input
    target = extents or rel_shape or src_dims
    array = constant_array(target)
    known = None if array is None else array.size
    if layout and known is not None and len(layout) != known:
        raise ArgumentError(f"{name}: the layout {layout!r} does not match {known} axes")
    kept = data.layout if known is None or known == len(data.layout) else ""
    return Reshape(
        data=data,
        shape=extents,
        rel_shape=rel_shape,
        src_dims=src_dims,
        name=name,
        dtype=dtype,
        names=len(layout) if layout else None,
    ).value(kept if layout is None else layout)


def _check_extents(name: str, values: list[float]) -> None:
    if len([value for value in values if value < 0]) > 1:
        raise ArgumentError(f"{name}: only one extent may be negative, got {values}")
    if 0 in values:
        raise ArgumentError(f"{name}: an extent must not be 0, got {values}")


@operator("reshape")
def reshape(
    data: Tensor,
    shape_input: Tensor | None = None,
    *,
    shape: PerSample[Ints] | None = None,
    rel_shape: PerSample[Floats] | None = None,
    src_dims: PerSample[Ints] | None = None,
    layout: str | None = None,
) -> Tensor:
    """Change the shape, keeping the elements and their order.

    Args:
        data: Arrays of any type and shape.
        shape_input: The shape of the result, as an input.
        shape: The shape of the result; one extent may be -1 and is then inferred.
        rel_shape: The shape as multiples of the input's extents; one may be -1 and is then inferred.
        src_dims: For each axis of the result, the input axis whose extent it takes; -1 for extent 1.
        layout: The layout of the result. If None, the layout of `data` is kept if the number of axes is the same.
    """
    return reshaped("reshape", data, shape_input, shape=shape, rel_shape=rel_shape, src_dims=src_dims, layout=layout)


@operator("reinterpret")
def reinterpret(
    data: Tensor,
    shape_input: Tensor | None = None,
    *,
    shape: PerSample[Ints] | None = None,
    rel_shape: PerSample[Floats] | None = None,
    src_dims: PerSample[Ints] | None = None,
    layout: str | None = None,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Reinterpret the bytes of the elements as another type or shape.

    Args:
        data: Arrays of any type and shape.
        shape_input: The shape of the result, as an input.
        shape: The shape of the result; one extent may be -1 and is then inferred.
        rel_shape: The shape as multiples of the input's extents; one may be -1 and is then inferred.
        src_dims: For each axis of the result, the input axis whose extent it takes; -1 for extent 1.
        layout: The layout of the result. If None, the layout of `data` is kept if the number of axes is the same.
        dtype: The new element type; without a shape, the last extent changes accordingly.
    """
    return reshaped(
        "reinterpret",
        data,
        shape_input,
        shape=shape,
        rel_shape=rel_shape,
        src_dims=src_dims,
        layout=layout,
        dtype=dtype,
    )


@operator("decoders.raw", class_name="Raw", dali=BEFORE)
def decode_raw(
    data: Tensor, *, shape: PerSample[Ints] | None = None, dtype: DALIDataType = UINT8, layout: str | None = None
) -> Tensor:
    """Interpret bytes as the elements of an array, without decoding.

    Args:
        data: The bytes, such as the feature `image/encoded` of records with raw pixels.
        shape: The shape of the result; one extent may be -1 and is then inferred. One axis if None.
        dtype: The element type, in the byte order of this machine.
        layout: The layout of the result, one letter per axis, such as `"HWC"`.
    """
    return reshaped("decoders.raw", data, None, shape=shape, rel_shape=None, src_dims=None, layout=layout, dtype=dtype)


@operator("squeeze")
def squeeze(data: Tensor, *, axes: Ints | None = None, axis_names: str | None = None) -> Tensor:
    """Remove axes of extent 1.

    Args:
        data: Arrays of any type and shape.
        axes: The axes to remove, by index.
        axis_names: The same axes by layout letter, such as `"HW"`.
    """
    chosen = axis_indices("squeeze", data.layout, axes, axis_names)
    if chosen is None:
        raise ArgumentError("squeeze: specify axes or axis_names")
    chosen = resolved_axes("squeeze", data.layout, chosen)
    layout = "".join(letter for axis, letter in enumerate(data.layout) if axis not in chosen)
    return Squeeze(data=data, axes=tuple(chosen)).value(layout)


@operator("expand_dims")
def expand_dims(data: Tensor, *, axes: Ints, new_axis_names: str = "") -> Tensor:
    """Insert axes of extent 1.

    Args:
        data: Arrays of any type and shape.
        axes: The positions of the new axes in the result.
        new_axis_names: The layout letters of the new axes; without them the result has no layout.
    """
    if min(axes, default=0) < 0 or len(set(axes)) < len(axes):
        raise ArgumentError(f"expand_dims: axes must be distinct and not negative, got {axes}")
    layout = "" if axes else data.layout
    if new_axis_names:
        if len(new_axis_names) != len(axes):
            raise ArgumentError(
                f"expand_dims: new_axis_names {new_axis_names!r} must have {len(axes)} letters, one per new axis"
            )
        letters = list(data.layout)
        for axis, letter in sorted(zip(axes, new_axis_names, strict=True)):
            if axis > len(letters):
                raise ArgumentError(f"expand_dims: axis {axis} is out of range for the layout {data.layout!r}")
            letters.insert(axis, letter)
        layout = "".join(letters)
    elif data.layout and axes and max(axes) >= len(data.layout) + len(axes):
        raise ArgumentError(f"expand_dims: axis {max(axes)} is out of range for the layout {data.layout!r}")
    return ExpandDims(data=data, axes=tuple(axes), names=len(layout) or None).value(layout)


@operator("cat")
def cat(*inputs: Tensor, axis: int | None = None, axis_name: str | None = None) -> Tensor:
    """Concatenate arrays along an existing axis.

    Args:
        inputs: Arrays of the same type and number of axes.
        axis: The axis, by index; the first if None.
        axis_name: The same axis by layout letter.
    """
    if not inputs:
        raise ArgumentError("cat: at least one input is needed")
    layout = _first_layout("cat", inputs)
    if axis_name is not None:
        if axis is not None:
            raise ArgumentError("cat: axis and axis_name are mutually exclusive")
        if len(axis_name) != 1 or axis_name not in layout:
            raise LayoutError(f"cat: axis_name {axis_name!r} is not part of the layout {layout!r}")
        axis = layout.index(axis_name)
    axis = axis or 0
    if layout and not -len(layout) <= axis < len(layout):
        raise ArgumentError(f"cat: axis {axis} does not exist in the layout {layout!r}")
    return Concatenate(parts=inputs, axis=axis, stacks=False, name="cat", names=None).value(layout)


@operator("stack")
def stack(*inputs: Tensor, axis: int = 0, axis_name: str | None = None) -> Tensor:
    """Stack arrays of the same shape along a new axis.

    Args:
        inputs: Arrays of the same type and shape.
        axis: The position of the new axis in the result.
        axis_name: The name of the new axis; if None, the result has no layout.
    """
    if not inputs:
        raise ArgumentError("stack: at least one input is needed")
    layout = _first_layout("stack", inputs)
    if layout and not -len(layout) <= axis <= len(layout):
        raise ArgumentError(f"stack: axis {axis} is out of range for the layout {layout!r}")
    named = ""
    if axis_name is not None:
        if len(axis_name) != 1:
            raise ArgumentError(f"stack: axis_name must be one letter, got {axis_name!r}")
        place = axis if axis >= 0 else axis + len(layout) + 1
        named = layout[:place] + axis_name + layout[place:]
    return Concatenate(parts=inputs, axis=axis, stacks=True, name="stack", names=len(named) or None).value(named)


def _first_layout(name: str, inputs: tuple[Tensor, ...]) -> str:
    layouts = [value.layout for value in inputs if value.layout]
    if len(set(map(len, layouts))) > 1:
        different = ", ".join(sorted(map(repr, set(layouts))))
        raise ArgumentError(f"{name}: the inputs have different numbers of axes: {different}")
    return inputs[0].layout


@operator("element_extract", outputs=None)
def element_extract(data: Tensor, *, element_map: Ints) -> Tensor | tuple[Tensor, ...]:
    """Extract elements of sequences, such as frames of a video.

    Args:
        data: Sequences; the first letter of the layout, if there is one, must be `F`.
        element_map: The indices of the elements; there is one output for each.
    """
    if not element_map or min(element_map) < 0:
        raise ArgumentError(f"element_extract: element_map must be indices from 0, got {element_map}")
    if data.layout and data.layout[0] != "F":
        raise ArgumentError(f"element_extract: the layout of a sequence must begin with F, got {data.layout!r}")
    taken = tuple(
        Subscript(
            data=data,
            bounds=(
                constant(number, "int64"),
                None,
                None,
                None,
            ),
        ).value(data.layout[1:])
        for number in element_map
    )
    return taken if len(taken) > 1 else taken[0]
