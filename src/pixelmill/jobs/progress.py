"""Progress that is reported a few times a second, whatever the number of samples."""

from __future__ import annotations

import time
from collections.abc import Callable

_SECONDS = 0.2  # between two reports: a progress bar that is drawn for each sample costs more than copying it

OnSamples = Callable[[int, int], object]


class GatheredProgress:
    """Adds up samples and bytes, and reports them every 0.2 seconds.

    Args:
        report: Called with the numbers of further samples and bytes, if it is not None.
    """

    def __init__(self, report: OnSamples | None) -> None:
        self._report = report
        self._samples = self._bytes = 0
        self._reported = time.monotonic()

    def advance(self, samples: int, size: int) -> None:
        """Count further samples and bytes."""
        self._samples += samples
        self._bytes += size
        if time.monotonic() - self._reported > _SECONDS:
            self.finish()

    def finish(self) -> None:
        """Report what has not been reported yet."""
        if self._report is not None and (self._samples or self._bytes):
            self._report(self._samples, self._bytes)
        self._samples = self._bytes = 0
        self._reported = time.monotonic()
