# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""ops.io.file: operators as classes."""

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

class Read(OperatorClass):
    """Read the files with the given names.

    Args:
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        bytes_per_sample_hint: object = None,
        dont_use_mmap: object = None,
        preserve: object = None,
        use_o_direct: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        filepaths: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...
