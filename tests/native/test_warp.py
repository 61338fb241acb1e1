"""Warps of bytes against their definition in NumPy, to the last bit, and at the ends of memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from dali_runs import noise
from hypothesis import given, settings
from hypothesis import strategies as st
from locations import SUPPORT
from operator_comparison import on_each_level, seeds

STEPS = 2048  # a share of a pixel is counted in these


def places(row, height, width):
    """Walk as DALI does: single-precision sums that start afresh every 256 columns."""
    step, across, shift = (np.float32(value) for value in row)
    tile = shift + step * np.float32(0.5) + across * (np.arange(height, dtype=np.float32) + np.float32(0.5))
    found = np.empty((height, width), np.float32)
    for x in range(width):
        if x % 256 == 0:
            tile = tile + np.float32(256) * step if x else tile
            here = tile
        found[:, x] = here
        here = here + step
    return found


def first_tap(place, size):
    """Return the first tap and the share of the second one, in steps."""
    place = np.clip(place - np.float32(0.5), np.float32(-2), np.float32(size))
    tap = np.floor(place)
    return tap.astype(np.int64), ((place - tap) * np.float32(STEPS) + np.float32(0.5)).astype(np.int64)


def warped(picture, matrix, fill):
    """Blend four taps by weights that are whole numbers and make 16384."""
    height, width = picture.shape[:2]
    matrix = np.asarray(matrix, np.float32).reshape(2, 3)
    x, right = first_tap(places(matrix[0], height, width), width)
    y, lower = first_tap(places(matrix[1], height, width), height)
    both = (right * lower + 128) >> 8
    weights = [16384 - 8 * right - 8 * lower + both, 8 * right - both, 8 * lower - both, both]
    total = np.full(picture.shape, 8192, np.int64)
    for k, weight in enumerate(weights):
        row, column = y + k // 2, x + k % 2
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        tap = picture[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
        total += np.where(inside[..., None], tap, fill) * weight[..., None]
    return (total >> 14).astype(np.uint8)


def demand(picture, matrix, fill=9, *, view=lambda m, x: x, seen=lambda x: x):
    """Demand the definition's bytes of every instruction set; `view` and `seen` change the image alike."""

    def graph(m, x):
        return m.fn.warp_affine(view(m, x), matrix=list(matrix), fill_value=fill)

    (got,) = on_each_level(graph, [picture])
    np.testing.assert_array_equal(got, warped(seen(picture), matrix, fill))


def near_turn(seed):
    random = np.random.default_rng(seed)
    return [float(v) for v in (np.eye(2, 3) + random.normal(size=(2, 3)) * [0.1, 0.1, 5]).ravel()]


@given(st.integers(2, 90), st.integers(2, 200), st.sampled_from([1, 3, 4]), seeds)
@settings(max_examples=60)
def test_warps_are_their_definition(height, width, channels, seed):
    demand(noise((height, width, channels), seed=seed), near_turn(seed))


VIEWS = {
    "mirrored": (lambda m, x: m.fn.flip(x, horizontal=1), lambda x: x[:, ::-1]),
    "upside down": (lambda m, x: m.fn.flip(x, horizontal=0, vertical=1), lambda x: x[::-1]),
    "turned over": (lambda m, x: m.fn.flip(x, horizontal=1, vertical=1), lambda x: x[::-1, ::-1]),
    "fewer channels": (lambda m, x: m.fn.slice(x, 0, 3, axes=[2], normalized_shape=False), lambda x: x[..., :3]),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("channels", [3, 4])
def test_views_are_warped_by_their_definition(name, channels):
    view, seen = VIEWS[name]
    for seed in range(3):
        demand(noise((70, 150, channels), seed=seed), near_turn(seed), view=view, seen=seen)


@pytest.mark.parametrize("shift", [0, 0.5, 1 / 4096, -1 / 4096, 3 / 4096, 0.5 - 1 / 4096, 1e-4, 2047.5 / 2048, 1.9999])
def test_shares_are_rounded_up_at_halves(shift):
    demand(noise((40, 150, 3)), [1, 0, shift, 0, 1, -shift])
    demand(noise((40, 150, 1)), [1, 1 / 4096, shift, 1 / 8192, 1, shift])


def test_very_wide_images():
    demand(noise((12, 9000, 3)), [1.0003, 0.01, 0.3, 0.0004, 1, 0.2])


def test_nothing_is_read_beyond_the_memory():
    script = SUPPORT / "guarded_warps.py"
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
