# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""ops.transforms: operators as classes."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.graph.nodes import DataNode
from pixelmill.ops import OperatorClass
from pixelmill.types import ArrayConstant, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant
_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]

class Combine(OperatorClass):
    """Combine several affine matrices into one.

    Args:
        reverse_order: Whether to apply the last one first.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        reverse_order: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        *matrices: DataNode | _Constant,
        name: str | None = None,
    ) -> DataNode: ...

class Crop(OperatorClass):
    """Create a matrix that maps one window to another, like a crop followed by a resize.

    Args:
        from_start: Start of the input window; one number is used for all axes.
        from_end: End of the input window.
        to_start: Start of the output window.
        to_end: End of the output window.
        absolute: Whether to swap the start and end of a window that are in the wrong order.
        reverse_order: Whether to apply `matrix` after this transform instead of before it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        from_start: _Floats = (0.0,),
        from_end: _Floats = (1.0,),
        to_start: _Floats = (0.0,),
        to_end: _Floats = (1.0,),
        absolute: bool = False,
        reverse_order: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        matrix: _Data | _Constant | None = None,
        /,
        *,
        from_start: _Floats | _Node | None = None,
        from_end: _Floats | _Node | None = None,
        to_start: _Floats | _Node | None = None,
        to_end: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Rotation(OperatorClass):
    """Create a rotation matrix, in the plane or about an axis in space.

    Args:
        angle: Rotation angle in degrees; positive angles rotate x toward y, which is clockwise on a screen.
        axis: The rotation axis (x, y, z); in the plane if None.
        center: The fixed point of the transform; the origin if None.
        reverse_order: Whether to apply `matrix` after this transform instead of before it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        angle: float | None = None,
        axis: _Floats | None = None,
        center: _Floats | None = None,
        reverse_order: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        matrix: _Data | _Constant | None = None,
        /,
        *,
        angle: float | _Node | None = None,
        axis: _Floats | _Node | None = None,
        center: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Scale(OperatorClass):
    """Create a scaling matrix.

    Args:
        scale: The factor for each axis, x first; or one for all, together with `ndim`.
        center: The fixed point of the transform; the origin if None.
        ndim: The number of axes, if `scale` is a single factor.
        reverse_order: Whether to apply `matrix` after this transform instead of before it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        scale: _Floats | None = None,
        center: _Floats | None = None,
        ndim: int | None = None,
        reverse_order: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        matrix: _Data | _Constant | None = None,
        /,
        *,
        scale: _Floats | _Node | None = None,
        center: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Shear(OperatorClass):
    """Create a shear matrix.

    Args:
        shear: Shear factors: x along y and y along x; in space x along y and z, y along x and z, z along x and y.
        angles: The same as angles in degrees, from -90 to 90.
        center: The fixed point of the transform; the origin if None.
        reverse_order: Whether to apply `matrix` after this transform instead of before it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        shear: _Floats | None = None,
        angles: _Floats | None = None,
        center: _Floats | None = None,
        reverse_order: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        matrix: _Data | _Constant | None = None,
        /,
        *,
        shear: _Floats | _Node | None = None,
        angles: _Floats | _Node | None = None,
        center: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Translation(OperatorClass):
    """Create a translation matrix.

    Args:
        offset: The translation along each axis, x first.
        reverse_order: Whether to apply `matrix` after this transform instead of before it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        offset: _Floats | None = None,
        reverse_order: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        matrix: _Data | _Constant | None = None,
        /,
        *,
        offset: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...
