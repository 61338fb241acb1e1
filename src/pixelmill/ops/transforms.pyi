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
    """Make one matrix of several that are applied one after the other.

    Args:
        reverse_order: Apply the last one first.
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
    """Make a matrix that maps one window to another, as a crop and a resize do.

    Args:
        from_start: Where the old window begins; one number is taken for all axes.
        from_end: Where it ends.
        to_start: Where the new window begins.
        to_end: Where it ends.
        absolute: Swap the start and the end of a window that are in the wrong order.
        reverse_order: Apply `matrix` after this one instead.
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
    """Make a matrix that rotates: in the plane, or about an axis in space.

    Args:
        angle: In degrees; positive turns x towards y, which is clockwise on a screen.
        axis: The axis x, y, z to turn about.
        center: The point that stays where it is; the origin when left out.
        reverse_order: Apply `matrix` after this one instead.
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
    """Make a matrix that scales.

    Args:
        scale: A factor for each axis, x first; or one for all, with `ndim`.
        center: The point that stays where it is; the origin when left out.
        ndim: The number of axes, where `scale` is a single factor.
        reverse_order: Apply `matrix` after this one instead.
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
    """Make a matrix that shears: each axis is moved along as one goes along the others.

    Args:
        shear: How far: x along y and y along x; in space x along y and z, y along x and z, z along x and y.
        angles: The same as angles in degrees, from -90 to 90.
        center: The point that stays where it is; the origin when left out.
        reverse_order: Apply `matrix` after this one instead.
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
    """Make a matrix that shifts.

    Args:
        offset: How far, x first.
        reverse_order: Apply `matrix` after this one instead.
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
