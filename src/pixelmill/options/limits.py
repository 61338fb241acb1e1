"""Limits of numbers. Operators need none of the other annotations, and training programs start sooner without them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """Limits of a number, both included unless they are open."""

    low: float
    high: float = float("inf")
    low_open: bool = False
    high_open: bool = False

    def __contains__(self, number: float) -> bool:
        above = number > self.low if self.low_open else number >= self.low
        return above and (number < self.high if self.high_open else number <= self.high)

    def __str__(self) -> str:
        low = f"above {self.low:g}" if self.low_open else f"at least {self.low:g}"
        if self.high == float("inf"):
            return low
        return f"from {self.low:g} to {'below ' if self.high_open else ''}{self.high:g}"
