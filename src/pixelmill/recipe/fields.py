"""Fields of displacements: how points move when an image is distorted by one.

A field has nodes that span the image from edge to edge. Each holds how far to the right and down, as fractions of the
width and height, the pixel that appears at the node comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelmill.types import Array

_ROUNDS = 40


@dataclass(frozen=True, eq=False)
class Displacement:
    """The transform of an image that is distorted by a field.

    Attributes:
        nodes: The field, float, (rows, columns, 2).
        size: Height and width of the image, which it keeps.
        smooth: Whether the field is cubic instead of linear between its nodes.
    """

    nodes: Array
    size: tuple[int, int]
    smooth: bool

    def source(self, points: Array) -> Array:
        """Return the places in pixels that the pixels at `points` of the result come from."""
        height, width = self.size
        columns = _weights(points[:, 0] / width, self.nodes.shape[1], smooth=self.smooth)
        rows = _weights(points[:, 1] / height, self.nodes.shape[0], smooth=self.smooth)
        shift = np.einsum("pr,pc,rcd->pd", rows, columns, self.nodes.astype(np.float64))
        found: Array = points + shift * [width, height]
        return found

    def moved(self, points: Array) -> Array:
        """Return where points of the source appear. The inverse of `source`, found by iteration."""
        now = np.array(points, np.float64)
        for _ in range(_ROUNDS):
            error = points - self.source(now)
            now += error
            if np.abs(error).max(initial=0) < 1e-3:
                break
        return now


def _weights(places: Array, count: int, *, smooth: bool) -> Array:
    """Return the weight of each node for each place, as native/core/kernels/displacement_field.cpp weighs them."""
    at = np.clip(places, -0.5, 1.5) * (count - 1)
    first = np.clip(at.astype(np.int64), 0, count - 2)
    t: Array = at - first
    if smooth:
        four: list[Array] = [
            (-(t**3) + 2 * t**2 - t) / 2,
            (3 * t**3 - 5 * t**2 + 2) / 2,
            (-3 * t**3 + 4 * t**2 + t) / 2,
            (t**3 - t**2) / 2,
        ]
    else:
        four = [np.zeros_like(t), 1 - t, t, np.zeros_like(t)]
    weights = np.zeros((len(places), count))
    for offset, weight in enumerate(four):
        np.add.at(weights, (np.arange(len(places)), np.clip(first - 1 + offset, 0, count - 1)), weight)
    return weights
