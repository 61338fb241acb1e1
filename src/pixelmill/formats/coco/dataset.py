"""COCO annotations and the images they name as a dataset."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import takewhile

from pixelmill.errors import DataError
from pixelmill.formats.annotated_files import AnnotatedFile, AnnotatedFiles, ImageFiles, unnamed_note
from pixelmill.formats.coco.entries import OWN, Entry, to_sample
from pixelmill.formats.coco.files import ANNOTATIONS, read_files
from pixelmill.formats.sample import Sample

MASK = "mask_file"  # in our entry: the mask of an image


class CocoDataset(AnnotatedFiles):
    """The images of one or several annotation files, in their order.

    Labels are the places of categories in the order of their ids. Boxes are fractions of the size that the file gives.

    Args:
        source: The dataset as the user named it.
        files: The annotation files.
        root: The folder of the images; that of the annotation files if None.
    """

    format = "coco"

    def __init__(self, source: str, *, files: Sequence[str], root: str | None = None) -> None:
        self.source = source
        self._annotation_files = list(files)
        self._found = read_files(files)
        if not self._found.images:
            raise DataError(f"coco: {source} lists no image" + "".join(f"; {line}" for line in self._found.remarks))
        self._categories = self._found.sorted_categories()
        images = ImageFiles(root if root is not None else _root_of(files))
        named: set[str] = set()
        found = []
        for entry, path, split in zip(self._found.images, self._found.files, self._found.splits, strict=True):
            found.append(_image(images, entry, path, split, named))
        self._open(found)
        self.remarks = (*self._found.remarks, *unnamed_note(images, named, by="the annotations"))

    def _described(self, number: int) -> Sample:
        return to_sample(self._found.images[number], self._found.objects[number], self._categories)

    @property
    def classes(self) -> tuple[str, ...]:
        return self._categories.classes

    @property
    def layout(self) -> str:
        kinds = {name for objects in self._found.objects[:256] for entry in objects for name in entry if entry[name]}
        parts = [text for name, text in _KINDS.items() if name in kinds]
        return ", ".join(parts) or "images without objects"


_KINDS = {"bbox": "boxes", "segmentation": "outlines", "keypoints": "keypoints", "caption": "captions"}


def _image(images: ImageFiles, entry: Entry, path: str, split: str | None, named: set[str]) -> AnnotatedFile:
    folder = os.path.relpath(path.rpartition("/")[0] or ".", images.root).replace(os.sep, "/")
    parts = [part for part in path.rpartition("/")[2].rpartition(".")[0].split("_") if part]
    folders = [*_folders(parts[-1] if parts else "", split), "images", "" if folder == "." else folder]
    name = images.find(entry["file_name"], folders)
    if name is None:
        fault = f"{entry['file_name']!r:.120}, named by {path}, is not below {images.root}"
        return AnnotatedFile(path, split=split, fault=f"{fault}; --root names another folder")
    named.add(name)
    own = entry.get(OWN)
    mask = images.find(own[MASK]) if isinstance(own, dict) and isinstance(own.get(MASK), str) else None
    if mask is not None:
        named.add(mask)
    return AnnotatedFile(images.path(name), mask and images.path(mask), split)


def _folders(stem: str, split: str | None) -> list[str]:
    """Return where the images of an annotation file may be, most likely first: `images/val2017`, `val`."""
    names = dict.fromkeys(name for name in (stem, split) if name)
    return [folder for name in names for folder in (f"images/{name}", name)]


def _root_of(files: Sequence[str]) -> str:
    """Return the folder of a dataset: the one that all annotation files are in, above `annotations/`."""
    folders = []
    for path in files:
        folder = path.rpartition("/")[0] or "."
        above, _, last = folder.rpartition("/")
        folders.append((above or ".") if last.lower() == ANNOTATIONS else folder)
    if len(set(folders)) == 1:
        return folders[0]
    parts = [folder.split("/") for folder in folders]
    same = takewhile(lambda names: len(set(names)) == 1, zip(*parts, strict=False))
    return "/".join(names[0] for names in same) or "."
