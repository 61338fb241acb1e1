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
    """Encode images as JPEG or PNG; returns the bytes of each file as a uint8 vector.

    Args:
        format: `"jpeg"` or `"png"`.
        quality: JPEG quality, from 1 (worst) to 100; other values are clamped.
        subsampling: JPEG chroma subsampling: `"4:4:4"` (none), `"4:2:2"` or `"4:2:0"`.
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
