"""Images that occur more than once: identical, re-encoded, resized or slightly edited ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pixelmill.inspect.image_measures import Measures

_BITS, _MOST_BITS_APART = 64, 4
_MOST_LEVELS_APART = 12.0  # of the colors at 4 x 4 pixels, on average
_BLOCK = 512


def duplicate_groups(measures: Sequence[Measures | None]) -> list[int]:
    """Return the number of the group of each image, from 1; 0 if no other image looks like it.

    Two images look alike if at most 4 of the 64 bits of their perceptual hashes differ, and their colors agree.
    Memory grows with the number of images, time with its square: about half a second for 10,000.
    """
    places = [place for place, found in enumerate(measures) if found is not None]
    labels = _connected([found for found in measures if found is not None])
    counts = np.bincount(labels, minlength=1)
    names: dict[int, int] = {}
    groups = [0] * len(measures)
    for place, label in zip(places, labels.tolist(), strict=True):
        if counts[label] > 1:
            groups[place] = names.setdefault(label, len(names) + 1)
    return groups


def _connected(known: Sequence[Measures]) -> npt.NDArray[np.intp]:
    """Return a label for each image; images have the same one if a chain of images that look alike connects them."""
    labels = np.arange(len(known))
    if len(known) < 2:
        return labels
    signs = np.where(np.array([found.hash_bits for found in known]), 1, -1).astype(np.float32)
    signatures = np.array([found.signature for found in known], np.int16).reshape(len(known), -1)
    for first in range(0, len(known), _BLOCK):
        # The product of two rows of signs is 64 less twice the number of bits that differ.
        agree = signs[first : first + _BLOCK] @ signs.T >= _BITS - 2 * _MOST_BITS_APART
        for row in np.flatnonzero(agree.sum(axis=1) > 1):
            here = first + int(row)
            others = np.flatnonzero(agree[row])
            others = others[(others > here) & (labels[others] != labels[here])]
            distances = np.abs(signatures[others] - signatures[here]).mean(axis=1)
            alike = others[distances <= _MOST_LEVELS_APART]
            if len(alike):
                labels[np.isin(labels, labels[alike])] = labels[here]
    return labels
