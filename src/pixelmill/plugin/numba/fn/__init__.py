"""Numba's functions as operators, under the name that programs import them from."""

from pixelmill.plugin.numba import numba_function
from pixelmill.plugin.numba.fn import experimental

__all__ = ["experimental", "numba_function"]
