"""A folder of photo-like JPEG files, one sub-folder a class, as training programs read them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from pixelmill.create.photo import photo
from pixelmill.errors import ArgumentError

# The pixels of a picture and the choice of its size come from one key; this counter keeps the two streams apart.
_CHOICES_COUNTER = 1 << 128


@dataclass(frozen=True)
class _File:
    path: Path
    index: int
    height: int
    width: int
    quality: int
    subsampling: str


def create_photo_folder(
    path: str | os.PathLike[str],
    count: int,
    *,
    seed: int = 0,
    size_mean: tuple[int, int] = (400, 470),
    spread: float = 0.2,
    classes: int = 10,
    quality_range: tuple[int, int] = (93, 97),
    full_colour: float = 0.8,
    workers: int | None = None,
    on_image: Callable[[Path], object] | None = None,
) -> list[Path]:
    """Write photo-like JPEG files into class folders.

    The defaults give files like those of a large photo collection made for classification: about 400x470 pixels,
    110 kB, mostly with colours in full resolution. A file depends on ``seed``, its number and the options (and on the
    JPEG encoder that Pillow brings), not on ``count`` or ``workers``.

    Args:
        path: Folder to write to. It is made when missing and must be empty.
        count: Number of files.
        seed: Names the set of pictures.
        size_mean: Mean height and width.
        spread: How much sizes vary: the standard deviation of their logarithm; 0 gives all the same size.
        classes: Number of class folders; picture ``i`` belongs to class ``i % classes``.
        quality_range: Lowest and highest JPEG quality.
        full_colour: Share of files with colours in full resolution (4:4:4); the others have half of it (4:2:0).
        workers: Threads to work with; as many as there are processors when left out.
        on_image: Called with the path of each file once it is written, for progress bars.

    Returns:
        The paths of the files, in the order of their numbers.
    """
    _check(count=count, size_mean=size_mean, spread=spread, classes=classes, quality_range=quality_range)
    root = Path(path)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise ArgumentError(f"create_photo_folder: {root} exists and is not an empty folder")
    for number in range(min(classes, count)):
        (root / _class_name(number)).mkdir(parents=True)

    def plan(index: int) -> _File:
        rng = np.random.Generator(np.random.Philox(key=np.array([seed, index], np.uint64), counter=_CHOICES_COUNTER))
        height, width = (max(round(mean * math.exp(rng.normal(-spread * spread / 2, spread))), 1) for mean in size_mean)
        return _File(
            path=root / _class_name(index % classes) / f"photo_{index:06d}.jpg",
            index=index,
            height=height,
            width=width,
            quality=int(rng.integers(quality_range[0], quality_range[1] + 1)),
            subsampling="4:4:4" if rng.random() < full_colour else "4:2:0",
        )

    files = [plan(index) for index in range(count)]
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        jobs = [pool.submit(_write, file, seed) for file in files]
        try:
            for job in as_completed(jobs):
                written = job.result()
                if on_image is not None:
                    on_image(written)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [file.path for file in files]


def _check(
    *, count: int, size_mean: tuple[int, int], spread: float, classes: int, quality_range: tuple[int, int]
) -> None:
    low, high = quality_range
    rules = (
        (count >= 0, f"count must not be negative, got {count}"),
        (min(size_mean) >= 1, f"size_mean must be a height and a width of at least 1, got {size_mean}"),
        (0 <= spread <= 1, f"spread must be from 0 to 1, got {spread}"),
        (classes >= 1, f"classes must be at least 1, got {classes}"),
        (1 <= low <= high <= 100, f"quality_range must be two rising numbers from 1 to 100, got {quality_range}"),
    )
    for holds, message in rules:
        if not holds:
            raise ArgumentError(f"create_photo_folder: {message}")


def _class_name(number: int) -> str:
    return f"class_{number:03d}"


def _write(file: _File, seed: int) -> Path:
    pixels = photo(seed, file.index, height=file.height, width=file.width)
    Image.fromarray(pixels).save(file.path, "JPEG", quality=file.quality, subsampling=file.subsampling)
    return file.path
