"""Loads one dataset for a long time, with damaged files among the good, and watches memory, threads and open files.

    python benchmarks/soak.py --minutes 60
    python benchmarks/soak.py --job augment --images 100000 [--workers 2]

Every epoch must have its exact length and report exactly the damaged files. Every tenth starts with a new pipeline from
a saved state. With --job, a bulk job over many small images is watched instead. The last line of output is JSON;
the exit code is 1 if an epoch was wrong, or if the memory of a job grew.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import soak_jobs

from pixelmill import Loader, fn, pipeline_def
from pixelmill.create import create_photo_folder

COUNT, BAD = 500, 5
MOST_MB_PER_10000 = 2.0
ENOUGH = 10_000  # images of a job after which its memory is meaningful


@pipeline_def(batch_size=32, num_threads=2, seed=11, on_error="skip")
def train(folder: str) -> Any:
    """Define the pipeline of the long run."""
    encoded, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=160)
    mirror = fn.random.coin_flip()
    return fn.crop_mirror_normalize(images, mirror=mirror, mean=[124, 116, 104], std=[58, 57, 57]), labels


def resident_mb() -> float:
    """Return the resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def damage(folder: Path) -> None:
    """Truncate some files."""
    for path in sorted(folder.rglob("*.jpg"))[:: COUNT // BAD][:BAD]:
        path.write_bytes(path.read_bytes()[:2000])


def counters() -> dict[str, float]:
    """Count what must not grow."""
    gc.collect()
    return {
        "mb": resident_mb(),
        "threads": len(list(Path("/proc/self/task").iterdir())),
        "files": len(list(Path("/proc/self/fd").iterdir())),
    }


def run(folder: str, seconds: float) -> dict[str, Any]:
    """Run epochs until the time is over."""
    loader = Loader(train(folder), ["images", "labels"])
    history: list[dict[str, Any]] = []
    began, images = time.time(), 0
    while time.time() - began < seconds:
        known = len(loader.errors)
        length = sum(len(batch["labels"]) for batch in loader)
        if (length, len(loader.errors) - known) != (COUNT, BAD):
            sys.exit(f"epoch {len(history)}: {length} samples, {len(loader.errors) - known} errors")
        images += length
        history.append(counters())
        if len(history) % 10 == 0:
            state = loader.state_dict()
            loader.pipeline.close()
            loader = Loader(train(folder), ["images", "labels"])
            loader.load_state_dict(state)
    spent = time.time() - began
    late = history[len(history) // 4 :]
    hours = np.linspace(0, spent * len(late) / len(history) / 3600, len(late))
    slope = float(np.polyfit(hours, [entry["mb"] for entry in late], 1)[0]) if len(late) > 2 else float("nan")
    return {
        "seconds": round(spent),
        "epochs": len(history),
        "images": images,
        "skipped": BAD * len(history),
        "mb_first": round(history[0]["mb"], 1),
        "mb_last": round(history[-1]["mb"], 1),
        "mb_per_hour": round(slope, 2),
        "threads": [history[0]["threads"], history[-1]["threads"]],
        "files": [history[0]["files"], history[-1]["files"]],
    }


def main() -> None:
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--job", choices=soak_jobs.JOBS, help="watch a bulk job")
    parser.add_argument("--images", type=int, default=100_000, help="of the bulk job")
    parser.add_argument("--workers", type=int, default=2, help="of the bulk job")
    parser.add_argument("--folder", type=Path, help="where to write; the folder for temporary files if omitted")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        if options.job:
            figures = soak_jobs.run_job(options.job, Path(folder), images=options.images, workers=options.workers)
            print(json.dumps({"job": options.job, "workers": options.workers, **figures}))
            sys.exit(int(options.images >= ENOUGH and figures["mb_per_10000_images"] > MOST_MB_PER_10000))
        create_photo_folder(Path(folder) / "photos", COUNT)
        damage(Path(folder) / "photos")
        print(json.dumps(run(str(Path(folder) / "photos"), options.minutes * 60)))


if __name__ == "__main__":
    main()
