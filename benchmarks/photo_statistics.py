"""Compares photo-like pictures with photographs: JPEG size, decoding time, spectrum, PNG size.

    python benchmarks/photo_statistics.py --photos FOLDER [--count 64] [--seed 0]

All pictures are brought to 400x470 pixels (photographs by the largest window of that shape, reduced where they are
larger) and encoded by Pillow at qualities from 75 to 95. Decoding of both kinds is measured in turns. Without a folder,
only the made pictures are measured. The exit code is 1 where a figure is more than a quarter away.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from pixelmill.create import photo

HEIGHT, WIDTH = 400, 470
QUALITIES = (75, 85, 95)
TOLERANCE = 0.25
ROUNDS = 7
Picture = np.ndarray[Any, Any]


def photographs(folder: Path, count: int) -> list[Picture]:
    """Load photographs; those with fewer pixels than asked for are left out."""
    pictures = []
    for path in sorted(folder.rglob("*.jpg"))[:count]:
        with Image.open(path) as image:
            if min(image.width / WIDTH, image.height / HEIGHT) >= 0.75:
                fitted = ImageOps.fit(image.convert("RGB"), (WIDTH, HEIGHT), Image.Resampling.LANCZOS)
                pictures.append(np.asarray(fitted))
    return pictures


def encoded(picture: Picture, kind: str, **options: Any) -> bytes:
    """Encode by Pillow."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, kind, **options)
    return buffer.getvalue()


def decode_nanoseconds(sets: list[list[bytes]]) -> list[float]:
    """Measure the time to decode files, for each pixel, of several sets in turns: the best of some rounds for each."""
    best = [np.full(len(files), np.inf) for files in sets]
    for _ in range(ROUNDS):
        for number in range(max(map(len, sets))):
            for files, times in zip(sets, best, strict=True):
                if number < len(files):
                    start = time.thread_time_ns()
                    with Image.open(io.BytesIO(files[number])) as image:
                        image.load()
                    times[number] = min(times[number], time.thread_time_ns() - start)
    return [float(times.mean()) / (HEIGHT * WIDTH) for times in best]


def slope(picture: Picture) -> float:
    """Fit a line to the logarithm of the radial power spectrum of the brightness."""
    side = min(picture.shape[:2])
    gray = picture[:side, :side].astype(float) @ [0.299, 0.587, 0.114]
    window = np.hanning(side)[:, None] * np.hanning(side)
    power = np.abs(np.fft.fft2((gray - gray.mean()) * window)) ** 2
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.fftfreq(side))
    bands = np.geomspace(0.015, 0.4, 10)
    means = [power[(frequency >= low) & (frequency < high)].mean() for low, high in pairwise(bands)]
    return float(np.polyfit(np.log(np.sqrt(bands[1:] * bands[:-1])), np.log(means), 1)[0])


def statistics(sets: list[list[Picture]]) -> dict[str, list[float]]:
    """Give the means over the pictures of each set."""

    def means(measure: Callable[[Picture], float]) -> list[float]:
        return [float(np.mean([measure(picture) for picture in pictures])) for pictures in sets]

    figures: dict[str, list[float]] = {}
    for quality in QUALITIES:
        files = [[encoded(picture, "JPEG", quality=quality) for picture in pictures] for pictures in sets]
        sizes = [float(np.mean([len(file) for file in of_set])) / (HEIGHT * WIDTH) for of_set in files]
        figures[f"JPEG bytes per pixel, quality {quality}"] = sizes
        figures[f"decoding, ns per pixel, quality {quality}"] = decode_nanoseconds(files)
    figures["slope of the power spectrum"] = means(slope)
    figures["PNG bytes per pixel"] = means(lambda picture: len(encoded(picture, "PNG")) / (HEIGHT * WIDTH))
    figures["correlation of red and green"] = means(
        lambda picture: float(np.corrcoef(picture[..., 0].ravel(), picture[..., 1].ravel())[0, 1])
    )
    return figures


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, help="folder of photographs")
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0, help="of the made pictures")
    options = parser.parse_args()
    sets = [[photo(options.seed, index, height=HEIGHT, width=WIDTH) for index in range(options.count)]]
    if options.photos:
        sets.append(photographs(options.photos, options.count))
    far = []
    print("| | photographs | photo | difference |\n|---|---|---|---|")
    for name, (made, *rest) in statistics(sets).items():
        if not rest:
            print(f"| {name} | | {made:.3f} | |")
            continue
        difference = made / rest[0] - 1
        print(f"| {name} | {rest[0]:.3f} | {made:.3f} | {difference:+.0%} |")
        if abs(difference) > TOLERANCE:
            far.append(name)
    for name in far:
        print(f"more than {TOLERANCE:.0%} away: {name}", file=sys.stderr)
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
