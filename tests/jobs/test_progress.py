"""Progress is reported a few times a second, and nothing of it is lost."""

from __future__ import annotations

import pytest

from pixelmill.jobs import progress
from pixelmill.jobs.progress import GatheredProgress


@pytest.mark.parametrize("reported", [True, False])
def test_progress_is_reported_every_fifth_of_a_second(reported: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.1, 0.15, 0.25, 0.25, 0.3, 0.3])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    seen: list[tuple[int, int]] = []
    gathered = GatheredProgress((lambda *more: seen.append(more)) if reported else None)
    for _ in range(4):
        gathered.advance(1, 100)
    gathered.finish()
    assert seen == ([(3, 300), (1, 100)] if reported else [])
