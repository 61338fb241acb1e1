"""Nodes of torchdata, under the name that programs import them from."""

from pixelmill.plugin.pytorch.dynamic_nodes import DictMapper, Reader, ToTorch

__all__ = ["DictMapper", "Reader", "ToTorch"]
