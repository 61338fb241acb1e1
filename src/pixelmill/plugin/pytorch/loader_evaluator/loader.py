"""Measures how long a training program waits for its DataLoader, and how fast it would be without waiting."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from torch.utils.data import DataLoader

from pixelmill.errors import ArgumentError, EngineError

Metrics = dict[str, Any]


class LoaderEvaluator:
    """A DataLoader that measures, or that replays a few batches from memory.

    The difference between the two modes in a training program is the time that the program waits for data.

    Args:
        dataloader: The DataLoader.
        mode: `"log"` to pass its batches on, or `"replay"` to repeat batches that were loaded ahead.
        num_cached_batches: With `"replay"`, how many batches to keep in memory.
        metrics_file: The file that `save_metrics` writes to.
    """

    def __init__(
        self,
        dataloader: DataLoader[Any],
        mode: Literal["log", "replay"] = "log",
        num_cached_batches: int = 20,
        metrics_file: str | None = None,
    ) -> None:
        if mode not in ("log", "replay"):
            raise ArgumentError(f"LoaderEvaluator: mode must be 'log' or 'replay', got {mode!r}")
        self.dataloader, self.mode = dataloader, mode
        self.num_cached_batches, self.metrics_file = num_cached_batches, metrics_file
        self.batch_times: list[float] = []
        self.total_time = 0.0
        # The last batches, as DALI keeps them.
        self.cached_batches: deque[Any] = deque(dataloader if mode == "replay" else (), num_cached_batches)

    @property
    def cache_ready(self) -> bool:
        """Whether there are batches to replay."""
        return bool(self.cached_batches)

    def __len__(self) -> int:
        return len(self.dataloader)

    def __iter__(self) -> Iterator[Any]:
        """Yield batches, and measure the time until each is there."""
        self.batch_times, self.total_time = [], 0.0
        batches = iter(self.dataloader) if self.mode == "log" else self._replayed()
        begun = time.perf_counter()
        while True:
            started = time.perf_counter()
            try:
                batch = next(batches)
            except StopIteration:
                break
            self.batch_times.append(time.perf_counter() - started)
            yield batch
        self.total_time = time.perf_counter() - begun

    def _replayed(self) -> Iterator[Any]:
        if not self.cached_batches:
            raise EngineError("LoaderEvaluator: the DataLoader has no batches to replay")
        for number in range(len(self.dataloader)):
            yield self.cached_batches[number % len(self.cached_batches)]

    def get_metrics(self) -> Metrics:
        """Return what was measured in the last epoch; nothing before the first batch."""
        if not self.batch_times:
            return {}
        return {
            "mode": self.mode,
            "total_batches": len(self.batch_times),
            "total_time": self.total_time,
            "avg_batch_time": sum(self.batch_times) / len(self.batch_times),
            "min_batch_time": min(self.batch_times),
            "max_batch_time": max(self.batch_times),
            "batch_times": list(self.batch_times),
            "cached_batches": len(self.cached_batches),
            "cache_ready": self.cache_ready,
        }

    def save_metrics(self, filename: str | None = None) -> None:
        """Write the metrics as JSON to `filename`, or to `metrics_file`."""
        path = filename or self.metrics_file
        if path is None:
            raise ArgumentError("save_metrics: pass filename, or metrics_file to the constructor")
        Path(path).write_text(json.dumps(self.get_metrics(), indent=2), "utf-8")

    def print_summary(self) -> None:
        """Print the metrics without the list of times."""
        print(f"Loader Evaluator Summary:\n  Mode: {self.mode}\n  Number of batches: {len(self)}")
        print(f"  Cache size: {len(self.cached_batches)}/{self.num_cached_batches}")
        metrics = self.get_metrics()
        for name in ("total_batches", "total_time", "avg_batch_time", "min_batch_time", "max_batch_time"):
            if name in metrics:
                print(f"  {name}: {metrics[name]:.4g}")


__all__ = ["LoaderEvaluator"]
