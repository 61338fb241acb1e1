"""Shapes of samples: told, changed, joined."""

from __future__ import annotations

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import BEFORE, DaliCall
from pixelmill.operators.declare import Floats, Ints, PerSample, Tensor, operator
from pixelmill.operators.reductions import counted, named_axes
from pixelmill.steps.elements import Cast
from pixelmill.steps.shapes import Concatenate, ExpandDims, Reshape, Shape, Squeeze, Subscript
from pixelmill.steps.sources import constant, constant_array, constant_numbers
from pixelmill.types import INT64, UINT8, DALIDataType


@operator("shapes", renamed={"type": "dtype"}, dali=DaliCall(anywhere=True))
def shapes(data: Tensor, *, dtype: DALIDataType = INT64) -> Tensor:
    """Give the extents of each sample.

    Args:
        data: Any array.
        dtype: Type of the numbers.
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
    """Add the step that takes elements for another shape, and perhaps another type."""
    ways = {"shape": shape, "rel_shape": rel_shape, "the input": shape_input}
    given = [way for way, value in ways.items() if value is not None]
    if len(given) > 1:
        raise ArgumentError(f"{name}: the shape is given twice, by {given[0]} and by {given[1]}")
    if not given and layout is None and src_dims is None and dtype is None:
        raise ArgumentError(f"{name}: nothing says what is to change; give a shape or a layout")
    for way in (shape, rel_shape):
        numbers = constant_numbers(way)
        if numbers is not None:
            _check_extents(name, numbers)
    extents = shape if shape is not None else shape_input
    target = extents or rel_shape or src_dims
    array = constant_array(target)
    known = None if array is None else array.size
    if layout and known is not None and len(layout) != known:
        raise ArgumentError(f"{name}: the layout {layout!r} does not fit {known} axes")
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
    """Take the elements, in their order, for an array of another shape.

    Args:
        data: Any array.
        shape_input: The shape, as an input.
        shape: The shape; one extent may be -1 and is then found.
        rel_shape: The shape as shares of the old one; one may be -1.
        src_dims: The old axis whose extent each new axis gets, -1 for extent 1.
        layout: New names of the axes; the old ones are kept where their number is, when left out.
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
    """Take the bytes of the elements for elements of another type or shape.

    Args:
        data: Any array.
        shape_input: The shape, as an input.
        shape: The shape; one extent may be -1 and is then found.
        rel_shape: The shape as shares of the old one; one may be -1.
        src_dims: The old axis whose extent each new axis gets, -1 for extent 1.
        layout: New names of the axes; the old ones are kept where their number is, when left out.
        dtype: The type that the bytes are taken for; without a shape, the last extent changes with it.
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
    """Take bytes for the elements of an array, as they are.

    Args:
        data: The bytes, such as the feature `image/encoded` of records with raw pixels.
        shape: Their shape; one extent may be -1 and is then found. One axis when left out.
        dtype: The type of the elements, in the byte order of this machine.
        layout: Names of the axes.
    """
    return reshaped("decoders.raw", data, None, shape=shape, rel_shape=None, src_dims=None, layout=layout, dtype=dtype)


@operator("squeeze")
def squeeze(data: Tensor, *, axes: Ints | None = None, axis_names: str | None = None) -> Tensor:
    """Leave out axes of extent 1.

    Args:
        data: Any array.
        axes: The axes to leave out, by number.
        axis_names: The same by name.
    """
    chosen = named_axes("squeeze", data.layout, axes, axis_names)
    if chosen is None:
        raise ArgumentError("squeeze: nothing says which axes; give axes or axis_names")
    chosen = counted("squeeze", data.layout, chosen)
    layout = "".join(letter for axis, letter in enumerate(data.layout) if axis not in chosen)
    return Squeeze(data=data, axes=tuple(chosen)).value(layout)


@operator("expand_dims")
def expand_dims(data: Tensor, *, axes: Ints, new_axis_names: str = "") -> Tensor:
    """Put in axes of extent 1.

    Args:
        data: Any array.
        axes: The places that the new axes have in the result.
        new_axis_names: The names of the new axes; without them the result has no names.
    """
    if min(axes, default=0) < 0 or len(set(axes)) < len(axes):
        raise ArgumentError(f"expand_dims: axes must be places from 0 on, each once, got {axes}")
    layout = "" if axes else data.layout
    if new_axis_names:
        if len(new_axis_names) != len(axes):
            raise ArgumentError(f"expand_dims: {len(axes)} new axes cannot be named {new_axis_names!r}")
        letters = list(data.layout)
        for axis, letter in sorted(zip(axes, new_axis_names, strict=True)):
            if axis > len(letters):
                raise ArgumentError(f"expand_dims: there is no place {axis} for an axis in {data.layout!r}")
            letters.insert(axis, letter)
        layout = "".join(letters)
    elif data.layout and axes and max(axes) >= len(data.layout) + len(axes):
        raise ArgumentError(f"expand_dims: there is no place {max(axes)} for an axis in {data.layout!r}")
    return ExpandDims(data=data, axes=tuple(axes), names=len(layout) or None).value(layout)


@operator("cat")
def cat(*inputs: Tensor, axis: int | None = None, axis_name: str | None = None) -> Tensor:
    """Join arrays along an axis.

    Args:
        inputs: Arrays of one type and number of axes.
        axis: The axis, by number; the first when left out.
        axis_name: The same by name.
    """
    if not inputs:
        raise ArgumentError("cat: at least one input is needed")
    layout = _first_layout("cat", inputs)
    if axis_name is not None:
        if axis is not None:
            raise ArgumentError("cat: axis and axis_name exclude each other")
        if len(axis_name) != 1 or axis_name not in layout:
            raise ArgumentError(f"cat: axis_name {axis_name!r} is not one of the axes {layout!r}")
        axis = layout.index(axis_name)
    axis = axis or 0
    if layout and not -len(layout) <= axis < len(layout):
        raise ArgumentError(f"cat: there is no axis {axis} among {layout!r}")
    return Concatenate(parts=inputs, axis=axis, stacks=False, name="cat", names=None).value(layout)


@operator("stack")
def stack(*inputs: Tensor, axis: int = 0, axis_name: str | None = None) -> Tensor:
    """Join arrays of one shape along a new axis.

    Args:
        inputs: Arrays of one type and shape.
        axis: The place of the new axis in the result.
        axis_name: The name of the new axis; without it the result has no names.
    """
    if not inputs:
        raise ArgumentError("stack: at least one input is needed")
    layout = _first_layout("stack", inputs)
    if layout and not -len(layout) <= axis <= len(layout):
        raise ArgumentError(f"stack: there is no place {axis} for an axis in {layout!r}")
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
    """Take single elements of sequences: frames of a video, say.

    Args:
        data: Sequences; where the axes have names, the first must be `F`.
        element_map: The numbers of the elements; there is a result for each.
    """
    if not element_map or min(element_map) < 0:
        raise ArgumentError(f"element_extract: element_map must be numbers from 0 on, got {element_map}")
    if data.layout and data.layout[0] != "F":
        raise ArgumentError(f"element_extract: the axes {data.layout!r} are no sequence; its first axis would be F")
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
