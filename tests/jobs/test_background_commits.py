"""Commits to a store go on while the next shards are written."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from pixelmill.jobs.background_commits import AT_ONCE, BackgroundCommits


def shard(number: int, *, size: int = 1) -> Any:
    return SimpleNamespace(number=number, files=SimpleNamespace(size=size))


@dataclass
class Task:
    """Commits numbers when it may."""

    is_remote: bool
    may: threading.Event = field(default_factory=threading.Event)

    @property
    def storage(self) -> Task:
        return self

    def commit(self, shard: Any) -> dict[str, int]:
        assert self.may.wait(60)
        if shard.number < 0:
            raise ValueError("planted")
        return {"number": shard.number}


def test_a_store_is_not_waited_for() -> None:
    task: Any = Task(is_remote=True)
    ended: list[int] = []
    with BackgroundCommits(task) as commits:
        for number in range(AT_ONCE):
            assert list(commits.add(shard(number), done=lambda future: ended.append(future.result()["number"]))) == []
        assert ended == []
        task.may.set()
        assert [entry["number"] for entry in commits.rest()] == list(range(AT_ONCE))
    assert sorted(ended) == list(range(AT_ONCE))


@pytest.mark.parametrize(("size", "most"), [(1, 16), (16 << 20, 16), (20 << 20, 12), (40 << 20, 6), (1 << 30, 4)])
def test_many_small_shards_or_few_large_ones_wait(size: int, most: int) -> None:
    """What is being committed is in memory, or on the disk of this machine."""
    task: Any = Task(is_remote=True)
    with BackgroundCommits(task) as commits:
        for number in range(most):
            assert list(commits.add(shard(number, size=size))) == []
        threading.Timer(0.05, task.may.set).start()
        assert next(commits.add(shard(most, size=size)))["number"] == 0  # waits for the first one


def test_folders_of_this_machine_are_committed_at_once() -> None:
    task: Any = Task(is_remote=False)
    task.may.set()
    with BackgroundCommits(task) as commits:
        assert list(commits.add(shard(5))) == [{"number": 5}]


@pytest.mark.parametrize("is_remote", [False, True])
def test_errors_reach_the_caller(is_remote: bool) -> None:
    task: Any = Task(is_remote=is_remote)
    task.may.set()
    with pytest.raises(ValueError, match="planted"), BackgroundCommits(task) as commits:
        list(commits.add(shard(-1)))
        list(commits.rest())
