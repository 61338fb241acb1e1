"""Every operator, declared once. Importing this package fills the registry."""

from pixelmill.operators import (
    beta,
    branches,
    colour,
    crop,
    decoders,
    filters,
    generic,
    geometry,
    mixing,
    random,
    readers,
    resize,
    sources,
)
from pixelmill.operators.declare import REGISTRY, Operator, public_operators

__all__ = [
    "REGISTRY",
    "Operator",
    "beta",
    "branches",
    "colour",
    "crop",
    "decoders",
    "filters",
    "generic",
    "mixing",
    "public_operators",
    "random",
    "readers",
    "resize",
    "sources",
]
