# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""ops.encoders: operators as classes."""

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

class Image(OperatorClass):
    """Write pictures as files in memory: uint8 with one axis, each as long as its file.

    Args:
        format: `"jpeg"` or `"png"`.
        quality: Of JPEG, from 1, the worst, to 100; what is outside is taken for the nearest.
        subsampling: How much of the colours JPEG keeps: `"4:4:4"` all, `"4:2:2"` half, `"4:2:0"` a quarter.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        format: str = "jpeg",
        quality: int = 90,
        subsampling: str = "4:2:0",
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        quality: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...
