"""Watches memory, threads and open files of a long run.

    python benchmarks/soak.py --seconds 3600 --samples 5000000
    python benchmarks/soak.py --job augment --images 100000 [--workers 2]

The first trains on small images of which one in a hundred is damaged, and disturbs the run with forks, SIGSTOP, signals
and new pipelines with other numbers of threads (soak_training.py). With --job, a bulk job over many small images is
watched instead. The last line of output is JSON; the exit code is 1 if an epoch was wrong, or if memory, threads or
open files grew by more than soak_growth.py allows. --leak does something wrong on purpose, to see that it is found.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import soak_files
import soak_jobs
from soak_growth import growth
from soak_leaks import LEAKS
from soak_training import Training

MOST_MB_PER_10000 = 2.0
ENOUGH = 10_000  # images of a job after which its memory is meaningful


def main() -> None:
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600, help="shortest time of the training run")
    parser.add_argument("--samples", type=int, default=0, help="fewest samples of the training run")
    parser.add_argument("--files", type=int, default=10_000, help="images of an epoch of the training run")
    parser.add_argument("--leak", choices=LEAKS, help="leak this in every epoch, which must make the run fail")
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
        sys.exit(_train(Path(folder), options))


def _train(folder: Path, options: Any) -> str | None:
    """Run the training; return what grew."""
    soak_files.make(folder, options.files)
    training = Training(folder, options.files, leak=LEAKS.get(options.leak))
    training.run(seconds=options.seconds, samples=options.samples)
    used, faults = growth(training.history.table())
    done = {"seconds": round(training.seconds), "epochs": len(training.history), **training.done}
    print(json.dumps({**done, **used, "load": round(os.getloadavg()[0], 1)}))
    return "\n".join(faults) or None


if __name__ == "__main__":
    main()
