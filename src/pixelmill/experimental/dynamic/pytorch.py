"""Dynamic mode with PyTorch's torchdata, under the name that programs import it from."""

from pixelmill.plugin.pytorch import dynamic_nodes as nodes

__all__ = ["nodes"]
