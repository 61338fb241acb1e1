"""Images with Pascal VOC annotations as a dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.annotated_files import AnnotatedFile, AnnotatedFiles, ImageFiles, Rows, counted
from pixelmill.formats.dataset import CLASSES
from pixelmill.formats.example import Example, bytes_feature
from pixelmill.formats.folder.dataset import is_annotation
from pixelmill.formats.sample import Sample, split_name
from pixelmill.formats.splits import is_split
from pixelmill.formats.voc.entries import object_names, read_annotation, to_sample
from pixelmill.formats.voc.xml_file import MOST_BYTES

ANNOTATIONS, IMAGES, SETS = "Annotations", "JPEGImages", "ImageSets"
MASKS, INSTANCES = "SegmentationClass", "SegmentationObject"
_INSTANCES = f"voc/{INSTANCES}"  # the feature of the other mask
_START = 512
_SHARD = re.compile(r"-\d+-of-\d+$")


def find_in_folder(folder: str, folders: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the folder if it holds VOC annotations: in `Annotations/`, or beside the images."""
    if IMAGES in folders and not {ANNOTATIONS, SETS}.isdisjoint(folders):
        return [folder]
    inner = [folder, *(storage.join(folder, name) for name in folders if is_split(name))]
    listed = [names, *(storage.list_folder(path)[1] for path in inner[1:])]
    for path, files in zip(inner, listed, strict=True):
        first = next((name for name in files if name.lower().endswith(".xml")), None)
        if first is not None and b"<annotation" in storage.read_start(storage.join(path, first), _START):
            return [folder]
    return []


class VocDataset(AnnotatedFiles):
    """The images of a folder, with an XML file for each.

    Labels are the places of class names in `classes.txt`, or in the order of the alphabet. Coordinates are divided by
    the width and height as they are written.

    Args:
        source: The dataset as the user named it.
        folder: The folder.
    """

    format = "voc"

    def __init__(self, source: str, *, folder: str) -> None:
        self.source = source
        images = ImageFiles(folder)
        self._rows = Rows([images.path(name) for name in images.others if is_annotation(name)])
        self.faults = self._rows.faults
        others = set(images.others)
        aside = (f"{MASKS}/", f"{INSTANCES}/")
        names = [name for name in images.names if not name.startswith(aside)]
        self._names = [name.removeprefix(f"{IMAGES}/") for name in names]
        found = [next((path for path in _candidates(name) if path in others), None) for name in names]
        self._paths = [path and images.path(path) for path in found]
        if not any(self._paths) and not any(name.startswith(f"{SETS}/") for name in others):
            raise DataError(f"voc: no image below {folder} has an annotation of the same name")
        self._base = storage.working_folder()
        self._classes = self._listed_classes(images) or self._found_classes()
        self._labels = {name: label for label, name in enumerate(self._classes)}
        masks, self._instances = _by_stem(images, MASKS), _by_stem(images, INSTANCES)
        self._root = images
        splits, remarks = _splits(images)
        self._open([_file(images, name, own, masks, splits) for name, own in zip(names, self._names, strict=True)])
        self._annotation_files = [*(path for path in self._paths if path), *self._rows.paths]
        self.remarks = remarks + _unused(images, {path for path in found if path})

    def _listed_classes(self, images: ImageFiles) -> tuple[str, ...]:
        if CLASSES not in images.others:
            return ()
        text = storage.read_file(images.path(CLASSES), limit=MOST_BYTES).decode("utf-8", "surrogateescape")
        return tuple(text.split("\n")[:-1])

    def _found_classes(self) -> tuple[str, ...]:
        found: set[str] = set()
        for path in self._paths:
            try:
                found.update(object_names(_annotation(path, self._base)) if path else ())
            except (DataError, OSError):
                continue  # reported when the sample is read
        return tuple(sorted(found))

    def sample(self, number: int) -> Sample:
        found = super().sample(number)
        other = self._instances.get(split_name(self._names[number])[0])
        if other is None or _INSTANCES in found.extra:
            return found
        try:
            data = storage.read_file(self._root.path(other), base=self.index.base)
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}: {other}") from None
        return replace(found, extra=Example({**found.extra, _INSTANCES: bytes_feature(data)}))

    def _described(self, number: int) -> Sample:
        name, path = self._names[number], self._paths[number]
        key, extension = split_name(name)
        implied = Sample(key, b"", extension)
        if path is not None:
            try:
                annotation = _annotation(path, self._base)
            except OSError as error:
                raise self.error(number, "io", f"{error.strerror or error}: {path}") from None
            known = {**dict.fromkeys(object_names(annotation), 0), **self._labels}
            implied = to_sample(annotation, name, known, where=path)
        return self._rows.apply(name, replace(implied, split=self._images[number].split))

    @property
    def classes(self) -> tuple[str, ...]:
        return self._classes

    @property
    def layout(self) -> str:
        return "XML annotations" + (", masks" if any(image.mask for image in self._images) else "")


