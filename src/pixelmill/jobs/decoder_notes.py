"""What engines report about samples, sorted into failures and notes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pixelmill.engine.native import Trouble


def sort_troubles(
    troubles: Iterable[Trouble], *, refused: Iterable[str]
) -> tuple[dict[int, Trouble], dict[int, set[str]]]:
    """Return why samples of a batch failed, and the kinds of notes about others; both by place in the batch.

    Args:
        troubles: What the engine reports.
        refused: Kinds of notes that make a sample a failed one; see `ShardFiles.refused_notes`.
    """
    failures: dict[int, Trouble] = {}
    notes: dict[int, set[str]] = {}
    for trouble in troubles:
        if trouble.fatal or trouble.kind in set(refused):
            failures.setdefault(trouble.place, replace(trouble, fatal=True))
        else:
            notes.setdefault(trouble.place, set()).add(trouble.kind)
    return failures, {place: kinds for place, kinds in notes.items() if place not in failures}
