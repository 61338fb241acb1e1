"""Every operator, declared once. Importing this package fills the registry."""

from pixelmill.operators import crop, decoders, generic, random, readers, resize, sources
from pixelmill.operators.declare import REGISTRY, Operator

__all__ = ["REGISTRY", "Operator", "crop", "decoders", "generic", "random", "readers", "resize", "sources"]
