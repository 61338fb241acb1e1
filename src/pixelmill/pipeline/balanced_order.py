"""The order of an epoch in which every class has the same number of samples: arithmetic, like the other orders.

An epoch has `per_class` places for each class. The places of a class take its samples in turn, from epoch to epoch: in
every round each sample comes once, in the order of a keyed permutation. So samples of large classes wait for later
epochs, those of small classes come several times in one epoch, and over time all samples of a class come equally often.
"""

from __future__ import annotations

import numpy as np

from pixelmill.formats.class_groups import ClassGroups
from pixelmill.pipeline.permutation import Ints, fold, permute, permute_each


def balanced_numbers(places: Ints, groups: ClassGroups, *, seed: int, epoch: int, shuffle: bool) -> Ints:
    """Map places in an epoch to numbers of samples.

    An item that comes several times in an epoch has another number each time, so that each time other random numbers
    are drawn for it: the item, plus the number of items of the dataset for each earlier round of its class.
    """
    if shuffle:
        places = permute(places, len(groups), fold(seed, epoch, 1))
    classes, place = np.divmod(places, groups.per_class)
    sizes = np.diff(groups.starts)[classes]
    before = epoch * groups.per_class
    turn, place = np.divmod(before + place, sizes)
    if shuffle:
        place = permute_each(place, sizes, key=fold(seed, 2), groups=classes, turns=turn)
    items: Ints = groups.items[groups.starts[classes] + place]
    return np.asarray(items + (turn - before // sizes) * groups.count)
