"""Bulk jobs over many small images, whose memory must not grow with their number. `soak.py --job` calls this."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill import augment
from pixelmill.create import create_images
from pixelmill.ingest import ingest
from pixelmill.jobs import Progress

JOBS = ("augment", "ingest", "create")
DISTINCT = 500
CLASSES = 10
SIDE = 96
SECONDS = 0.5  # seconds between two samples of the memory


def run_job(job: str, folder: Path, *, images: int, workers: int) -> dict[str, Any]:
    """Run a job and watch the memory of its processes."""
    if job == "augment":
        source = folder / "in"
        create_images(source, "i_", SIDE, SIDE, images, "jpg", content="gradient", container="tfrecord")
        return _watched(lambda show: augment(source, folder / "out", workers=workers, on_progress=show), images)
    if job == "ingest":
        source = _linked(folder, images)
        return _watched(
            lambda show: ingest(source, folder / "out", num_workers=workers, img_size=64, on_progress=show), images
        )
    return _watched(
        lambda show: create_images(
            folder / "out", "i_", SIDE, SIDE, images, "jpg", container="tfrecord", workers=workers, on_progress=show
        ),
        images,
    )


def _linked(folder: Path, images: int) -> Path:
    """Create class folders with this many hard links to a few hundred files."""
    made, source = folder / "made", folder / "in"
    create_images(made, "i_", SIDE, SIDE, DISTINCT, "jpg", content="gradient")
    for number in range(CLASSES):
        (source / f"class{number}").mkdir(parents=True)
    for number in range(images):
        os.link(made / f"i_{number % DISTINCT}.jpg", source / f"class{number % CLASSES}" / f"{number:06d}.jpg")
    return source


def _watched(work: Any, images: int) -> dict[str, Any]:
    seen: list[tuple[int, float]] = []
    began = last = time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last > SECONDS:
            last = time.monotonic()
            seen.append((progress.samples, resident_mb()))

    report = work(show)
    seconds = time.monotonic() - began
    seen = seen or [(report.samples, resident_mb())]
    late = np.array([entry for entry in seen if entry[0] > images / 4] or seen, float)
    slope = float(np.polyfit(late[:, 0], late[:, 1], 1)[0]) if len(late) > 2 else float("nan")
    quarters = [next((mb for done, mb in seen if done >= images * part / 4), seen[-1][1]) for part in (1, 2, 3)]
    return {
        "images": report.samples,
        "seconds": round(seconds, 1),
        "images_per_second": round(report.samples / seconds),
        "mb_at_quarters": [round(mb, 1) for mb in (*quarters, seen[-1][1])],
        "mb_most": round(max(mb for _, mb in seen), 1),
        "mb_per_10000_images": round(slope * 1e4, 3),
    }


def resident_mb() -> float:
    """Return the memory of this process and of its workers; shared memory counts once per process."""
    own = os.getpid()
    children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
    pages = 0
    for process in (own, *children):
        try:
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
        except FileNotFoundError:  # the process has just ended
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
