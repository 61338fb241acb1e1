"""Every operator, declared once. Importing this package fills the registry."""

from pixelmill.operators import branches, colour, crop, decoders, generic, geometry, random, readers, resize, sources
from pixelmill.operators.declare import REGISTRY, Operator, public_operators

__all__ = [
    "REGISTRY",
    "Operator",
    "branches",
    "colour",
    "crop",
    "decoders",
    "generic",
    "public_operators",
    "random",
    "readers",
    "resize",
    "sources",
]
