"""What a pipeline gives: batches with named axes, as they were declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pixelmill.engine.native import Data
from pixelmill.errors import EngineError
from pixelmill.tensors import TensorListCPU, TensorListGPU


def with_layout(data: Data | TensorListGPU, layout: str) -> Any:
    """Name the axes of a batch, unless it has another number of them than the graph made believe."""
    if isinstance(data, TensorListGPU):
        return TensorListGPU(data._batch, layout if len(layout) == data.ndim() else "")
    return TensorListCPU(data, layout if len(data) > 0 and len(layout) == data[0].ndim else "")


@dataclass(frozen=True)
class Expected:
    """What outputs were declared to be: one value for all or one for each, None for anything."""

    dtype: Any
    ndim: Any
    layout: Any

    def check(self, batches: Sequence[TensorListCPU]) -> None:
        """Refuse outputs that are something else."""
        for what, wanted in vars(self).items():
            if wanted is None:
                continue
            each = wanted if isinstance(wanted, (list, tuple)) else [wanted] * len(batches)
            for number, (expected, batch) in enumerate(zip(each, batches, strict=True)):
                got = batch.dtype if what == "dtype" else getattr(batch, what)()
                if expected is not None and got != expected:
                    raise EngineError(f"output {number}: {what} {expected} was declared, but it is {got}")
