"""A folder of image files as a dataset. Annotations are in `annotations*.jsonl` files in the folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pixelmill import storage
from pixelmill.errors import ArgumentError
from pixelmill.formats.annotations import Row, apply_row, read_rows
from pixelmill.formats.dataset import CLASSES, BytesColumn, Dataset
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.file_index import whole_files
from pixelmill.formats.folder import listing
from pixelmill.formats.folder.arrangement import arrange, unread_images
from pixelmill.formats.folder.names import IMAGES, MASKS, RESERVED, implied_sample
from pixelmill.formats.index import Index
from pixelmill.formats.path_table import PathTable
from pixelmill.formats.sample import ALWAYS_READ, Sample, split_name
from pixelmill.storage.ranges import Range


class FolderDataset(Dataset):
    """The images of a folder, sorted by the bytes of their names.

    A file below a folder belongs to the class of that name; the label is the number of the folder.

    Args:
        source: The folder.
    """

    format = "folder"

    def __init__(self, source: str) -> None:
        self.source = source
        if not storage.is_folder(source):
            raise ArgumentError(f"folder: {source} is not a folder")
        folders, files = storage.list_folder(source)
        own = {name.casefold(): name for name in folders if name.casefold() in RESERVED}
        self._images = storage.join(source, own[IMAGES]) if len(own) == 2 else source
        self._masks_root = storage.join(source, own[MASKS]) if len(own) == 2 else None
        self._listing = listing.load(self._images)
        if not len(self._listing):
            nothing = f"no file below {self._images} ends in one of {', '.join(sorted(ALWAYS_READ))}"
            raise ArgumentError(f"folder: {unread_images(self._listing, self._images) or nothing}")
        self._arrangement = arrange(self._listing, _listed_classes(source, files))
        self._listing = self._arrangement.listing
        self._classes = self._arrangement.classes
        self._numbers = {name: number for number, name in enumerate(self._classes) if name}
        if self._arrangement.masks is not None:
            self._masks_root, self._masks = self._images, self._arrangement.masks
        else:
            self._masks = _by_stem(self._masks_root)
        self.remarks = self._arrangement.remarks(self._images)
        self._rows, self.faults = _read_rows([storage.join(source, name) for name in files if is_annotation(name)])
        names = self._listing.names
        self.index = Index(PathTable(names.names, names.starts, storage.join(self._images, "x")[:-1]))

    def sample(self, number: int) -> Sample:
        path, _ = self.locate(number)
        name = self._listing.name(number)
        try:
            image = self._ranges.read_file(path)
            mask_path = self._mask_path(name)
            mask = self._ranges.read_file(mask_path) if mask_path else None
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        if not image:
            raise self.error(number, "not_an_image", "the file is empty")
        return self._described(number, image, mask)

    def _parts(self, number: int) -> Iterator[Range]:
        yield self._whole_file(self.locate(number)[0])
        mask_path = self._mask_path(self._listing.name(number)) if self._masks else None
        if mask_path:
            yield self._whole_file(mask_path)

    def _mask_path(self, name: str) -> str | None:
        mask = self._masks.get(split_name(name)[0])
        return storage.join(self._masks_root or "", mask) if mask else None

    def outline(self, number: int) -> Sample:
        return self._described(number, b"", None)

    def has_mask(self, number: int) -> bool:
        return split_name(self._listing.name(number))[0] in self._masks

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        if what == "image":
            return self.index
        if any("mask" in row for _, row in self._rows.values()):
            return None  # masks that are annotations
        names = [self._masks.get(split_name(self._listing.name(number))[0]) for number in range(len(self))]
        paths = [name and storage.join(self._masks_root or "", name) for name in names]
        return whole_files(paths, base=self.index.base)

    def size(self, number: int) -> int:
        return self._file_size(self.locate(number)[0])

    @property
    def classes(self) -> tuple[str, ...]:
        return self._classes

    @property
    def layout(self) -> str:
        text = "class folders" if self.classes else "flat"
        text += f" in the splits {', '.join(self._arrangement.splits)}" if self._arrangement.splits else ""
        return text + (", images and masks" if self._masks_root else "")

    @property
    def files(self) -> tuple[str, ...]:
        masks = [storage.join(self._masks_root or "", name) for name in self._masks.values()]
        rows = {where.rpartition(":")[0] for where, _ in self._rows.values()}
        return (*self.index.paths, *masks, *sorted(rows))

    def _described(self, number: int, image: bytes, mask: bytes | None) -> Sample:
        name = self._listing.name(number)
        bare, divided = self._arrangement.bare(name), bool(self._arrangement.splits)
        implied = implied_sample(bare, self._numbers, image=image, mask=mask, divided=divided)
        where, row = self._rows.get(name, ("", None))
        return implied if row is None else apply_row(row, implied=implied, where=where)


def _listed_classes(source: str, files: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of `classes.txt`."""
    if CLASSES not in files:
        return ()
    text = storage.read_file(storage.join(source, CLASSES)).decode("utf-8", "surrogateescape")
    return tuple(text.split("\n")[:-1])


def is_annotation(name: str) -> bool:
    """Whether a file of a folder holds annotations, judged by its name."""
    return name.startswith("annotations") and name.endswith(".jsonl")


def _by_stem(root: str | None) -> dict[str, str]:
    if root is None:
        return {}
    found = {}
    for folder, files in storage.walk(root):
        for name in files:
            if split_name(name)[1].lower() in listing.ENDINGS:
                relative = f"{folder}/{name}" if folder else name
                found[split_name(relative)[0]] = relative
    return found


def _read_rows(paths: Sequence[str]) -> tuple[dict[str, tuple[str, Row]], tuple[RecordFault, ...]]:
    """Read annotation files: the row of each path, with its place for messages, and lines that are damaged."""
    rows: dict[str, tuple[str, Row]] = {}
    faults: list[RecordFault] = []
    for path in paths:
        found, damaged = read_rows(path)
        rows |= {str(row.get("path")): (where, row) for where, row in found}
        faults += damaged
    return rows, tuple(faults)
