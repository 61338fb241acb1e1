# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""fn.segmentation: operators as functions."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.graph.nodes import DataNode
from pixelmill.types import ArrayConstant, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]
_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]

def random_mask_pixel(
    mask: _Data | _Constant,
    /,
    *,
    foreground: int | _Node = 0,
    value: int | _Node | None = None,
    threshold: float | _Node | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Draw a random pixel of a mask; returns its coordinates as int64.

    Args:
        mask: Masks.
        foreground: Whether to draw among foreground pixels, if there are any, instead of among all.
        value: The value of foreground pixels.
        threshold: Foreground pixels are above this, if `value` is None; 0 if both are None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def random_object_bbox(
    labels: _Data | _Constant,
    /,
    *,
    foreground_prob: float | _Node = 1.0,
    background: int | _Node | None = None,
    classes: _Ints | _Node | None = None,
    class_weights: _Floats | _Node | None = None,
    k_largest: int | None = None,
    threshold: _Ints | _Node | None = None,
    ignore_class: bool = False,
    output_class: bool = False,
    format: Literal["anchor_shape", "start_end", "box"] = "anchor_shape",
    bytes_per_sample_hint: object = None,
    cache_objects: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Draw a random object (a connected component of one class) from a mask and return its bounding box.

    First a class is drawn, then one of its objects. Without objects, the box is the whole mask.

    Args:
        labels: Masks of an integer type.
        foreground_prob: Probability of drawing an object; otherwise the box is the whole mask.
        background: The background class; 0 if None.
        classes: The classes to draw from; all that occur in the mask if None.
        class_weights: The relative probability of each class; without `classes`, they apply to the classes 1, 2, 3 and
            so on.
        k_largest: Draw only among this many largest objects.
        threshold: Draw only among objects of at least this size along each axis.
        ignore_class: Whether to draw among all objects with equal probability, whatever their class.
        output_class: Whether to return the class as well.
        format: Form of the box: `anchor_shape` (start, size), `start_end` (start, end), or `box` (both corners in one
            array).
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def select_masks(
    mask_ids: _Data | _Constant,
    polygons: DataNode | list[DataNode] | _Constant,
    vertices: DataNode | list[DataNode] | _Constant,
    /,
    *,
    reindex_masks: bool = False,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> list[_Data]:
    """Select the polygons of some masks, and their vertices.

    Args:
        mask_ids: The ids of the masks to keep.
        polygons: One row per polygon: its mask id, its first vertex, and the vertex after its last.
        vertices: The coordinates of the vertices, one row each.
        reindex_masks: Whether to renumber the masks by their position in `mask_ids`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
