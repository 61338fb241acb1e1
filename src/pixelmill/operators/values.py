"""Values made anew: filled, looked up, cast like others, and what is known about a sample."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.formats.index import Ragged
from pixelmill.operators.dali import BEFORE, ON_CPU
from pixelmill.operators.declare import Floats, Ints, PerSample, Range, Tensor, operator
from pixelmill.operators.program import Expr, Step, constant, step
from pixelmill.types import FLOAT, INT32, DALIDataType, saturated, to_numpy_type

LARGEST_KEY = 65535


@operator("cast_like")
def cast_like(data: Tensor, like: Tensor) -> Tensor:
    """Change the type of the elements to that of another value, as `cast` does.

    Args:
        data: Any array.
        like: A value of the type that is wanted.
    """
    return step("cast_like", data, like, gives=data.layout)


@operator("copy")
def copy(data: Tensor) -> Tensor:
    """Give the same value.

    Args:
        data: Any array.
    """
    return step("contiguous", data, gives=data.layout)


@operator("constant")
def constant_value(
    *,
    fdata: Floats | None = None,
    idata: Ints | None = None,
    shape: Ints | None = None,
    dtype: DALIDataType | None = None,
    layout: str = "",
) -> Tensor:
    """Give the same array for every sample; `types.Constant` is the easier way to it.

    Args:
        fdata: The elements as floats.
        idata: The elements as integers, instead.
        shape: The shape; a single element is repeated.
        dtype: Type of the elements; float or int32 when left out.
        layout: Names of the axes.
    """
    if (fdata is None) == (idata is None):
        raise ArgumentError("constant: give either fdata or idata")
    elements = np.asarray(fdata if fdata is not None else idata)
    if dtype is None:
        dtype = INT32 if fdata is None else FLOAT
    array = saturated(elements, to_numpy_type(dtype))
    if shape is not None:
        if array.size not in (1, int(np.prod(shape))):
            raise ArgumentError(f"constant: {array.size} elements do not fill the shape {shape}")
        array = np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)
    if layout and len(layout) != array.ndim:
        raise ArgumentError(f"constant: the layout {layout!r} does not fit {array.ndim} axes")
    return constant(array, layout=layout)


def _filled(
    name: str,
    value: Tensor,
    shape: Any,
    *,
    layout: str | None = None,
    like: bool = False,
    dtype: DALIDataType | None = None,
) -> Tensor:
    if shape is not None and not like and shape.step.kind == "constant":
        extents = shape.step.params["value"].ravel().tolist()
        if any(extent < 0 for extent in extents):
            raise ArgumentError(f"{name}: extents cannot be negative, got {extents}")
        if layout and len(layout) != len(extents):
            raise ArgumentError(f"{name}: the layout {layout!r} does not fit {len(extents)} axes")
    return step(
        "full",
        value,
        shape,
        gives=shape.layout if like and shape is not None else layout or "",
        name=name,
        dtype=-1 if dtype is None else int(dtype),
        like=like,
        names=len(layout) if layout else -1,
    )


@operator("full", dali=ON_CPU)
def full(fill_value: Tensor, *, shape: PerSample[Ints] | None = None, layout: str | None = None) -> Tensor:
    """Give an array with a value in all places.

    Args:
        fill_value: A number, or an array that is stretched to the shape.
        shape: The shape; a single number when left out.
        layout: Names of the axes.
    """
    return _filled("full", fill_value, shape, layout=layout)


@operator("zeros", dali=ON_CPU)
def zeros(*, shape: PerSample[Ints] | None = None, dtype: DALIDataType = INT32, layout: str | None = None) -> Tensor:
    """Give an array of zeros.

    Args:
        shape: The shape; a single number when left out.
        dtype: Type of the elements.
        layout: Names of the axes.
    """
    return _filled("zeros", constant(0, np.uint8), shape, layout=layout, dtype=dtype)


@operator("ones", dali=ON_CPU)
def ones(*, shape: PerSample[Ints] | None = None, dtype: DALIDataType = INT32, layout: str | None = None) -> Tensor:
    """Give an array of ones.

    Args:
        shape: The shape; a single number when left out.
        dtype: Type of the elements.
        layout: Names of the axes.
    """
    return _filled("ones", constant(1, np.uint8), shape, layout=layout, dtype=dtype)


@operator("full_like", dali=ON_CPU)
def full_like(data_like: Tensor, fill_value: Tensor) -> Tensor:
    """Give an array like another, with a value in all places.

    Args:
        data_like: Where shape, type and names of axes are taken from.
        fill_value: A number, or an array that is stretched to the shape; rounded and cut to the type.
    """
    return _filled("full_like", fill_value, data_like, like=True)


@operator("zeros_like", dali=ON_CPU)
def zeros_like(data_like: Tensor, *, dtype: DALIDataType | None = None) -> Tensor:
    """Give an array of zeros like another.

    Args:
        data_like: Where shape, type and names of axes are taken from.
        dtype: Another type.
    """
    return _filled("zeros_like", constant(0, np.uint8), data_like, like=True, dtype=dtype)


@operator("ones_like", dali=ON_CPU)
def ones_like(data_like: Tensor, *, dtype: DALIDataType | None = None) -> Tensor:
    """Give an array of ones like another.

    Args:
        data_like: Where shape, type and names of axes are taken from.
        dtype: Another type.
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
    """Replace integers by the values that a table has for them.

    Args:
        data: Integers.
        keys: The integers in the table; of one that is there twice, the last counts.
        values: A value for each key.
        default_value: The value of all other integers.
        dtype: Type of the result; values are rounded and cut to it.
    """
    if len(keys) != len(values):
        raise ArgumentError(f"lookup_table: {len(keys)} keys have {len(values)} values")
    table = np.full(max(keys, default=-1) + 2, np.float32(default_value), np.float32)
    for key, value in zip(keys, values, strict=True):
        table[key] = value
    return step("look_up", data, constant(saturated(table, to_numpy_type(dtype))), gives=data.layout)


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
    """Turn class numbers into rows with one value for the class and another for all others.

    Single numbers become one row. So do arrays with one element, where all samples of a batch are such and `axis` is
    left out.

    Args:
        data: Class numbers; one outside of the classes gives a row without a class.
        num_classes: The number of classes.
        axis: The place of the new axis; the last when left out.
        axis_name: The name of the new axis; without it the result has no names.
        on_value: What stands in the place of the class.
        off_value: What stands in all other places.
        dtype: Type of the result.
    """
    if axis is not None and (axis < -1 or (data.layout and axis > len(data.layout))):
        raise ArgumentError(f"one_hot: there is no place {axis} for an axis in {data.layout!r}")
    if axis_name is not None and len(axis_name) != 1:
        raise ArgumentError(f"one_hot: axis_name must be one letter, got {axis_name!r}")
    single = constant(axis is None and is_single(data), np.uint8)
    if axis is None and not is_single(data):
        single = step("batch_single", step("shape", data))
    place = len(data.layout) if axis is None or axis < 0 else axis
    layout = data.layout[:place] + axis_name + data.layout[place:] if axis_name else ""
    return step(
        "one_hot",
        data,
        single,
        gives=layout,
        classes=num_classes,
        axis=-1 if axis is None else axis,
        dtype=int(dtype),
        on=float(on_value),
        off=float(off_value),
        names=len(layout) or -1,
    )


