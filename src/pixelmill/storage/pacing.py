"""How many requests are in flight, how far to read ahead, and when a request takes suspiciously long."""

from __future__ import annotations

from collections import deque

START_REQUESTS = 64  # a usual batch: whatever is sent with it delays it
MOST_AT_ONCE = 128  # of the first batch
WIDENED_EACH = 0.004  # seconds
WIDENED_BY = 10  # requests: 2,500 per second, more than a processor decodes
MOST_REQUESTS = 256
GROWTH = 1.5  # of the number of requests, when a batch had to wait
JUDGED_EACH = 8  # answers until patience is computed again
FEWEST_REQUESTS = 4
START_AHEAD = 32 << 20
KEPT = 64  # durations of requests that are remembered
KNOWN_FROM = 8  # durations that are needed before one is called slow
SLOW_FACTOR = 4.0
SHORTEST_PATIENCE = 0.25  # seconds; below this, hedging would answer the scheduler of the machine
FIRST_PATIENCE = 2.0
HEDGED = 0.05  # the fraction of requests that may be sent twice
CONGESTED = 3.0  # requests that take this many times the fastest ones do not become more


class Pace:
    """Adapts to a store by what it observes.

    The requests of the first batch are sent at once, others at a steady rate until the first answer comes: then there
    are as many as latency times rate, they do not delay the first batch, and their answers do not come all at once.
    Whenever a batch had to wait, the read-ahead doubles, and half as many requests again are allowed, provided that
    they finish about as fast as the fastest ones did. A store that asks for fewer gets fewer.

    Args:
        budget: The most bytes to read ahead.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._most = MOST_REQUESTS
        self._limit = float(START_REQUESTS)
        self._has_begun = False
        self._is_widening = True
        self._durations: deque[float] = deque(maxlen=KEPT)
        self._fastest = float("inf")
        self._requests = 0
        self._answered = 0
        self._hedged = 0
        self._patience = FIRST_PATIENCE
        self.ahead = min(START_AHEAD, budget)

    @property
    def limit(self) -> int:
        """How many requests may be in flight."""
        return int(self._limit)

    def allow(self, most: int) -> None:
        """Set the most requests that the client can have in flight."""
        self._most = most
        self._limit = min(self._limit, most)

    def begin(self, count: int) -> None:
        """Note how many ranges the first batch has; of later ones, nothing is noted."""
        if not self._has_begun:
            self._has_begun = True
            self._limit = min(max(self._limit, float(min(count, MOST_AT_ONCE))), float(self._most))

    def widened(self) -> bool:
        """Allow some more requests, `WIDENED_EACH` seconds after the last time; return whether to go on with it."""
        if self._is_widening:
            self._limit = min(self._limit + WIDENED_BY, float(self._most))
        return self._is_widening and self._limit < self._most

    def finished(self, seconds: float) -> None:
        """Note a request that was answered."""
        self._is_widening = False
        self._durations.append(seconds)
        self._fastest = min(self._fastest, seconds)
        self._answered += 1
        if self._answered % JUDGED_EACH == 0 or self._answered <= KNOWN_FROM:
            self._patience = self._judged()

    def throttled(self) -> None:
        """Note that the store asked for fewer requests."""
        self._is_widening = False
        self._limit = max(self._limit * 0.9, FEWEST_REQUESTS)

    def stalled(self) -> None:
        """Note that a batch has to wait for its bytes; before the first answer, every batch has to."""
        if not self._durations:
            return
        self.ahead = min(2 * self.ahead, self._budget)
        if self._average() < CONGESTED * self._fastest + 0.02:
            self._limit = min(self._limit * GROWTH, float(self._most))

    def patience(self) -> float:
        """Return after how many seconds a request is sent a second time."""
        return self._patience

    def _judged(self) -> float:
        if len(self._durations) < KNOWN_FROM:
            return FIRST_PATIENCE
        usual = sorted(self._durations)[int(0.9 * len(self._durations))]
        return max(SLOW_FACTOR * usual, SHORTEST_PATIENCE)

    def started(self) -> None:
        """Count a request."""
        self._requests += 1

    def may_hedge(self) -> bool:
        """Whether to send a request a second time; counts it if so."""
        if self._hedged > 1 + HEDGED * self._requests:
            return False
        self._hedged += 1
        return True

    def _average(self) -> float:
        return sum(self._durations) / len(self._durations)
