"""Marks for capture mode. Operators run immediately here, so a mark changes nothing."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def invariant(value: Value) -> Value:
    """Return `value`. In DALI it marks a value that capture mode may take for a constant."""
    return value
