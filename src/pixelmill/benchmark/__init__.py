"""Measures how fast data is read, decoded and augmented here, beside the peers that are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pixelmill.benchmark.report import BenchReport
    from pixelmill.benchmark.run import BenchInterrupted, bench

__all__ = ["BenchInterrupted", "BenchReport", "bench"]


def __getattr__(name: str) -> Any:
    """Import when it is asked for: the processes of contestants need none of it, and their start is measured."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pixelmill.benchmark import report, run

    return getattr(report if name == "BenchReport" else run, name)
