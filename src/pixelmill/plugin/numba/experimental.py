"""The former place of `NumbaFunction`."""

from pixelmill.plugin.numba import NumbaFunction

__all__ = ["NumbaFunction"]
