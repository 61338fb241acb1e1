"""The bare codecs next to bulk jobs: the cost of decoding and encoding the same JPEG files in libjpeg-turbo alone."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Cost:
    """Milliseconds per image: wall-clock time with all threads, and processor time."""

    clock: float
    processor: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.clock + other.clock, self.processor + other.processor)


def bare_codecs(decode: Sequence[str], encode: Sequence[str] = (), *, threads: int, quality: int = 90) -> Cost:
    """Decode one set of files in memory, and encode the images of the other."""
    with tempfile.TemporaryDirectory() as folder:
        lists = []
        for number, files in enumerate((decode, encode)):
            if files:
                lists.append(Path(folder) / f"{number}.txt")
                lists[-1].write_text("".join(f"{file}\n" for file in files), "utf-8")
        command = [str(_program()), str(threads), str(quality), *map(str, lists)]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    total = Cost(0.0, 0.0)
    for line in lines:
        total += Cost(*map(float, line.split()))
    return total


def _program() -> Path:
    source, program = ROOT / "benchmarks" / "codec_limit.cpp", ROOT / "build" / "codec_limit"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(exist_ok=True)
        subprocess.run(["g++", "-std=c++20", "-O2", str(source), "-o", str(program), "-ljpeg", "-pthread"], check=True)
    return program
