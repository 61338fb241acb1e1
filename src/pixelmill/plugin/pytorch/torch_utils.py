"""Conversions between batches and tensors, under the name that programs import them from."""

from __future__ import annotations

import numpy as np
import torch

from pixelmill.plugin.pytorch import feed_ndarray, tensor_of, to_torch_type
from pixelmill.tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU


def to_torch_tensor(dali_tensor: TensorCPU | TensorGPU | TensorListCPU | TensorListGPU, copy: bool) -> torch.Tensor:
    """Return an output of a pipeline as a tensor.

    Args:
        dali_tensor: A dense batch, or one sample.
        copy: Whether to copy the data; the tensor shares the memory of the batch otherwise.
    """
    dense = dali_tensor.as_tensor() if isinstance(dali_tensor, (TensorListCPU, TensorListGPU)) else dali_tensor
    tensor = tensor_of(dense if isinstance(dense, TensorGPU) else np.asarray(dense))
    return tensor.clone() if copy else tensor


__all__ = ["feed_ndarray", "to_torch_tensor", "to_torch_type"]
