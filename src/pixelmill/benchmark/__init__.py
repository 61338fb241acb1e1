"""The implementation of `pixelmill bench`, which measures a dataset of the user next to the peers that are installed.

The published figures of the project come from the scripts in `benchmarks/`, which use the contestants of this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from pixelmill.benchmark.bench_report import BenchReport
    from pixelmill.benchmark.bench_run import BenchInterrupted, bench

__all__ = ["BenchInterrupted", "BenchReport", "bench"]
# The processes of contestants need none of these, and their start is measured.
__getattr__ = lazy_exports(
    __name__, {"BenchInterrupted": "bench_run", "BenchReport": "bench_report", "bench": "bench_run"}
)
