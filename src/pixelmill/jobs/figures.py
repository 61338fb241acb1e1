"""What finished shards hold, in figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pixelmill.jobs import manifest
from pixelmill.jobs.manifest import Entry


@dataclass(frozen=True)
class Figures:
    """What finished shards hold.

    Attributes:
        samples: Number of samples.
        bytes: Bytes of all files.
        errors: Samples that were skipped.
        notes: Remarks about samples that were written, and how many have them.
        counts: What shards have counted besides.
    """

    samples: int
    bytes: int
    errors: int
    notes: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def totals(self) -> dict[str, Any]:
        """Return the figures as the manifest has them."""
        found: dict[str, Any] = {"samples": self.samples, "bytes": self.bytes, "errors": self.errors}
        named = {"notes": dict(self.notes), "counts": dict(self.counts)}
        return found | {name: counted for name, counted in named.items() if counted}


def figures(entry: Entry) -> Figures:
    """Return the figures of a finished shard."""
    size, errors = manifest.entry_bytes(entry), len(entry["errors"])
    return Figures(int(entry["samples"]), size, errors, entry.get("notes", {}), entry.get("counts", {}))


def total(shards: Iterable[Figures]) -> Figures:
    """Add up the figures of shards."""
    samples = size = errors = 0
    notes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for shard in shards:
        samples += shard.samples
        size += shard.bytes
        errors += shard.errors
        notes.update(shard.notes)
        counts.update(shard.counts)
    return Figures(samples, size, errors, dict(sorted(notes.items())), dict(sorted(counts.items())))
