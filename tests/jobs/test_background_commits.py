"""Commits to a store go on while the next shards are written."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from pixelmill.jobs.background_commits import AT_ONCE, BackgroundCommits


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
        if shard < 0:
            raise ValueError("planted")
        return {"number": shard}


def test_a_store_is_not_waited_for() -> None:
    task: Any = Task(is_remote=True)
    ended: list[int] = []
    with BackgroundCommits(task) as commits:
        for number in range(AT_ONCE):
            assert list(commits.add(number, done=lambda future: ended.append(future.result()["number"]))) == []
        assert ended == []
        task.may.set()
        assert [entry["number"] for entry in commits.rest()] == list(range(AT_ONCE))
    assert sorted(ended) == list(range(AT_ONCE))


def test_no_more_than_four_shards_wait() -> None:
    task: Any = Task(is_remote=True)
    with BackgroundCommits(task) as commits:
        for number in range(4):
            list(commits.add(number))
        threading.Timer(0.05, task.may.set).start()
        assert next(commits.add(4))["number"] == 0  # waits for the first one


def test_folders_of_this_machine_are_committed_at_once() -> None:
    task: Any = Task(is_remote=False)
    task.may.set()
    with BackgroundCommits(task) as commits:
        assert list(commits.add(5)) == [{"number": 5}]


@pytest.mark.parametrize("is_remote", [False, True])
def test_errors_reach_the_caller(is_remote: bool) -> None:
    task: Any = Task(is_remote=is_remote)
    task.may.set()
    with pytest.raises(ValueError, match="planted"), BackgroundCommits(task) as commits:
        list(commits.add(-1))
        list(commits.rest())
