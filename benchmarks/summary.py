"""From rounds to figures: best and median, ratios, and whether the targets are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from workloads import TARGETS

from pixelmill.benchmark import agreement
from pixelmill.benchmark.contestants import Record


def contestants(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the rounded figures of every contestant, with the rounds they come from."""
    return [
        {
            **asdict(record),
            "batch": {key: value for key, value in record.batch.items() if key != "means"},
            "rates": [round(rate, 2) for rate in record.rates],
            "cpu_milliseconds": [round(cost, 4) for cost in record.cpu_milliseconds],
            "first_batch_seconds": [round(seconds, 3) for seconds in record.first_batch_seconds],
            "best": round(max(record.rates), 1),
            "median": round(median(record.rates), 1),
            "ratio_to_dali": _ratio(record, chosen(records, "dali")),
        }
        for record in records
    ]


def chosen(records: Sequence[Record], peer: str) -> Record | None:
    """Return the variant that represents a peer: the fastest, but for pixelmill always the default."""
    own = [record for record in records if record.peer == peer and record.rates]
    if peer == "pixelmill":
        return own[0] if own else None
    return max(own, key=lambda record: median(record.rates), default=None)


def _ratio(record: Record, other: Record | None) -> dict[str, float] | None:
    if other is None:
        return None
    each = [a / b for a, b in zip(record.rates, other.rates, strict=True)]
    return {"median": round(median(each), 3), "best": round(max(record.rates) / max(other.rates), 3)}


def figures(records: Sequence[Record]) -> dict[str, float]:
    """Return the figures that have targets, as far as they were measured."""
    ours, dali = chosen(records, "pixelmill"), chosen(records, "dali")
    found: dict[str, float] = {}
    if ours is None:
        return found
    found["first_batch_seconds"] = round(median(ours.first_batch_seconds), 3)
    if dali is not None:
        found["speed_vs_dali"] = (_ratio(ours, dali) or {})["median"]
        found["memory_vs_dali"] = round(ours.peak_memory / _least_memory(records, "dali"), 3)
    for peer in ("limit", "tfdata", "opencv"):
        other = chosen(records, peer)
        if other is not None:
            found[f"speed_vs_{peer}"] = (_ratio(ours, other) or {})["median"]
    return found


def _least_memory(records: Sequence[Record], peer: str) -> int:
    """Return the variant with the least memory, which need not be the fastest."""
    return min(record.peak_memory for record in records if record.peer == peer)


def targets(workload: str, measured: dict[str, float]) -> list[dict[str, Any]]:
    """Compare the figures with their targets."""
    return [
        {
            "name": name,
            "limit": limit,
            "value": measured[name],
            "met": measured[name] >= limit if name.startswith("speed") else measured[name] <= limit,
        }
        for name, limit in TARGETS[workload].items()
        if name in measured
    ]


def disagreements(records: Sequence[Record], *, random: bool) -> list[str]:
    """Return the contestants whose first batch differs from pixelmill's in shape, type or images."""
    ours = chosen(records, "pixelmill")
    return [] if ours is None else agreement.disagreements(ours, records, random=random)
