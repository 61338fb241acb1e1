"""Functions of floats: how far off they are, what they make of special numbers, the same bytes at each SIMD level."""

from __future__ import annotations

import numpy as np
import pytest
from operator_comparison import on_each_level

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-40, 1.17549435e-38, 3.4e38, -3.4e38, 0.5, 2.0],
    np.float32,
)
EDGES = np.array([86.9, 87.0, 87.1, 88.7, 88.8, -87.3, -87.4, -103.9, -104.1, 120.0, -120.0], np.float32)
# In units of the last place of the result, over all floats (37 apart) or 30 million pairs when the functions were made.
MOST = {"exp": 2.0, "log": 1.0, "atan2": 3.0, "pow": 0.6}
EXACT = {"exp": np.exp, "log": np.log, "atan2": np.arctan2, "pow": np.power}


def off_by(got, exact):
    """Return the largest error in units of the last place; special results must be the same."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(np.float32)
    plain = np.isfinite(nearest)
    np.testing.assert_array_equal(got[~plain], nearest[~plain])
    unit = np.spacing(np.abs(nearest[plain])).astype(np.float64)
    return np.max(np.abs(got[plain] - exact[plain]) / unit)


def applied(name, *operands):
    """Return the result of a function at each SIMD level, and the exact one."""
    (got,) = on_each_level(lambda m, *x: getattr(m.math, name)(*x), *([one] for one in operands), layouts="")
    with np.errstate(all="ignore"):
        return got, EXACT[name](*(one.astype(np.float64) for one in operands))


def floats(seed, count=40_000):
    """Return floats of all magnitudes, and of those that images have."""
    random = np.random.default_rng(seed)
    anything = random.integers(0, 2**32, count, np.uint32).view(np.float32)
    anything[np.isnan(anything)] = np.nan  # signaling ones have results of their own: sNaN to the power 0 is not 1
    usual = random.uniform(-90, 90, count).astype(np.float32)
    levels = (random.integers(0, 256, count) / 255).astype(np.float32)
    return np.concatenate([anything, usual, levels])


@pytest.mark.parametrize("name", ["exp", "log"])
def test_functions_of_one_number(name):
    # Rows without special numbers take another path than rows with them: few of each, and many.
    for numbers in (floats(1), np.abs(floats(2)), np.float32(np.linspace(0, 1, 5001)), np.r_[EDGES, SPECIAL]):
        assert off_by(*applied(name, numbers)) <= MOST[name]


def test_angles_and_powers():
    y, x = floats(3), np.random.default_rng(4).permutation(floats(5))
    assert off_by(*applied("atan2", y, x)) <= MOST["atan2"]
    assert off_by(*applied("pow", np.abs(x), y)) <= MOST["pow"]
    y, x = (side.ravel() for side in np.meshgrid(np.r_[SPECIAL, EDGES], np.r_[SPECIAL, EDGES]))
    for name in ("atan2", "pow"):
        got, exact = applied(name, y, x)
        assert off_by(got, exact) <= MOST[name]
        zeros = exact == 0
        np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(exact[zeros]))


@pytest.mark.parametrize("power", [0.01, 0.19, 0.21, 0.7, 1 / 2.2])
def test_black_to_a_power_is_black(power):
    black = np.zeros(600, np.float32)
    (got,) = on_each_level(lambda m, x: x**power, [black], layouts="")
    assert not got.any()


def test_floats_become_bytes_as_numpy_rounds_halves_up():
    halves = np.float32(np.arange(-4, 520) / 2)
    numbers = np.concatenate([halves, np.nextafter(halves, np.float32(-1)), np.nextafter(halves, np.float32(999))])
    numbers = np.r_[numbers, np.float32([np.nan, np.inf, -np.inf, 1e30, -1e30, 0.49999997])]
    wanted = np.floor(np.clip(np.nan_to_num(numbers.astype(np.float64), posinf=255, neginf=0), 0, 255) + 0.5)
    (got,) = on_each_level(lambda m, x: m.fn.cast(x, dtype=m.types.UINT8), [numbers], layouts="")
    np.testing.assert_array_equal(got, wanted.astype(np.uint8))


@pytest.mark.parametrize("number", [-129, -128, -1, 0, 100, 127, 128, 255, 256, 32767, 32768, 70000, -70000])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.uint32])
def test_numbers_of_any_size_are_compared_with_narrow_integers(number, dtype):
    limits = np.iinfo(dtype)
    array = np.arange(4000).astype(dtype) * dtype(7) + dtype(limits.min)
    array[:3] = limits.min, limits.max, np.clip(number, limits.min, limits.max)

    def graph(m, x):
        each = [x == number, x != number, x < number, x <= number, number < x, x >= number]
        return m.fn.stack(*each)

    (got,) = on_each_level(graph, [array], layouts="")
    wide = array.astype(np.int64)
    wanted = [wide == number, wide != number, wide < number, wide <= number, number < wide, wide >= number]
    np.testing.assert_array_equal(got, np.stack(wanted))
