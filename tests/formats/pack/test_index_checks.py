"""The checks of the core on columns of a pack's index, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixelmill import _core

NUMBERS = st.lists(st.integers(0, 5), max_size=6)
MOST = 2**64 - 1


@pytest.mark.parametrize("dtype", ["<u1", "<u4", "<u8"])
def test_the_largest_number_of_a_column(dtype: str) -> None:
    most = int(np.iinfo(dtype).max)
    assert _core.largest(np.array([], dtype)) == 0
    assert _core.largest(np.array([3, most, 5], dtype)) == most


@given(starts=NUMBERS, items=st.integers(0, 5), least=st.integers(0, 2))
def test_starts_divide_a_column(starts: list[int], items: int, least: int) -> None:
    steps = np.diff(np.array(starts, np.int64))
    expected = bool(starts) and starts[0] == 0 and starts[-1] == items and bool((steps >= least).all())
    assert _core.divides(np.array(starts, "<u8"), items, least=least) is expected


def test_starts_that_wrap_around_divide_nothing() -> None:
    assert not _core.divides(np.array([0, MOST, 1], "<u8"), 1, least=0)
    assert not _core.divides(np.array([0, MOST, 1], "<u8"), 1, least=1)


def test_sizes_are_sums_that_are_rounded_up() -> None:
    lengths = [np.array([first, 0, 1 << 30], "<u8") for first in (1, 2, 3, 4)]
    sizes = _core.pack_sizes(lengths, head=96, alignment=32)
    assert sizes.dtype == np.int64 and sizes.tolist() == [128, 96, 96 + (4 << 30)]
    with pytest.raises(ValueError, match="different lengths"):
        _core.pack_sizes([*lengths[1:], lengths[0][:1]], head=96, alignment=32)


def test_samples_that_follow_each_other() -> None:
    offsets, sizes = np.array([64, 96, 224], "<u8"), np.array([32, 128, 32])
    assert _core.follow_each_other(offsets, sizes, end=256)
    assert not _core.follow_each_other(offsets, sizes, end=288)
    assert not _core.follow_each_other(offsets + np.array([0, 1, 0], "<u8"), sizes, end=256)
    assert not _core.follow_each_other(offsets, sizes[:2], end=224)
    assert _core.follow_each_other(offsets[:0], sizes[:0], end=256)
