"""Starts peers: of each, the variant that is fastest on this machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise

from pixelmill.benchmark.contestants import Contestant
from pixelmill.benchmark.workload import PeerTask
from pixelmill.errors import EngineError

_QUALIFYING = 1.0  # seconds in which variants find out which is the fastest
_ERROR = re.compile(r"[\w.]*(Error|Exception)\b")
_LONGEST = 300  # characters of a reason


def start_fastest(jobs: Sequence[PeerTask], *, seconds: float, stack: ExitStack) -> Contestant:
    """Start all variants of a peer and keep the fastest one, paused. Raises the last error if none works.

    Args:
        jobs: The same work in one or several ways.
        seconds: Upper limit of the time for each to show its speed.
        stack: Ends the processes.
    """
    tried: list[Contestant] = []
    failure: EngineError | None = None
    for job in jobs:
        try:
            contestant = Contestant(job)
            stack.callback(contestant.close)
            if len(jobs) > 1:
                contestant.run(min(seconds, _QUALIFYING))
            contestant.pause()
            tried.append(contestant)
        except EngineError as error:
            failure = error
    if not tried:
        assert failure is not None
        raise failure
    best = max(tried, key=lambda contestant: max(contestant.record.rates, default=0.0))
    best.record.rates.clear()
    best.record.cpu_milliseconds.clear()
    for contestant in tried:
        if contestant is not best:
            contestant.close()
    return best


def reason_in(message: str) -> str:
    """Return the line that says what happened in the output of a process that has ended."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    named = [after for line, after in pairwise(lines) if line == "encountered:"]  # how DALI puts it
    errors = [line for line in lines if _ERROR.match(line)]
    return next(iter([*named, *errors[-1:], *lines[-1:], "it has ended"]))[:_LONGEST]
