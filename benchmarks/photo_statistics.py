"""Compares photo-like images with photographs: JPEG size, decoding time, spectrum, PNG size.

    python benchmarks/photo_statistics.py --photos FOLDER [--count 64] [--seed 0]

All images have 400x470 pixels (photographs are cropped to that aspect ratio and reduced) and are encoded by Pillow at
qualities from 75 to 95. Decoding of both kinds is measured in turns. Without a folder, only the synthetic images are
measured. The exit code is 1 if a figure differs by more than a quarter.
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
Pixels = np.ndarray[Any, Any]


def photographs(folder: Path, count: int) -> list[Pixels]:
    """Load photographs, except those with too few pixels."""
    images = []
    for path in sorted(folder.rglob("*.jpg"))[:count]:
        with Image.open(path) as image:
            if min(image.width / WIDTH, image.height / HEIGHT) >= 0.75:
                fitted = ImageOps.fit(image.convert("RGB"), (WIDTH, HEIGHT), Image.Resampling.LANCZOS)
                images.append(np.asarray(fitted))
    return images


def encoded(image: Pixels, kind: str, **options: Any) -> bytes:
    """Encode with Pillow."""
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind, **options)
    return buffer.getvalue()


def decode_nanoseconds(sets: list[list[bytes]]) -> list[float]:
    """Return the decoding time per pixel of several sets of files, measured in turns: the best round of each."""
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


def slope(image: Pixels) -> float:
    """Fit a line to the logarithm of the radial power spectrum of the brightness."""
    side = min(image.shape[:2])
    gray = image[:side, :side].astype(float) @ [0.299, 0.587, 0.114]
    window = np.hanning(side)[:, None] * np.hanning(side)
    power = np.abs(np.fft.fft2((gray - gray.mean()) * window)) ** 2
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.fftfreq(side))
    bands = np.geomspace(0.015, 0.4, 10)
    means = [power[(frequency >= low) & (frequency < high)].mean() for low, high in pairwise(bands)]
    return float(np.polyfit(np.log(np.sqrt(bands[1:] * bands[:-1])), np.log(means), 1)[0])


def statistics(sets: list[list[Pixels]]) -> dict[str, list[float]]:
    """Return the means over the images of each set."""

    def means(measure: Callable[[Pixels], float]) -> list[float]:
        return [float(np.mean([measure(image) for image in images])) for images in sets]

    figures: dict[str, list[float]] = {}
    for quality in QUALITIES:
        files = [[encoded(image, "JPEG", quality=quality) for image in images] for images in sets]
        sizes = [float(np.mean([len(file) for file in of_set])) / (HEIGHT * WIDTH) for of_set in files]
        figures[f"JPEG bytes per pixel, quality {quality}"] = sizes
        figures[f"decoding, ns per pixel, quality {quality}"] = decode_nanoseconds(files)
    figures["slope of the power spectrum"] = means(slope)
    figures["PNG bytes per pixel"] = means(lambda image: len(encoded(image, "PNG")) / (HEIGHT * WIDTH))
    figures["correlation of red and green"] = means(
        lambda image: float(np.corrcoef(image[..., 0].ravel(), image[..., 1].ravel())[0, 1])
    )
    return figures


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, help="folder of photographs")
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0, help="of the synthetic images")
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
