"""The files of a long training run: small images of several formats, one in a hundred damaged."""

from __future__ import annotations

import shutil
from pathlib import Path

from PIL import Image

from pixelmill.create import create_photo_folder

PER_DAMAGE = 100
DISTINCT = 500


def make(folder: Path, count: int) -> None:
    """Write JPEG images, one in 50 as PNG and one in 50 as WebP, which Pillow decodes; damage one in a hundred."""
    sources = create_photo_folder(folder / "distinct", DISTINCT, size_mean=(56, 64), classes=1)
    wanted = [Path(path) for path in paths(folder, count)]
    for number, path in enumerate(wanted):
        path.parent.mkdir(exist_ok=True)
        source = sources[number % DISTINCT]
        if path.suffix == ".jpg":
            shutil.copyfile(source, path)
        else:
            with Image.open(source) as image:
                image.save(path)
    for path_text, kind in damaged(paths(folder, count)).items():
        _damage(Path(path_text), kind)


def paths(folder: Path, count: int) -> list[str]:
    """Return the paths of all files, whether they exist or not."""
    endings = {1: "png", 2: "webp"}
    return [str(folder / f"{number % 10}" / f"{number}.{endings.get(number % 50, 'jpg')}") for number in range(count)]


def damaged(every: list[str]) -> dict[str, str]:
    """Return the damaged files with the kinds of error that they must cause."""
    kinds = ("truncated", "not_an_image", "too_large", "io")
    return {path: kinds[number % len(kinds)] for number, path in enumerate(every[::PER_DAMAGE])}


def _damage(path: Path, kind: str) -> None:
    content = path.read_bytes()
    if kind == "truncated":
        path.write_bytes(content[:200])  # inside of its tables: rows that a crop does not need are not decoded
    elif kind == "not_an_image":
        path.write_text("<!DOCTYPE html><title>404</title>")
    elif kind == "too_large":
        size = content.index(b"\xff\xc0") + 5  # the height in the frame header
        path.write_bytes(content[:size] + b"\xff\xff\xff\xff" + content[size + 4 :])
    else:
        path.unlink()
