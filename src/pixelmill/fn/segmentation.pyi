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
    """Draw a pixel of a mask and give its place, as int64.

    Args:
        mask: Masks.
        foreground: Draw among the pixels of the foreground, where there are any; else among all.
        value: The value of the foreground.
        threshold: The foreground is what lies above this, where `value` is left out; 0 when this is left out as well.
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
    """Draw an object of a mask, pixels of one class that touch, and give its box.

    First a class is drawn, then one of its objects. The box is the whole mask where there is none.

    Args:
        labels: Masks of whole numbers.
        foreground_prob: How likely an object is drawn at all; else the box is the whole mask.
        background: The class that is no object, 0 when left out.
        classes: The classes to draw from; all that occur when left out.
        class_weights: How likely each class is; they are 1, 2, 3 ... where `classes` is left out.
        k_largest: Draw among so many largest objects alone.
        threshold: Draw among objects that are at least this large along each axis.
        ignore_class: Draw among all objects, whatever their class.
        output_class: Give the class as well.
        format: What is given: the first corner and the extents, or both corners, or both corners in one array.
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
    """Keep the polygons of some masks, and their vertices.

    Args:
        mask_ids: The masks to keep.
        polygons: Rows of a mask, its first vertex, and the vertex behind its last.
        vertices: Rows of coordinates.
        reindex_masks: Number the masks by their place in `mask_ids`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
