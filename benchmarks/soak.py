"""Watches memory, threads and open files of a long run.

    python benchmarks/soak.py --seconds 3600
    python benchmarks/soak.py --job augment --images 100000 [--workers 2]

The first trains on images of which one in a hundred is damaged, and disturbs the run with forks, SIGSTOP, interrupted
calls and new pipelines with other numbers of threads (soak_training.py). With --job, a bulk job over many small images
is watched instead. The last line of output is JSON; the exit code is 1 if an epoch was wrong, or if the memory of a job
grew.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import soak_jobs
import soak_training

MOST_MB_PER_10000 = 2.0
ENOUGH = 10_000  # images of a job after which its memory is meaningful


def main() -> None:
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600, help="of the training run")
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
        soak_training.make_files(Path(folder) / "photos")
        print(json.dumps(soak_training.run(Path(folder) / "photos", options.seconds)))


if __name__ == "__main__":
    main()
