"""Counts, sizes and durations as people say them."""

from __future__ import annotations

import pytest

from pixelmill.amounts import counted, duration_text, rate_text, size_text, speed_text


def test_nouns_follow_their_number() -> None:
    assert [counted(number, "image") for number in (0, 1, 2, 1200)] == [
        "0 images",
        "1 image",
        "2 images",
        "1,200 images",
    ]
    assert [counted(number, "box", "boxes") for number in (1, 3)] == ["1 box", "3 boxes"]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (999.6, "1.0 kB"),
        (2_460, "2.5 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (50_000_000_000, "50.0 GB"),
        (1.5e15, "1.5 PB"),
        (3e18, "3,000.0 PB"),
    ],
)
def test_sizes(size: float, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.004, "0.00 s"),
        (9.994, "9.99 s"),
        (9.996, "10.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min"),
        (61, "1 min 1 s"),
        (3599.6, "1 h"),
        (45_900, "12 h 45 min"),
        (86_399, "1 d"),
        (90_000, "1 d 1 h"),
        (8.64e8, "10,000 d"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_speeds() -> None:
    assert [rate_text(rate) for rate in (0.04, 99.94, 99.96, 12_345.6)] == ["0.0", "99.9", "100", "12,346"]
    assert speed_text(1000, 25_000_000, 2) == "500 images/s, 12.5 MB/s"
    assert speed_text(0, 0, 0) == "0.0 images/s, 0 bytes/s"
