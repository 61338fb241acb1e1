"""What a runner in this process tells of the shards to come."""

from __future__ import annotations

from typing import Any

from small_jobs import NumbersJob

from pixelmill.jobs import local
from pixelmill.jobs.local import LocalRunner


class Task:
    """Notes which shards were known when each was written."""

    job = NumbersJob()
    storage = type("Storage", (), {"is_remote": False})()

    def __init__(self) -> None:
        self.known: list[tuple[int, list[int]]] = []

    def write(self, number: int, *, on_samples: Any, following: list[int]) -> int:
        self.known.append((number, following))
        return number

    def commit(self, number: int) -> dict[str, int]:
        return {"number": number}


def test_shards_to_come_are_known(monkeypatch: Any) -> None:
    monkeypatch.setattr(local, "_FOLLOWING", 2)
    task: Any = Task()
    made = [entry["number"] for entry in LocalRunner(1)(task, [3, 5, 6, 9], on_samples=lambda *_: None)]
    assert made == [3, 5, 6, 9]
    assert task.known == [(3, [5, 6]), (5, [6, 9]), (6, [9]), (9, [])]
