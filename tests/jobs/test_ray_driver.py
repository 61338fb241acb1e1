"""The loop that submits the shards of a job to Ray: its work grows linearly, and few tasks are in flight."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from pixelmill.jobs.ray import as_completed


class CountingRay:
    """Stands in for the module `ray`; tasks end in an order of their own.

    Attributes:
        scanned: How many references all calls of `wait` were given.
        most: The most tasks that were in flight.
        canceled: The tasks that were canceled.
    """

    def __init__(self, processors: int, *, at_once: int) -> None:
        self.processors = processors
        self.at_once = at_once
        self.scanned = self.most = self.counted = 0
        self.in_flight: set[int] = set()
        self.canceled: list[int] = []
        self._random = random.Random(0)

    def cluster_resources(self) -> dict[str, float]:
        self.counted += 1
        return {"CPU": float(self.processors)}

    def start(self, number: int) -> int:
        self.in_flight.add(number)
        self.most = max(self.most, len(self.in_flight))
        return number

    def wait(
        self, references: Sequence[int], *, num_returns: int, timeout: float | None = None
    ) -> tuple[list[int], list[int]]:
        assert len(set(references)) == len(references) >= num_returns > 0
        self.scanned += len(references)
        count = num_returns if timeout is None else min(num_returns, self.at_once)
        ready = self._random.sample(list(references), count)
        self.in_flight -= set(ready)
        return ready, [reference for reference in references if reference not in set(ready)]

    def cancel(self, reference: int, *, force: bool) -> None:
        assert force
        self.canceled.append(reference)


@pytest.mark.parametrize("at_once", [0, 8])
def test_the_driver_looks_at_a_bounded_number_of_references_for_each_shard(at_once: int) -> None:
    small, large = CountingRay(8, at_once=at_once), CountingRay(8, at_once=at_once)
    assert sorted(as_completed(small, small.start, range(1_000))) == list(range(1_000))
    assert sorted(as_completed(large, large.start, range(100_000))) == list(range(100_000))
    assert large.most == small.most == 64
    assert large.scanned <= 100 * small.scanned * 1.1
    assert large.scanned <= 100_000 * 2 * 64


def test_a_cluster_that_grows_gets_more_tasks() -> None:
    ray = CountingRay(2, at_once=0)
    finished = as_completed(ray, ray.start, range(5_000))
    for _ in range(1_500):
        next(finished)
    assert ray.most == 64
    ray.processors = 100
    assert len(list(finished)) == 3_500
    assert ray.most == 400
    assert ray.counted <= 6


def test_tasks_in_flight_are_canceled_when_the_job_ends_early() -> None:
    ray = CountingRay(1, at_once=0)
    finished = as_completed(ray, ray.start, range(200))
    taken = [next(finished) for _ in range(10)]
    finished.close()
    assert len(ray.canceled) == 63
    assert set(ray.canceled) == ray.in_flight
    assert not set(ray.canceled) & set(taken)


def test_nothing_to_do_asks_nothing() -> None:
    ray = CountingRay(1, at_once=0)
    assert list(as_completed(ray, ray.start, [])) == []
    assert ray.counted == ray.scanned == 0
