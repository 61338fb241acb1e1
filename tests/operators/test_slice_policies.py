"""Slices beyond the edges of an array."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import equal, noise, run

from pixelmill.errors import ArgumentError, DataError

IMAGES = [noise((5, 6, 3), seed=1), noise((7, 4, 3), seed=2)]
WINDOWS = [((-3, -8), (14, 20)), ((2, 1), (9, 3)), ((-30, 0), (10, 4)), ((8, 0), (2, 2))]


@pytest.mark.parametrize("policy", ["edge", "clamp", "reflect", "reflect_1001", "reflect_101", "wrap"])
@pytest.mark.parametrize(("start", "shape"), WINDOWS)
def test_arrays_continue_beyond_their_edges_as_in_dali(policy, start, shape):
    equal(
        lambda m, x: m.fn.slice(x, start=list(start), shape=list(shape), axes=(0, 1), out_of_bounds_policy=policy),
        IMAGES,
        level=0,
    )


def test_channels_and_views_continue_too():
    (made,) = run(
        lambda m, x: m.fn.slice(m.fn.flip(x), start=[-1], shape=[5], axes=(2,), out_of_bounds_policy="wrap"), IMAGES
    )
    for mine, image in zip(made, IMAGES, strict=True):
        assert np.array_equal(mine, image[:, ::-1][:, :, [2, 0, 1, 2, 0]])


def test_nothing_cannot_be_continued():
    with pytest.raises(DataError, match="empty data"):
        run(
            lambda m, x: m.fn.slice(x, start=[0], shape=[2], axes=(0,), out_of_bounds_policy="edge"), [noise((0, 4, 3))]
        )


def test_other_policies_are_refused():
    with pytest.raises(ArgumentError, match="out_of_bounds_policy must be one of 'error'"):
        run(lambda m, x: m.fn.slice(x, start=[0], shape=[2], axes=(0,), out_of_bounds_policy="mirror"), IMAGES)
