"""`create_tfrecords` and `create_recordio`: a folder of image files wrapped into record files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pixelmill import _core, storage
from pixelmill.create.rendering import in_order
from pixelmill.errors import ArgumentError, DataError, OutputExists
from pixelmill.formats import recordio
from pixelmill.formats.sample import IMAGE_EXTENSIONS
from pixelmill.jobs.disk import explained
from pixelmill.options.create import WrapArguments
from pixelmill.options.declaration import takes
from pixelmill.storage.local import is_file_entry, is_folder_entry
from pixelmill.storage.system import native_file, replace

_LAST_NUMBER = re.compile(r"(\d+)[^\d/]*\.[^./]*$")
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class WrapReport:
    """What was written, or would be.

    Attributes:
        files: The record files, in order.
        images: Number of images in them.
        bytes: Bytes of the images.
    """

    files: tuple[str, ...]
    images: int
    bytes: int


class _Image(NamedTuple):
    path: str
    label: int
    identifier: int


@takes(WrapArguments)
def create_tfrecords(options: WrapArguments) -> WrapReport:
    """Wrap the images of a folder into TFRecord files `{name}0`, `{name}1`, …

    Each record is a `tf.train.Example` with `image/encoded` and `image/class/label`. Images are sorted by the
    numbers in their names. In a folder of class folders the label is the number of the class folder, else 0.

    Returns:
        What was written.
    """

    def write(target: Path, images: Sequence[_Image]) -> int:
        return _copy("tfrecord", target, images)[1]

    return _wrap(options, ("",), write)


@takes(WrapArguments)
def create_recordio(options: WrapArguments) -> WrapReport:
    """Wrap the images of a folder into RecordIO files `{name}0.rec` with their index `{name}0.idx`, and so on.

    The key of an image in the index is the last number in its file name, or its position if these are not unique.
    Everything else is as in `create_tfrecords`.

    Returns:
        What was written.
    """

    def write(target: Path, images: Sequence[_Image]) -> int:
        offsets, size = _copy("recordio", target, images)
        index = recordio.index_text((image.identifier, at) for image, at in zip(images, offsets, strict=True))
        with _whole(target.with_name(f"{target.name.removesuffix('.rec')}.idx")) as stream:
            stream.write(index)
        return size

    return _wrap(options, (".rec", ".idx"), write)


def _wrap(
    options: WrapArguments, endings: tuple[str, ...], write: Callable[[Path, Sequence[_Image]], int]
) -> WrapReport:
    storage.refuse_remote(os.fspath(options.source_path), "create")
    storage.refuse_remote(os.fspath(options.dest_path), "create", output=True)
    images = _images_of(Path(options.source_path))
    root = Path(options.dest_path)
    parts = [images[at : at + options.img_per_file] for at in range(0, len(images), options.img_per_file)]
    targets = [root / f"{options.name}{number}{endings[0]}" for number in range(len(parts))]
    for number in range(len(parts)):
        for ending in endings:
            found = root / f"{options.name}{number}{ending}"
            if options.exists == "error" and found.exists():
                raise OutputExists(f"create: {found} exists; exists=overwrite replaces it")
    if options.dry_run:
        sizes = sum(os.stat(image.path).st_size for image in images)  # noqa: PTH116 - a Path for each file is slow
        return WrapReport(tuple(map(str, targets)), len(images), sizes)
    with explained(str(root)):
        root.mkdir(parents=True, exist_ok=True)
    total = 0
    threads = options.workers or os.cpu_count() or 1
    with in_order(lambda number: write(targets[number], parts[number]), range(len(parts)), threads=threads) as done:
        for part, size in zip(parts, done, strict=True):
            total += size
            if options.on_progress is not None:
                options.on_progress(len(part), size)
    return WrapReport(tuple(str(target) for target in targets), len(images), total)


def _images_of(root: Path) -> list[_Image]:
    """Return the images directly in a folder, or those of its class folders if there are none."""
    if not root.is_dir():
        raise ArgumentError(f"create: {root} is not a folder; use the one that contains the images")
    found = [(path, 0) for path in _image_files(root)]
    if not found:
        folders = sorted((e.name for e in os.scandir(root) if is_folder_entry(e) and e.name[0] != "."), key=os.fsencode)
        found = [(path, label) for label, folder in enumerate(folders) for path in _image_files(root / folder)]
    if not found:
        raise ArgumentError(f"create: there are no image files in {root} and its folders")
    identifiers = [_last_number(path) for path, _ in found]
    if -1 in identifiers or len(set(identifiers)) < len(found):
        identifiers = list(range(len(found)))
    return [_Image(path, label, number) for (path, label), number in zip(found, identifiers, strict=True)]


def _last_number(path: str) -> int:
    """Return the last number in the name of a file without its extension, or -1."""
    found = _LAST_NUMBER.search(path, path.rfind("/") + 1)
    return int(found[1]) if found and len(found[1]) < 19 else -1


def first_image(source_path: str | os.PathLike[str]) -> str:
    """Return the path of the first image of a folder, relative to it."""
    return os.path.relpath(_images_of(Path(source_path))[0].path, source_path)


def _image_files(folder: Path) -> list[str]:
    names = [
        entry.name
        for entry in os.scandir(folder)
        if entry.name[0] != "." and entry.name.rpartition(".")[2].lower() in IMAGE_EXTENSIONS and is_file_entry(entry)
    ]
    prefix = os.path.join(folder, "")  # noqa: PTH118 - a Path for each file is slow
    return [prefix + name for name in sorted(names, key=_by_number)]


def _by_number(name: str) -> list[tuple[int, int, str]]:
    """Sort 2 before 10."""
    pieces = _DIGITS.split(name)
    return [(1, int(piece), piece) if piece.isdecimal() else (0, 0, piece) for piece in pieces]


def _copy(kind: str, target: Path, images: Sequence[_Image]) -> tuple[list[int], int]:
    """Write a record for each image; return the offset of each, and the bytes of all images."""
    with _whole(target) as stream:
        files = [(os.fsencode(image.path), image.label, image.identifier) for image in images]
        offsets, size, failed, error = _core.wrap_files(kind, native_file(stream.fileno()), files)
        if failed >= 0:
            raise DataError(f"create: {os.strerror(error)}: {images[failed].path}")
        if error:
            raise OSError(error, os.strerror(error))
    return offsets, size


@contextmanager
def _whole(target: Path) -> Iterator[BinaryIO]:
    """Open a file that is renamed when it is complete; a kill leaves a hidden file, which the next run replaces."""
    unfinished = target.with_name(f".{target.name}.partial")
    try:
        with explained(str(target)):
            with unfinished.open("wb") as stream:
                yield stream
            replace(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
