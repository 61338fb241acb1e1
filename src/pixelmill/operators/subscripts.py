"""Indexing of nodes: `x[1:3, :, 0, index]`, including new axes."""

from __future__ import annotations

from pixelmill.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from pixelmill.operators.declare import COMMON_IGNORED, Operator, Tensor
from pixelmill.steps.shapes import Subscript
from pixelmill.steps.sources import constant_array, constant_numbers

# The bounds of one axis: an index, or start, stop and step of a slice.
Bounds = tuple[object, object, object, object]
WHOLE: Bounds = (None, None, None, None)


class NewAxis:
    """A new axis of extent 1 in a subscript, with a layout letter if the node has a layout.

    Args:
        name: The layout letter.
    """

    def __init__(self, name: str | None = None) -> None:
        if name is not None and (not isinstance(name, str) or len(name) != 1):
            raise ArgumentError(f"newaxis: the name of an axis must be one letter, got {name!r}")
        self.name = name

    def __call__(self, name: str | None = None) -> NewAxis:
        """Return a new axis with a name: `newaxis("C")`."""
        return NewAxis(name)

    def __repr__(self) -> str:
        return "newaxis" if self.name is None else f"newaxis({self.name!r})"


newaxis = NewAxis()


def subscripts(key: object) -> tuple[list[Bounds], list[int], str | None]:
    """Split a subscript into its parts.

    Returns:
        The bounds of every indexed axis, empty for a full slice; the positions of new axes; their names.
    """
    items = key if isinstance(key, tuple) else (key,)
    bounds: list[Bounds] = []
    axes: list[int] = []
    names = ""
    axis = 0
    for item in items:
        if isinstance(item, NewAxis):
            axes.append(axis)
            names += item.name or ""
        else:
            bounds.append(_bounds(item))
        axis += isinstance(item, NewAxis) or bounds[-1][0] is None
    only_new = axes and isinstance(items[-1], NewAxis) and all(four is WHOLE for four in bounds)
    return [] if only_new else bounds, axes, names or None


def _bounds(item: object) -> Bounds:
    if item is None:
        return WHOLE
    if item is Ellipsis:
        raise UnsupportedError("subscript: Ellipsis in indexing is not implemented; write a `:` for each axis")
    if isinstance(item, slice):
        whole = item.start is None and item.stop is None and item.step is None
        return WHOLE if whole else (None, item.start, item.stop, item.step)
    return (item, None, None, None)


def _subscript(data: Tensor, *bounds: Tensor | None) -> Tensor:
    for bound in bounds:
        array = constant_array(bound)
        if array is not None and (array.dtype.kind not in "iub" or array.ndim > 0):
            raise ArgumentTypeError(f"an index must be an integer, got {array.tolist()}")
    for steps in bounds[3::4]:
        if constant_numbers(steps) == [0]:
            raise ArgumentError("the step of a slice must not be 0")
    count = len(bounds) // 4
    if data.layout and count > len(data.layout):
        raise ArgumentError(f"{count} indices are too many for the layout {data.layout!r}")
    indexed = {axis for axis in range(count) if bounds[4 * axis] is not None}
    layout = "".join(letter for axis, letter in enumerate(data.layout) if axis not in indexed)
    return Subscript(data=data, bounds=bounds).value(layout)


SUBSCRIPT = Operator(
    name="subscript",
    body=_subscript,
    inputs=("data", "bounds"),
    optional_inputs=1,
    many_inputs=True,
    input_docs={"data": "Any array.", "bounds": "Four per axis: index, start, stop and step."},
    arguments={},
    summary="Index or slice each sample.",
    details="",
    draws=False,
    outputs=1,
    renamed={},
    ignored=COMMON_IGNORED,
    aliases=(),
    class_name="Subscript",
)
