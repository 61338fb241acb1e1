"""The upper limit: bare libjpeg-turbo in threads, on files in memory; the pixels are discarded."""

from __future__ import annotations

import subprocess
from pathlib import Path

from workloads import FileKind

from pixelmill.benchmark.workload import SHORTER, SIZE, Kind, PeerTask

HERE = Path(__file__).resolve().parents[1]
FULL, WINDOW, SCALED = "full decode", "windowed decode", "windowed and scaled decode"


def variants(kind: Kind, file_kind: FileKind) -> tuple[str, ...]:
    """List what can be skipped: pixels outside of the window, resolution above twice the target."""
    if kind == "segmentation":
        return ()
    windowed = () if kind == "resize" else (WINDOW,)
    scaled = (SCALED,) if file_kind == "camera" else ()
    return (FULL, *windowed, *scaled)


def program(build: Path) -> Path:
    """Compile the program if it is missing or older than its source."""
    source, target = HERE / "limit.cpp", build / "limit"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        build.mkdir(parents=True, exist_ok=True)
        subprocess.run(["g++", "-std=c++20", "-O2", str(source), "-o", str(target), "-ljpeg", "-pthread"], check=True)
    return target


def command(job: PeerTask, build: Path) -> list[str]:
    """Return the command line of the process."""
    window = "all" if job.variant == FULL or job.kind == "resize" else "centre" if job.kind == "val" else "random"
    scaled = "scaled" if job.variant == SCALED else "full"
    numbers = [str(number) for number in (job.threads, job.seed, SIZE, SHORTER)]
    return [str(program(build)), window, scaled, *numbers, *job.source.files]
