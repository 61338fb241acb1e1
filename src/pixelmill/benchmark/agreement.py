"""Whether contestants do the same work: their first batches must agree."""

from __future__ import annotations

from collections.abc import Iterable

from pixelmill.benchmark.contestants import Record

_APART = 0.01  # of the range of values; decoders and ways to resize differ by less
_RANGES = {"uint8": 255.0, "float32": 4.4}  # the second one is for normalized images


def disagreements(ours: Record, others: Iterable[Record], *, random: bool) -> list[str]:
    """Return the contestants whose first batch differs from ours: another shape or type, or other images.

    Args:
        ours: What to compare with.
        others: The contestants to compare.
        random: Whether every contestant draws other images; then only shape and type are compared.
    """
    found = []
    for record in others:
        if "shape" not in record.batch or "shape" not in ours.batch:
            continue
        if any(record.batch[key] != ours.batch[key] for key in ("shape", "dtype", "more")):
            found.append(f"{record.name}: {record.batch['dtype']} {record.batch['shape']} {record.batch['more']}")
        elif not random:
            pairs = zip(record.batch["means"], ours.batch["means"], strict=True)
            scale = _RANGES.get(record.batch["dtype"], 1.0)
            apart = sum(abs(a - b) for a, b in pairs) / len(ours.batch["means"]) / scale
            if apart > _APART:
                found.append(f"{record.name}: its images differ by {apart:.1%} in their mean brightness")
    return found
