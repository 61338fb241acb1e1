"""From the records of contestants to the rows of a report."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Mapping, Sequence
from statistics import median

from pixelmill.benchmark.bench_report import Scaling, Speed, spread
from pixelmill.benchmark.contestants import Contestant
from pixelmill.benchmark.peers import PEERS, Peer
from pixelmill.engine.devices import find_dali

_DISTRIBUTIONS = {"pixelmill": ("pixelmill",), "tf": ("tensorflow", "tensorflow-cpu"), "torch": ("torch",)}


def is_installed(peer: Peer) -> bool:
    """Whether a peer can be imported, without importing it."""
    try:
        return importlib.util.find_spec(peer.package) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


def scaling(own: Sequence[Contestant]) -> tuple[Scaling, ...]:
    """Return the speed of pixelmill by number of threads."""
    return tuple(
        Scaling(contestant.job.threads, round(median(rates), 1), _rounded(rates))
        for contestant in own
        if (rates := contestant.record.rates)
    )


def speeds(own: Contestant | None, others: Mapping[str, Contestant]) -> tuple[Speed, ...]:
    """Return the speed of pixelmill and then of every peer; empty if pixelmill has not run yet."""
    if own is None or not own.record.rates:
        return ()
    peers = [(name, PEERS[name].title, other) for name, other in others.items() if other.record.rates]
    return tuple(_speed(*each, own) for each in [("pixelmill", "pixelmill", own), *peers])


def _speed(name: str, title: str, contestant: Contestant, own: Contestant) -> Speed:
    record = contestant.record
    ratios = [ours / theirs for ours, theirs in zip(own.record.rates, record.rates, strict=False)]
    return Speed(
        name=name,
        title=title,
        variant=record.variant,
        version=_version(name),
        images_per_second=round(median(record.rates), 1),
        rounds=_rounded(record.rates),
        spread=spread(_rounded(record.rates)),
        ratio=None if contestant is own else round(median(ratios), 3),
        cpu_milliseconds=round(median(record.cpu_milliseconds), 4),
        peak_memory=record.peak_memory,
        first_batch_seconds=round(record.first_batch_seconds[0], 3),
    )


def _rounded(rates: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(rate, 1) for rate in rates)


def _version(name: str) -> str:
    if name == "dali":
        return find_dali().version or ""
    for distribution in _DISTRIBUTIONS[name]:
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""
