"""The parts of a dataset: folders or files named after a split such as `train`, `val` or `test`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import recognize
from pixelmill.formats.recognize import is_companion

# Spellings of the same split, which datasets use side by side.
_SPELLINGS = (
    ("train", "training"),
    ("val", "valid", "validation", "dev", "eval"),
    ("test", "testing"),
)


def split_source(source: str | os.PathLike[str] | Sequence[str], split: str) -> str | list[str]:
    """Return the folder or the files of a split.

    A split is a folder of that name, or the files of a folder whose names begin with it, such as
    `train-00000-of-00004.tfrecord`. Usual spellings of the same split stand for each other if only one of them exists.

    Raises:
        ArgumentError: There is no such split; the message lists what there is.
    """
    if not isinstance(source, (str, os.PathLike)):
        raise ArgumentError(f"split: {split!r} needs a folder to look in, got a list of files; name those of the split")
    folder = storage.plain(os.fspath(source))
    if not storage.is_folder(folder):
        raise ArgumentError(f"split: {folder} is not a folder; name the files of the split {split!r} instead")
    folders, files = storage.list_folder(folder)
    for name in spellings(split):
        for found in folders:
            if found.casefold() == name:
                return storage.join(folder, found)
        own = [file for file in files if _begins_with(file, name)]
        if own:  # indexes and notes accompany records; tables alone are lists of images
            records = [file for file in own if not is_companion(file)]
            return [storage.join(folder, file) for file in records or own]
    there = ", ".join([*folders, *files][:6]) or "nothing"
    raise ArgumentError(f"split: {folder} has no folder or files of the split {split!r}; it holds {there}")


def is_annotated(source: str | os.PathLike[str] | Sequence[str]) -> bool:
    """Whether the annotations of a dataset name its splits, as those of COCO, YOLO and VOC do."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    try:
        found, _ = recognize.find(recognize.paths_of(source)[1], None)
    except (ArgumentError, DataError):
        return False
    return found.in_folder is not None


def spellings(split: str) -> tuple[str, ...]:
    """Return the names that a split may have, the given one first."""
    wanted = split.casefold()
    others = next((names for names in _SPELLINGS if wanted in names), ())
    return (wanted, *(name for name in others if name != wanted))


def _begins_with(file: str, split: str) -> bool:
    rest = file.casefold().removeprefix(split)
    return rest != file.casefold() and not rest[:1].isalnum()


def refuse_splits(folder: str) -> None:
    """Raise ArgumentError for a folder that holds several splits: their names would be taken for classes."""
    if not storage.is_folder(folder):
        return
    folders, files = storage.list_folder(folder)
    known = {name for names in _SPELLINGS for name in names}
    if len(folders) > 1 and not files and all(name.casefold() in known for name in folders):
        names = " or ".join(f"split={name!r}" for name in folders)
        raise ArgumentError(f"{folder} holds the splits {', '.join(folders)}; pass {names}")
