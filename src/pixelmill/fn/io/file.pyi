# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""fn.io.file: operators as functions."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.graph.nodes import DataNode
from pixelmill.types import ArrayConstant, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)

def read(
    filepaths: _Data | _Constant,
    /,
    *,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    preserve: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Read the files with the given names.

    Args:
        filepaths: The name of the file for each sample, uint8 with one axis.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
