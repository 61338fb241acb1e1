"""Names of DALI's native module that programs import: batches and enumerations."""

from pixelmill.tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU
from pixelmill.types import DALIDataType, DALIImageType, DALIInterpType

__all__ = [
    "DALIDataType",
    "DALIImageType",
    "DALIInterpType",
    "TensorCPU",
    "TensorGPU",
    "TensorListCPU",
    "TensorListGPU",
]
