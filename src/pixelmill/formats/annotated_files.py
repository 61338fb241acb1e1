"""Image files whose annotations lie elsewhere: the common part of COCO, YOLO and VOC datasets."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.annotations import Row, apply_row, read_rows
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.file_index import whole_files
from pixelmill.formats.index import Index
from pixelmill.formats.sample import IMAGE_EXTENSIONS, Sample, split_name
from pixelmill.formats.splits import is_split
from pixelmill.storage.file_names import is_writable
from pixelmill.storage.ranges import Range

_LATER_SHARD = re.compile(r"-0*[1-9]\d*-of-\d+")


class ImageFiles:
    """The images below a folder, found by the names that annotations have for them.

    Names come from data. They are compared with what the folder holds and never opened, so none leads out of it.

    Args:
        root: The folder.

    Attributes:
        names: The images, relative to the folder.
        others: All other files.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.names: list[str] = []
        self.others: list[str] = []
        for folder, files in storage.walk(root):
            prefix = f"{folder}/" if folder else ""
            for name in files:
                is_image = split_name(name)[1].lower() in IMAGE_EXTENSIONS
                (self.names if is_image else self.others).append(prefix + name)
        self._known = set(self.names)
        self._by_end: dict[str, list[str]] = {}
        for name in self.names:
            self._by_end.setdefault(name.rpartition("/")[2], []).append(name)

    def find(self, name: str, folders: Iterable[str] = ()) -> str | None:
        """Return the image that a name stands for, relative to the root; None if there is none.

        Args:
            name: A file name, with or without folders.
            folders: Where to look first, relative to the root.
        """
        name = name.replace("\\", "/").removeprefix("./")
        for folder in folders:
            path = f"{folder}/{name}" if folder else name
            if path in self._known:
                return path
        if name in self._known:
            return name
        # The paths of other machines: the longest common end decides, if it is one file.
        ends = self._by_end.get(name.rpartition("/")[2], [])
        matching = [found for found in ends if found.endswith(f"/{name}")] or ends
        return matching[0] if len(matching) == 1 else None

    def path(self, name: str) -> str:
        """Return the path of an image."""
        return storage.join(self.root, name)


@dataclass(frozen=True)
class AnnotatedFile:
    """An image and what is known of it before its annotations are parsed.

    Attributes:
        path: The file; that of the annotations if there is no such image.
        mask: The file of its mask.
        split: The subset it belongs to.
        fault: Why it cannot be read.
    """

    path: str
    mask: str | None = None
    split: str | None = None
    fault: str | None = None


class AnnotatedFiles(Dataset):
    """Images with annotations from elsewhere. Derived classes set `_images`, `index` and `_annotation_files`."""

    _images: Sequence[AnnotatedFile]
    _annotation_files: Sequence[str] = ()

    def _open(self, images: Sequence[AnnotatedFile]) -> None:
        self._images = images
        self.index = Index([image.path for image in images])
        if images and all(image.fault for image in images):
            raise DataError(f"{self.format}: {images[0].fault}")

    @abstractmethod
    def _described(self, number: int) -> Sample:
        """Return a sample without its image and mask; raises DataError if its annotations cannot be used."""

    def sample(self, number: int) -> Sample:
        described = self.outline(number)
        image = self._images[number]
        try:
            data = self._ranges.read_file(image.path)
            mask = self._ranges.read_file(image.mask) if image.mask else described.mask
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        if not data:
            raise self.error(number, "not_an_image", "the file is empty")
        return replace(described, image=data, mask=mask)

    def _parts(self, number: int) -> Iterator[Range]:
        image = self._images[number]
        if image.fault is None:
            yield self._whole_file(image.path)
            if image.mask:
                yield self._whole_file(image.mask)

    def outline(self, number: int) -> Sample:
        image = self._images[number]
        if image.fault is not None:
            raise self.error(number, "io", image.fault)
        try:
            found = self._described(number)
        except DataError as error:
            if error.events:
                raise
            raise self.error(number, "corrupt", str(error)) from None
        return found if found.split == image.split or found.split else replace(found, split=image.split)

    def has_mask(self, number: int) -> bool:
        return self._images[number].mask is not None

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        lost = {number: ("io", image.fault) for number, image in enumerate(self._images) if image.fault}
        if what == "image":
            return replace(self.index, lost=lost)
        return whole_files([image.mask for image in self._images], base=self.index.base)

    def size(self, number: int) -> int:
        image = self._images[number]
        if image.fault is not None:
            raise self.error(number, "io", image.fault)
        return self._file_size(image.path)

    def raw(self, number: int) -> bytes | None:
        return None if self._images[number].fault else super().raw(number)

    def split_of(self, number: int) -> str | None:
        return self._images[number].split

    @property
    def files(self) -> tuple[str, ...]:
        images = [image.path for image in self._images if image.fault is None]
        return (*self._annotation_files, *images, *(image.mask for image in self._images if image.mask))


class Rows:
    """What our writers could not say in the annotations of a format: rows of `annotations*.jsonl`, by image.

    Args:
        paths: The files.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self._rows: dict[str, tuple[str, Row]] = {}
        faults: list[RecordFault] = []
        for path in paths:
            found, damaged = read_rows(path)
            self._rows |= {str(row.get("path")): (where, row) for where, row in found}
            faults += damaged
        self.faults = tuple(faults)

    def apply(self, name: str, implied: Sample) -> Sample:
        """Return a sample as its row describes it, if it has one."""
        where, row = self._rows.get(name, ("", None))
        return implied if row is None else apply_row(row, implied=implied, where=where)


def counted(number: int, what: str, *, verb: tuple[str, str] = ("is", "are")) -> str:
    """Return a count with its noun and verb, such as `1 image is` or `5 images are`."""
    return f"{number:,} {what}{'' if number == 1 else 's'} {verb[number != 1]}"


def unnamed_note(images: ImageFiles, named: set[str], *, by: str) -> tuple[str, ...]:
    """Return a line about images that no annotation names, if there are any."""
    rest = [name for name in images.names if name not in named]
    return (f"{counted(len(rest), 'image')} not named by {by} and left out, such as {rest[0]}",) if rest else ()


def unread_names(groups: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a line for each kind of file that is not read: what it is, how many there are, and one of them."""
    return tuple(
        f"{counted(len(names), 'file')} not read ({what}), such as {names[0]}"
        for what, names in groups.items()
        if names
    )


def is_file_name(name: str) -> bool:
    """Whether the image of a sample can have this name: listings skip hidden files."""
    return is_writable(name) and not name.startswith(".") and "/." not in name


def split_folder(sample: Sample) -> str:
    """Return the folder of the split of a sample; empty if it has none, or one that readers would not take for one."""
    return sample.split if sample.split is not None and is_split(sample.split) and sample.split.isalpha() else ""


def placed_name(sample: Sample) -> str:
    """Return the preferred name of the file of a sample, without extension: below the folder of its split.

    The name is empty if the first folder of its key would be taken for a split.
    """
    folder = split_folder(sample)
    first, slash, _ = sample.key.partition("/")
    return f"{folder}/{sample.key}" if folder else "" if slash and is_split(first) else sample.key


def is_first_shard(name: str) -> bool:
    """Whether a file of a shard has the name of the first one, which writes what the whole dataset shares."""
    return _LATER_SHARD.search(name) is None
