"""Padding along axes that differ from sample to sample."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import HERE, equal, noise, run

from pixelmill import ArgumentError

IMAGES = [noise((8, 8, 3)), noise((6, 9, 3), seed=1)]


def ints(*rows):
    return [np.array(row, np.int32) for row in rows]


@pytest.mark.parametrize("axes", [ints([0, 1], [0, 1]), ints([0], [1]), ints([-2], [-3])])
def test_axes_may_differ_from_sample_to_sample(axes):
    equal(lambda m, x, a: m.fn.pad(x, axes=a, fill_value=3), IMAGES, axes)


@pytest.mark.parametrize("shape", [ints([12, 13], [7, 9]), ints([-1, 13], [20, -1])])
def test_extents_belong_to_the_axes_of_the_sample(shape):
    equal(lambda m, x, a, s: m.fn.pad(x, axes=a, shape=s), IMAGES, ints([0, 1], [1, 0]), shape)


def test_alignment_belongs_to_the_axes_of_the_sample():
    equal(lambda m, x, a, n: m.fn.pad(x, axes=a, align=n), IMAGES, ints([0, 1], [1, 2]), ints([4, 5], [7, 2]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axes": ints([3], [0])}, "axes must be -3 to 2"),
        (
            {"axes": ints([0], [0]), "shape": ints([9, 9], [9, 9])},
            "shape must be one number, or one for each of 1",
        ),
        ({"axes": ints([0], [0]), "align": ints([0], [1])}, "align must be at least 1"),
    ],
)
def test_values_that_fit_no_sample_are_refused(arguments, message):
    names, values = list(arguments), list(arguments.values())
    with pytest.raises(ArgumentError, match=message):
        run(lambda m, x, *given: m.fn.pad(x, **dict(zip(names, given, strict=True))), IMAGES, *values, module=HERE)


def test_axes_and_names_are_mutually_exclusive():
    with pytest.raises(ArgumentError, match="mutually exclusive"):
        run(lambda m, x, a: m.fn.pad(x, axes=a, axis_names="H"), IMAGES, ints([0], [0]), module=HERE)
