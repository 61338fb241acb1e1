"""Dynamic mode with PyTorch's torchdata, under the name that programs import it from."""

from pixelmill.experimental.dynamic.pytorch import nodes as nodes

__all__ = ["nodes"]
