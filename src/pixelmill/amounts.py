"""Counts, sizes, durations and speeds as text: the one place that decides how people read them."""

from __future__ import annotations

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, such as `1 image` or `1,200 images`.

    Args:
        number: The number.
        noun: The noun for one.
        plural: The noun for any other number, if it is not the noun with an `s`.
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size_text(size: float) -> str:
    """Return a number of bytes in decimal units, such as `812 bytes`, `2.5 kB` or `50.0 GB`."""
    if round(size) < 1000:
        return counted(round(size), "byte")
    power = 1
    while power < len(_UNITS) - 1 and round(size / 1000**power, 1) >= 1000:
        power += 1
    return f"{size / 1000**power:,.1f} {_UNITS[power]}"


def duration_text(seconds: float) -> str:
    """Return a time in its two largest units, such as `0.42 s`, `3 min 5 s` or `12 h 45 min`."""
    if round(seconds, 2) < 10:
        return f"{seconds:.2f} s"
    if round(seconds, 1) < _MINUTE:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR:
        return _two(whole, _MINUTE, "min", 1, "s")
    whole = round(seconds / _MINUTE) * _MINUTE
    if whole < _DAY:
        return _two(whole, _HOUR, "h", _MINUTE, "min")
    return _two(round(seconds / _HOUR) * _HOUR, _DAY, "d", _HOUR, "h")


def _two(whole: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = whole % large // small
    return f"{whole // large:,} {large_name}" + (f" {rest} {small_name}" if rest else "")


def rate_text(per_second: float) -> str:
    """Return a speed without its unit: whole numbers from 100 on, one decimal below."""
    return f"{per_second:,.0f}" if per_second >= 99.95 else f"{per_second:,.1f}"


def speed_text(images: int, size: float, seconds: float) -> str:
    """Return what was done in a time, such as `1,204 images/s, 96.3 MB/s`."""
    seconds = max(seconds, 1e-9)
    return f"{rate_text(images / seconds)} images/s, {size_text(size / seconds)}/s"
