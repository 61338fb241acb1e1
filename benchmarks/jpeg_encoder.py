"""Measures the JPEG encoder of pixelmill next to libjpeg-turbo: thread time per image at quality 90, best of many.

    python benchmarks/jpeg_encoder.py --output benchmarks/results/jpeg_encoder.json

Both take turns and encode the same photo-like pixels in memory to the same bytes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe
from numpy.typing import NDArray

from pixelmill import _core
from pixelmill.create import photo

QUALITY = 90
Pixels = NDArray[np.uint8]
Encoder = Callable[[Pixels, int, str], bytes]


def at_level(level: str) -> Encoder:
    """Encode with pixelmill at a SIMD level."""

    def encode(image: Pixels, quality: int, subsampling: str) -> bytes:
        _core.force_simd_level(level)
        return _core.encode_jpeg(image, quality, subsampling)

    return encode


def measure(image: Pixels, subsampling: str, rounds: int) -> dict[str, float]:
    """Return the microseconds of each encoder; raise if they write different bytes."""
    best = _core.simd_level()
    encoders = {"libjpeg-turbo": _core.encode_jpeg_by_libjpeg, **{level: at_level(level) for level in (best, "base")}}
    least = dict.fromkeys(encoders, float("inf"))
    files = set()
    for _ in range(rounds):
        for name, encode in encoders.items():
            began = time.thread_time_ns()
            files.add(encode(image, QUALITY, subsampling))
            least[name] = min(least[name], (time.thread_time_ns() - began) / 1000)
    _core.force_simd_level(best)
    if len(files) != 1:
        raise RuntimeError(f"the encoders write different bytes at {subsampling}")
    return {name: round(microseconds, 1) for name, microseconds in least.items()}


def cases(sizes: list[tuple[int, int]], rounds: int) -> list[dict[str, Any]]:
    """Measure RGB and RGBA pixels, with 4:4:4 and with 4:2:0 chroma."""
    found = []
    for (height, width), pixel, subsampling in product(sizes, (3, 4), ("4:2:0", "4:4:4")):
        memory = np.zeros((height, width, pixel), np.uint8)
        memory[..., :3] = photo(7, 0, height=height, width=width)
        figures = measure(memory[..., :3], subsampling, rounds)
        ratio = figures[_core.simd_level()] / figures["libjpeg-turbo"]
        found.append(
            {
                "height": height,
                "width": width,
                "bytes_per_pixel": pixel,
                "subsampling": subsampling,
                "microseconds": figures,
                "of_libjpeg_turbo": round(ratio, 3),
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--sizes", nargs="+", default=["375x500", "1500x2000"], help="height x width")
    parser.add_argument("--output", type=Path, help="write the figures there as JSON")
    options = parser.parse_args()
    sizes = [(int(height), int(width)) for height, width in (size.split("x") for size in options.sizes)]
    text = json.dumps({**describe(), "quality": QUALITY, "cases": cases(sizes, options.rounds)}, indent=2)
    print(text)
    if options.output is not None:
        options.output.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
