"""What becomes of objects where pixels of another image are pasted over them, or pasted themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelmill.types import Array

_LEAST_PASTED = 0.1  # objects of which less is pasted are dropped


@dataclass(frozen=True, eq=False)
class Pasted:
    """A step after which an object is seen only where pixels of its image are.

    Attributes:
        shown: Where they are, (height, width).
        by_window: Whether pixels of a window are pasted, at which objects are cut, instead of the objects as such.
        is_lower: Whether this is the image that others are pasted onto.
    """

    shown: Array
    by_window: bool
    is_lower: bool

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the image, which it keeps."""
        return self.shown.shape[0], self.shown.shape[1]

    def window(self) -> tuple[int, int, int, int] | None:
        """Return left, top, right and bottom of what objects are cut at; None if they are not cut."""
        if self.is_lower or not self.by_window:
            return None
        rows, columns = (np.flatnonzero(self.shown.any(axis=axis)) for axis in (1, 0))
        if not len(rows):
            return 0, 0, 0, 0
        return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1

    def visible(self, points: Array) -> float:
        """Return the fraction of a polygon that is seen, judged by its bounding box."""
        if self.by_window and not self.is_lower:
            return 1.0
        (left, top), (right, bottom) = np.floor(points.min(axis=0)), np.ceil(points.max(axis=0))
        inside = self.shown[int(top) : int(bottom), int(left) : int(right)]
        fraction = float(inside.mean()) if inside.size else 0.0
        if self.is_lower:
            return fraction
        # The pixels of an object fill its box in part only, so all of it is taken to be there if some of it is.
        return 1.0 if fraction >= _LEAST_PASTED else 0.0

    def shows(self, points: Array) -> Array:
        """Return whether the pixel at each point is seen."""
        height, width = self.size
        column = np.clip(points[:, 0].astype(np.int64), 0, width - 1)
        row = np.clip(points[:, 1].astype(np.int64), 0, height - 1)
        return np.asarray(self.shown[row, column] != 0)


def pasted(covered: Array, *, by_window: bool, is_lower: bool) -> Pasted:
    """Return the step for an image that others were pasted onto, or for the pasted one.

    Args:
        covered: Where pixels were pasted, (height, width, 1).
        by_window: Whether those of a window.
        is_lower: Whether this is the image that was pasted onto.
    """
    there = np.asarray(covered[:, :, 0] != 0)
    return Pasted(~there if is_lower else there, by_window, is_lower)
