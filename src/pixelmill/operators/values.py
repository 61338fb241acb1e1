"""Constants, filled arrays, table lookup, one-hot encoding and properties of samples."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.formats.index import Ragged
from pixelmill.operators.dali import BEFORE, ON_CPU
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.steps.batch import BatchSingle, PermuteBatch
from pixelmill.steps.elements import Arithmetic, Cast, CastLike, Full, LookUp, OneHot
from pixelmill.steps.random import Choice, CoinFlip, Normal, Uniform
from pixelmill.steps.shapes import Contiguous, Shape
from pixelmill.steps.sources import (
    Column,
    Constant,
    Records,
    RecordStep,
    SourceInfo,
    TableColumn,
    constant,
    constant_numbers,
)
from pixelmill.steps.step import Expr, Step
from pixelmill.types import FLOAT, INT32, DALIDataType, numpy_dtype, saturated

LARGEST_KEY = 65535


@operator("cast_like")
def cast_like(data: Tensor, like: Tensor) -> Tensor:
    """Convert the element type to that of another value, as `cast` does.

    Args:
        data: Arrays of any type and shape.
        like: A value of the wanted type.
    """
    return CastLike(data=data, like=like).value(data.layout)


@operator("copy")
def copy(data: Tensor) -> Tensor:
    """Copy the input.

    Args:
        data: Arrays of any type and shape.
    """
    return Contiguous(data=data).value(data.layout)


@operator("constant")
def constant_value(
    *,
    fdata: Floats | None = None,
    idata: Ints | None = None,
    shape: Ints | None = None,
    dtype: DALIDataType | None = None,
    layout: str = "",
) -> Tensor:
    """Produce the same array for every sample. `types.Constant` is the simpler alternative.

    Args:
        fdata: The elements as floats.
        idata: The elements as integers, as an alternative to `fdata`.
        shape: The shape of the result; a single element is repeated. One axis if None.
        dtype: Element type; if None, float for `fdata` and int32 for `idata`.
        layout: The layout of the result, one letter per axis, such as `"HWC"`.
    """
    if (fdata is None) == (idata is None):
        raise ArgumentError("constant: specify either fdata or idata")
    elements = np.asarray(fdata if fdata is not None else idata)
    if dtype is None:
        dtype = INT32 if fdata is None else FLOAT
    array = saturated(elements, numpy_dtype(dtype))
    if shape is not None:
        if array.size not in (1, int(np.prod(shape))):
            raise ArgumentError(f"constant: {array.size} elements do not fill the shape {shape}")
        array = np.broadcast_to(array.reshape(()), shape) if array.size == 1 else array.reshape(shape)
    if layout and len(layout) != array.ndim:
        raise ArgumentError(f"constant: the layout {layout!r} does not match {array.ndim} axes")
    return constant(array, layout=layout)


def _filled(
    name: str,
    value: Tensor,
    shape: Tensor | None,
    *,
    layout: str | None = None,
    like: bool = False,
    dtype: DALIDataType | None = None,
) -> Tensor:
    extents = None if like else constant_numbers(shape)
    if extents is not None:
        if any(extent < 0 for extent in extents):
            raise ArgumentError(f"{name}: extents cannot be negative, got {extents}")
        if layout and len(layout) != len(extents):
            raise ArgumentError(f"{name}: the layout {layout!r} does not match {len(extents)} axes")
    return Full(
        fill_value=value, shape=shape, name=name, dtype=dtype, like=like, names=len(layout) if layout else None
    ).value(shape.layout if like and shape is not None else layout or "")


@operator("full", dali=ON_CPU)
def full(fill_value: Tensor, *, shape: PerSample[Ints] | None = None, layout: str | None = None) -> Tensor:
    """Create an array filled with a value.

    Args:
        fill_value: A number, or an array that is broadcast to the shape.
        shape: The shape of the result; a scalar if None.
        layout: The layout of the result, one letter per axis, such as `"HWC"`.
    """
    return _filled("full", fill_value, shape, layout=layout)


@operator("zeros", dali=ON_CPU)
def zeros(*, shape: PerSample[Ints] | None = None, dtype: DALIDataType = INT32, layout: str | None = None) -> Tensor:
    """Create an array of zeros.

    Args:
        shape: The shape of the result; a scalar if None.
        dtype: Element type.
        layout: The layout of the result, one letter per axis, such as `"HWC"`.
    """
    return _filled("zeros", constant(0, np.uint8), shape, layout=layout, dtype=dtype)


@operator("ones", dali=ON_CPU)
def ones(*, shape: PerSample[Ints] | None = None, dtype: DALIDataType = INT32, layout: str | None = None) -> Tensor:
    """Create an array of ones.

    Args:
        shape: The shape of the result; a scalar if None.
        dtype: Element type.
        layout: The layout of the result, one letter per axis, such as `"HWC"`.
    """
    return _filled("ones", constant(1, np.uint8), shape, layout=layout, dtype=dtype)


@operator("full_like", dali=ON_CPU)
def full_like(data_like: Tensor, fill_value: Tensor) -> Tensor:
    """Create an array like another one, filled with a value.

    Args:
        data_like: The array whose shape, type and layout the result takes.
        fill_value: A number, or an array that is broadcast to the shape; rounded and clamped to the type.
    """
    return _filled("full_like", fill_value, data_like, like=True)


@operator("zeros_like", dali=ON_CPU)
def zeros_like(data_like: Tensor, *, dtype: DALIDataType | None = None) -> Tensor:
    """Create an array of zeros like another one.

    Args:
        data_like: The array whose shape, type and layout the result takes.
        dtype: Type of the result; that of `data_like` if None.
    """
    return _filled("zeros_like", constant(0, np.uint8), data_like, like=True, dtype=dtype)


@operator("ones_like", dali=ON_CPU)
def ones_like(data_like: Tensor, *, dtype: DALIDataType | None = None) -> Tensor:
    """Create an array of ones like another one.

    Args:
        data_like: The array whose shape, type and layout the result takes.
        dtype: Type of the result; that of `data_like` if None.
    """
    return _filled("ones_like", constant(1, np.uint8), data_like, like=True, dtype=dtype)


@operator("lookup_table", renamed={"output_dtype": "dtype"})
def lookup_table(
    data: Tensor,
    *,
    keys: Annotated[Ints, Range(0, LARGEST_KEY)] = [],  # noqa: B006 - never changed
    values: Floats = [],  # noqa: B006
    default_value: float = 0.0,
    dtype: DALIDataType = FLOAT,
) -> Tensor:
    """Map integers to values with a lookup table.

    Args:
        data: Integers.
        keys: The integers in the table; if one occurs several times, the last entry counts.
        values: One value per key.
        default_value: The value of all integers that are not in the table.
        dtype: Type of the result; values are rounded and clamped to it.
    """
    if len(keys) != len(values):
        raise ArgumentError(f"lookup_table: {len(keys)} keys have {len(values)} values")
    table = np.full(max(keys, default=-1) + 2, np.float32(default_value), np.float32)
    for key, value in zip(keys, values, strict=True):
        table[key] = value
    return LookUp(data=data, table=constant(saturated(table, numpy_dtype(dtype)))).value(data.layout)


@operator("one_hot")
def one_hot(
    data: Tensor,
    *,
    num_classes: Annotated[int, Range(0)] = 0,
    axis: int | None = None,
    axis_name: str | None = None,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: DALIDataType = FLOAT,
) -> Tensor:
    """One-hot encode class indices.

    Scalars become vectors. So do arrays with one element, if all samples of the batch have one element and `axis` is
    None.

    Args:
        data: Class indices; an index out of range produces a vector without a class.
        num_classes: The number of classes.
        axis: The position of the new axis; the last if None.
        axis_name: The name of the new axis; if None, the result has no layout.
        on_value: The value for the class.
        off_value: The value for all other classes.
        dtype: Type of the result.
    """
    if axis is not None and (axis < -1 or (data.layout and axis > len(data.layout))):
        raise ArgumentError(f"one_hot: axis {axis} is out of range for the layout {data.layout!r}")
    if axis_name is not None and len(axis_name) != 1:
        raise ArgumentError(f"one_hot: axis_name must be one letter, got {axis_name!r}")
    single = constant(axis is None and is_single(data), np.uint8)
    if axis is None and not is_single(data):
        single = BatchSingle(shape=Shape(data=data).value()).value()
    place = len(data.layout) if axis is None or axis < 0 else axis
    layout = data.layout[:place] + axis_name + data.layout[place:] if axis_name else ""
    return OneHot(
        data=data,
        single=single,
        classes=num_classes,
        axis=-1 if axis is None else axis,
        dtype=dtype,
        on_value=float(on_value),
        off_value=float(off_value),
        names=len(layout) or None,
    ).value(layout)


def is_single(data: Tensor) -> bool:
    """Whether every sample is certain to be a single number, before anything runs."""
    made = data.step
    if isinstance(made, Constant):
        return made.array.size == 1
    if isinstance(made, Column):
        column = made.reader.index.columns[made.table.name]
        return not isinstance(column, Ragged) and bool(np.prod(column.shape[1:]) == 1)
    if isinstance(made, (Uniform, Normal, CoinFlip, Choice)):
        return made.shape is None
    if isinstance(made, Arithmetic):
        return all(map(is_single, made.operands))
    return isinstance(made, Cast) and is_single(made.data)


@operator("get_property", dali=BEFORE)
def get_property(data: Tensor, *, key: Literal["source_info", "layout"]) -> Tensor:
    """Return a property of each sample as bytes (uint8).

    Args:
        data: Any value.
        key: `"source_info"` for the origin of the sample, `"layout"` for its layout.
    """
    if key == "layout":
        return constant(np.frombuffer(data.layout.encode(), np.uint8))
    return source_info(data)


def source_info(data: Tensor) -> Tensor:
    """Return the origin of a value: that of the first reader found among its inputs, or nothing."""
    seen: set[Step] = set()

    def found(value: Expr) -> Expr | None:
        made = value.step
        if isinstance(made, RecordStep):
            reader = made.reader
            column = reader.index.info_column(made.ranges.part)
            if column is not None:
                return Column(reader=reader, table=TableColumn(reader, column)).value()
            return SourceInfo(reader=reader, root=reader.index.root, ranges=Records(reader)).value()
        if made in seen:
            return None
        seen.add(made)
        if isinstance(made, PermuteBatch):
            info = found(made.data)
            return None if info is None else PermuteBatch(data=info, indices=made.indices).value()
        places = (found(before) for before in made.inputs if before is not None)
        return next((place for place in places if place is not None), None)

    return found(data) or constant(np.empty(0, np.uint8))
