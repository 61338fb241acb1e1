"""The figures as rows of text, for the terminal and for docs/performance.md."""

from __future__ import annotations

from statistics import median
from typing import Any

HEADINGS = (
    "",
    "images/s",
    "best round",
    "spread",
    "times DALI",
    "best by best",
    "CPU ms/image",
    "peak MB",
    "first batch s",
)
OPERATOR_HEADINGS = ("operator", "data", "pixelmill", "DALI", "OpenCV", "times DALI", "times OpenCV")
# More is better for speed, less for everything else.
TARGET_NAMES = {
    "speed_vs_dali": "speed, times DALI's",
    "speed_vs_tfdata": "speed, times that of tf.data's fastest variant",
    "speed_vs_opencv": "speed, times that of the DataLoader with OpenCV",
    "memory_vs_dali": "peak memory, fraction of DALI's",
    "first_batch_seconds": "seconds from the start of the process to the first batch",
}
PEER_NAMES = {
    "dali": "DALI",
    "tfdata": "tf.data",
    "pillow": "DataLoader + Pillow",
    "opencv": "DataLoader + OpenCV",
    "limit": "limit",
}


def about(workload: dict[str, Any]) -> str:
    """Return a line about the work and the files."""
    files = workload["data"]
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(files["subsampling"].items()))
    title = workload["title"]
    return (
        f"{title[0].upper()}{title[1:]}. {files['files']} files ({files['source']}), on average "
        f"{files['mean_megapixels']:.2f} megapixels and {files['mean_kilobytes']:.0f} kB ({kinds}); "
        f"batches of {workload['batch']}."
    )


STEADY = 0.20  # what is published has rounds that differ by no more than this


def spread(contestant: dict[str, Any]) -> float:
    """Return how much the rounds of a contestant differ, as a fraction of their median."""
    rates = contestant["rates"]
    return float((max(rates) - min(rates)) / contestant["median"])


def row(contestant: dict[str, Any]) -> list[str]:
    """Return the figures of a contestant under HEADINGS."""
    starts, ratio = contestant["first_batch_seconds"], contestant["ratio_to_dali"]
    return [
        name(contestant),
        number(contestant["median"]),
        number(contestant["best"]),
        f"{spread(contestant):.0%}",
        f"{ratio['median']:.2f}" if ratio else "",
        f"{ratio['best']:.2f}" if ratio else "",
        f"{median(contestant['cpu_milliseconds']):.2f}",
        f"{contestant['peak_memory'] / 1e6:.0f}" if contestant["peer"] != "limit" else "",
        f"{median(starts):.2f}" if starts else "",
    ]


def name(contestant: dict[str, Any]) -> str:
    """Return the name of peer and variant."""
    peer = PEER_NAMES.get(contestant["peer"], contestant["peer"])
    return f"{peer}: {contestant['variant']}" if contestant["variant"] else peer


def number(rate: float) -> str:
    """Return a rate with three significant digits."""
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.1f}"


def target(wanted: dict[str, Any]) -> tuple[str, str]:
    """Return a target, the figure, and whether it is met."""
    bound = "at least" if wanted["name"].startswith("speed") else "at most"
    text = f"{TARGET_NAMES[wanted['name']]}: {wanted['value']:.2f} ({bound} {wanted['limit']})"
    return text, "met" if wanted["met"] else "not met"


def operator_row(row: dict[str, Any]) -> list[str]:
    """Return the times of an operator under OPERATOR_HEADINGS."""
    own, peers = row["pixelmill"], (row["dali"], row["opencv"])
    times = [(number(value) if value >= 10 else f"{value:.2f}") if value else "" for value in (own, *peers)]
    ratios = [f"{value / own:.2f}" if value else "" for value in peers]
    return [row["name"], row["kind"], *times, *ratios]
