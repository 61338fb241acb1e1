"""Measures how long it takes to open a folder of many files, the first time and again.

    python benchmarks/open_folder.py --files 1000000

Each file is empty, since opening a dataset reads names only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import sys, time
import pixelmill
from pixelmill.formats.registry import open_dataset
began = time.perf_counter()
dataset = open_dataset(sys.argv[1])
seconds = time.perf_counter() - began
print(len(dataset), seconds, dataset.index.paths[len(dataset) - 1])
"""


def make(folder: Path, files: int, classes: int) -> None:
    for number in range(classes):
        (folder / f"class_{number:04d}").mkdir(parents=True)
    for number in range(files):
        path = folder / f"class_{number % classes:04d}" / f"image_{number:08d}.jpg"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))


def opened(folder: Path, cache: Path) -> float:
    """Open the folder in its own process and return the seconds of the call."""
    environment = {**os.environ, "PIXELMILL_CACHE": str(cache)}
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(result.stdout.split()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--output", type=Path, help="write the figures there as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        folder, cache = Path(base) / "images", Path(base) / "cache"
        make(folder, arguments.files, arguments.classes)
        time.sleep(2.5)  # a folder that changed just now is not cached
        first = opened(folder, cache)
        again = sorted(opened(folder, cache) for _ in range(5))
        figures = {
            "files": arguments.files,
            "classes": arguments.classes,
            "first_seconds": round(first, 3),
            "again_seconds": round(again[2], 3),
            "cache_bytes": sum(path.stat().st_size for path in cache.iterdir()),
        }
    text = json.dumps(figures, indent=2)
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
