"""The former place of `numba_function`."""

from pixelmill.plugin.numba import numba_function

__all__ = ["numba_function"]
