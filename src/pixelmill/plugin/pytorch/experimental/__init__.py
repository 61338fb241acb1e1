"""Experimental parts of DALI's PyTorch plugin."""

from pixelmill.plugin.pytorch.experimental import proxy

__all__ = ["proxy"]
