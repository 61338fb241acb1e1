"""The tables of transforms and presets beside Albumentations, for docs/performance.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

KEYS = ("augmentation_transforms", "augmentation_presets")
Table = Callable[[Sequence[str], Iterable[Sequence[str]]], str]
Run = dict[str, Any]


def newest(runs: Iterable[Run]) -> list[Run]:
    """Return the newest run of each of the two programs."""
    ordered = sorted(runs, key=lambda run: str(run["machine"]["date"]))
    return [found[-1] for key in KEYS if (found := [run for run in ordered if key in run])]


def sections(runs: Iterable[Run], table: Table) -> str:
    """Return both tables, each with a line that sums it up."""
    parts = []
    for run in newest(runs):
        if KEYS[0] in run:
            parts.append(transforms(run, table))
        if KEYS[1] in run:
            parts.append(presets(run, table))
    return "\n\n".join(parts)


def transforms(run: Run, table: Table) -> str:
    """Return the table of single transforms."""
    rows = run[KEYS[0]]
    ratios = [row["ratio"] for row in rows]
    faster = sum(ratio > 1 for ratio in ratios)
    floor = run["without_a_step"]
    lines = (
        f"pixelmill is faster than Albumentations on {faster} of {len(rows)} transforms ({faster / len(rows):.0%}); "
        f"the median ratio is {median(ratios):.2f}, the smallest {min(ratios):.2f}. A batch without a step takes "
        f"{floor['batch']:.3f} ms per image, an `ImageTransform` without a step {floor['single']:.3f} ms. "
        f"Load {run['machine']['load_before']}.{_beside_kornia(rows)}"
    )
    headings = ("ms per image", "batch", "Albumentations", "ratio", "spread", "ImageTransform", "bare OpenCV", "Kornia")
    cells = [
        [
            row["transform"],
            f"{row['pixelmill_ms']:.3f}",
            f"{row['albumentations_ms']:.3f}",
            f"{row['ratio']:.2f}",
            f"{row['spread']:.0%}",
            f"{row['single_ms']:.3f}",
            f"{row['opencv_ms']:.3f}" if "opencv_ms" in row else "",
            f"{row['kornia_ms']:.2f}" if "kornia_ms" in row else "",
        ]
        for row in rows
    ]
    return f"{lines}\n\n{table(headings, cells)}"


def _beside_kornia(rows: Sequence[Run]) -> str:
    ratios = [row["kornia_ms"] / row["pixelmill_ms"] for row in rows if "kornia_ms" in row]
    if not ratios:
        return ""
    faster = sum(ratio > 1 for ratio in ratios)
    known = f" Kornia has {len(ratios)} of them; pixelmill is faster on {faster}"
    return f"{known}, by a median factor of {median(ratios):.0f}."


def presets(run: Run, table: Table) -> str:
    """Return the table of whole presets."""
    headings = ("images/s", "pixelmill, 2 threads", "Albumentations, 2 workers", "ratio", "spread")
    cells = [
        [
            row["preset"],
            f"{row['pixelmill']:.0f}",
            f"{row['albumentations']:.0f}",
            f"{row['ratio']:.2f}",
            f"{row['spread']:.0%}",
        ]
        for row in run[KEYS[1]]
    ]
    return (
        f"{table(headings, cells)}\n\nMedians of {run['rounds']} rounds in turns; load {run['machine']['load_before']}."
    )
