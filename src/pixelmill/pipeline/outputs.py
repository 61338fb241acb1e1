"""The outputs of a pipeline: batches with named axes, checked against what was declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from pixelmill.engine.native import Data
from pixelmill.errors import ArgumentError, ArgumentTypeError, EngineError
from pixelmill.tensors import TensorListCPU, TensorListGPU
from pixelmill.types import DALIDataType


def with_layout(data: Data | TensorListGPU, layout: str) -> TensorListCPU:
    """Return a batch with its layout, or without one if it does not have the number of axes that the graph expected."""
    if isinstance(data, TensorListGPU):
        # Only DALI on a GPU returns these. Declaring both would burden every program that runs on the CPU.
        return cast("TensorListCPU", TensorListGPU(data._batch, layout if len(layout) == data.ndim() else ""))
    axes = data[0].ndim if len(data) > 0 else 0
    if layout == "F":  # of `per_frame`, which does not know how many axes follow
        layout = layout.ljust(axes, "*")
    return TensorListCPU(data, layout if len(layout) == axes else "")


@dataclass(frozen=True)
class Expected:
    """The declared properties of outputs: one value for all outputs or one for each, None for any."""

    dtype: object
    ndim: object
    layout: object

    def __post_init__(self) -> None:
        for dtype in self.dtype if isinstance(self.dtype, (list, tuple)) else [self.dtype]:
            if dtype is not None and not isinstance(dtype, DALIDataType):
                raise ArgumentTypeError(f"Pipeline: output_dtype must be types such as types.FLOAT, got {dtype!r}")
        for ndim in self.ndim if isinstance(self.ndim, (list, tuple)) else [self.ndim]:
            if ndim is not None and not isinstance(ndim, int):
                raise ArgumentTypeError(f"Pipeline: output_ndim must be integers, got {ndim!r}")
            if ndim is not None and ndim < 0:
                raise ArgumentError(f"Pipeline: output_ndim must not be negative, got {ndim}")

    def check(self, batches: Sequence[TensorListCPU]) -> None:
        """Raise EngineError if an output is not as declared."""
        for what, wanted in vars(self).items():
            if wanted is None:
                continue
            each = wanted if isinstance(wanted, (list, tuple)) else [wanted] * len(batches)
            for number, (expected, batch) in enumerate(zip(each, batches, strict=True)):
                got = batch.dtype if what == "dtype" else getattr(batch, what)()
                if expected is not None and got != expected:
                    raise EngineError(f"output {number}: {what} was declared as {expected}, got {got}")