@lru_cache(64)
def _annotation(path: str, base: str) -> dict[str, object]:
    return read_annotation(storage.read_file(path, limit=MOST_BYTES, base=base), where=path)


def _candidates(name: str) -> Iterator[str]:
    """Yield the names that the annotation of an image may have."""
    stem = split_name(name)[0]
    for path in (name, stem):  # of two images that differ in their endings alone, the writer names both
        yield f"{path}.xml"
        yield re.sub(rf"(^|/)({IMAGES}|images)/", rf"\1{ANNOTATIONS}/", f"{path}.xml", count=1)
        yield re.sub(r"(^|/)images/", r"\1annotations/", f"{path}.xml", count=1)


def _by_stem(images: ImageFiles, folder: str) -> dict[str, str]:
    names = [name for name in images.names if name.startswith(f"{folder}/")]
    return {split_name(name.removeprefix(f"{folder}/"))[0]: name for name in names}


def _file(images: ImageFiles, name: str, own: str, masks: dict[str, str], splits: dict[str, str]) -> AnnotatedFile:
    stem = split_name(own)[0]
    folder = name.partition("/")[0]
    split = splits.get(stem) or (folder if "/" in name and is_split(folder) else None)
    mask = masks.get(stem)
    return AnnotatedFile(images.path(name), mask and images.path(mask), split)


def _splits(images: ImageFiles) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the split of each image by the lists of `ImageSets/`, and lines about lists that are not read."""
    lists = [name for name in images.others if name.startswith(f"{SETS}/") and name.lower().endswith(".txt")]
    folders = {name.split("/")[1] for name in lists if name.count("/") == 2}
    chosen = "Main" if "Main" in folders else next((name for name in sorted(folders) if name == "Segmentation"), None)
    parts = {name: _SHARD.sub("", split_name(name.rpartition("/")[2])[0]) for name in lists}
    read = [name for name in lists if chosen and name.startswith(f"{SETS}/{chosen}/") and is_split(parts[name])]
    found: dict[str, str] = {}
    # Those of `trainval` are in `train` or `val` as well, or the dataset is not divided.
    for name in read:
        if parts[name] != "trainval":
            text = storage.read_file(images.path(name), limit=1 << 30).decode("utf-8", "surrogateescape")
            found |= {line.strip(): parts[name] for line in text.splitlines() if line.strip()}
    rest = [name for name in lists if name not in read]
    note = f"{counted(len(rest), 'list')} not read, such as {rest[0]}" if rest else ""
    return found, (note,) if note else ()


def _unused(images: ImageFiles, read: set[str]) -> tuple[str, ...]:
    rest = [name for name in images.others if name.lower().endswith(".xml") and name not in read]
    return (f"{counted(len(rest), 'annotation')} of no image, such as {rest[0]}",) if rest else ()
