"""A folder of photo-like JPEG files with one sub-folder per class, as training programs read them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from pixelmill.create.image_options import PictureOptions
from pixelmill.create.rendering import create_image, in_order
from pixelmill.errors import ArgumentError


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

    The defaults create files like those of a large photo collection for classification: about 400x470 pixels, 110 kB,
    mostly with full chroma resolution. A file depends on ``seed``, its number and the options, not on
    ``count`` or ``workers``.

    Args:
        path: Folder to write to. It is created if missing and must be empty.
        count: Number of files.
        seed: Seed of the set of images.
        size_mean: Mean height and width.
        spread: How much sizes vary: the standard deviation of their logarithm; 0 means all have the same size.
        classes: Number of class folders; image ``i`` belongs to class ``i % classes``.
        quality_range: Lowest and highest JPEG quality.
        full_colour: Fraction of files with full chroma resolution (4:4:4); the others have 4:2:0.
        workers: Number of threads; by default the number of processors.
        on_image: Called with the path of each written file, for progress bars.

    Returns:
        The paths of the files, in the order of their numbers.
    """
    if count < 0:
        raise ArgumentError(f"create_photo_folder: count must not be negative, got {count}")
    maker = PictureOptions(
        *size_mean,
        content="photo",
        seed=seed,
        spread=spread,
        quality=quality_range,
        full_colour=full_colour,
        classes=classes,
    ).maker()
    root = Path(path)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise ArgumentError(f"create_photo_folder: {root} exists and is not an empty folder")
    for number in range(min(classes, count)):
        (root / class_name(number, classes)).mkdir(parents=True)

    def write(index: int) -> Path:
        image = create_image(maker, index)
        file = root / class_name(image.label, classes) / f"photo_{index:06d}.jpg"
        file.write_bytes(image.image)
        return file

    files = []
    with in_order(write, range(count), threads=workers or os.cpu_count() or 1) as written:
        for file in written:
            files.append(file)
            if on_image is not None:
                on_image(file)
    return files


def class_name(label: int, classes: int) -> str:
    """Return the folder name of a class; sorted by name, the folders are in the order of their labels."""
    return f"class_{label:0{max(3, len(str(classes - 1)))}d}"