def is_single(data: Tensor) -> bool:
    """Tell whether it is certain, before anything runs, that each sample is a single number."""
    made = data.step
    if made.kind == "constant":
        return bool(made.params["value"].size == 1)
    if made.kind == "column":
        column = made.params["reader"].index.columns[made.params["column"]]
        return not isinstance(column, Ragged) and bool(np.prod(column.shape[1:]) == 1)
    if made.kind in ("uniform", "normal", "coin_flip", "choice"):
        return made.inputs[-1] is None and made.inputs[-2] is None
    return made.kind in ("arithmetic", "cast") and all(value is not None and is_single(value) for value in made.inputs)


@operator("get_property", dali=BEFORE)
def get_property(data: Tensor, *, key: Literal["source_info", "layout"]) -> Tensor:
    """Give what is known about each sample beside its elements, as bytes.

    Args:
        data: Any value.
        key: `"source_info"` for where the sample came from, `"layout"` for the names of its axes.
    """
    if key == "layout":
        return constant(np.frombuffer(data.layout.encode(), np.uint8))
    return source_info(data)


def source_info(data: Tensor) -> Tensor:
    """Give the place that a value was read from: that of the first reader on the way to it, or nothing."""
    seen: set[Step] = set()

    def found(value: Expr) -> Expr | None:
        made = value.step
        if "reader" in made.params and made.kind != "column":
            column = made.params["reader"].index.info_column(made.params.get("part"))
            if column is not None:
                return step("column", reader=made.params["reader"], column=column)
            return step("source_info", reader=made.params["reader"], root=made.params["reader"].index.root)
        if made in seen:
            return None
        seen.add(made)
        if made.kind == "permute_batch" and made.inputs[0] is not None:
            info = found(made.inputs[0])
            return None if info is None else step("permute_batch", info, made.inputs[1])
        places = (found(before) for before in made.inputs if before is not None)
        return next((place for place in places if place is not None), None)

    return found(data) or constant(np.empty(0, np.uint8))
