"""A folder of image files: class folders, or flat; `images/` and `masks/` side by side where there are masks.

What names cannot say is in `annotations*.jsonl` files in the folder, one JSON object for each sample that needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from pixelmill.errors import ArgumentError
from pixelmill.formats import facts, storage
from pixelmill.formats.adapters import folder_index
from pixelmill.formats.dataset import Dataset, Output, ShardWriter
from pixelmill.formats.index import Index
from pixelmill.formats.names import UniqueNames, is_plain
from pixelmill.formats.sample import Sample, file_ending, image_type, join_name, split_name

CLASSES = "classes.txt"
IMAGES, MASKS = "images", "masks"
_OWN_NAMES = (IMAGES, MASKS)


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
        own = {name.casefold(): name for name in folders if name.casefold() in _OWN_NAMES}
        self._images = storage.join(source, own[IMAGES]) if len(own) == 2 else source
        self._masks_root = storage.join(source, own[MASKS]) if len(own) == 2 else None
        self._listing = folder_index.load(self._images)
        if not len(self._listing):
            endings = ", ".join(sorted(folder_index.ENDINGS))
            raise ArgumentError(f"folder: no file below {self._images} ends in one of {endings}")
        self._classes = _listed_classes(source, files, self._listing.classes)
        self._numbers = {name: number for number, name in enumerate(self._classes) if name}
        self._masks = _by_stem(self._masks_root)
        self._rows = read_rows(source, [name for name in files if _is_annotation(name)])
        self.index = Index(_Paths(self._images, self._listing))

    def sample(self, number: int) -> Sample:
        path, _ = self.locate(number)
        name = self._listing.name(number)
        try:
            image = storage.read_file(path)
            mask_name = self._masks.get(split_name(name)[0])
            mask = storage.read_file(storage.join(self._masks_root or "", mask_name)) if mask_name else None
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        return self._described(number, image, mask)

    def outline(self, number: int) -> Sample:
        return self._described(number, b"", None)

    def has_mask(self, number: int) -> bool:
        return split_name(self._listing.name(number))[0] in self._masks

    def size(self, number: int) -> int:
        return storage.stat(self.locate(number)[0]).size

    @property
    def classes(self) -> tuple[str, ...]:
        return self._classes

    @property
    def layout(self) -> str:
        text = "class folders" if self.classes else "flat"
        return text + (", images and masks" if self._masks_root else "")

    @property
    def files(self) -> tuple[str, ...]:
        masks = [storage.join(self._masks_root or "", name) for name in self._masks.values()]
        rows = {where.rpartition(":")[0] for where, _ in self._rows.values()}
        return (*self.index.paths, *masks, *sorted(rows))

    def _described(self, number: int, image: bytes, mask: bytes | None) -> Sample:
        name = self._listing.name(number)
        implied = implied_sample(name, self._numbers, image=image, mask=mask)
        where, row = self._rows.get(name, ("", None))
        return implied if row is None else facts.apply(row, implied=implied, where=where)


class FolderWriter(ShardWriter):
    """Writes image files.

    Args:
        open_file: Opens a file of the shard.
        names: `annotations`: the file for what names cannot say.
        classes: The class folders that the whole dataset will have, sorted by their bytes. Without them, labels are
            written as annotations.
        masks: True puts the images below `images/` and the masks below `masks/`.
    """

    def __init__(
        self,
        open_file: Callable[[str], Output],
        names: Mapping[str, str],
        *,
        classes: Sequence[str] | None = None,
        masks: bool = False,
    ) -> None:
        super().__init__(open_file, names)
        self._numbers = None if classes is None else {name: number for number, name in enumerate(classes) if name}
        self._masks = masks
        self._unique = UniqueNames()
        self._rows: list[bytes] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        ending = file_ending(sample)
        stem = name or self._unique.take(wished_name(sample), number=self.samples, ending="" if self._masks else ending)
        path = join_name(stem, ending)
        implied = implied_sample(path, self._numbers or {}, image=b"", mask=None)
        row = facts.difference(sample, implied=implied, mask=not self._masks)
        if self._numbers is None:
            row["labels"] = list(sample.labels)
        if row:
            self._rows.append(facts.encode_row({"path": path, **row}))
        with self._open_file(f"{IMAGES}/{path}" if self._masks else path) as stream:
            stream.write(sample.image)
        if self._masks and sample.mask is not None:
            with self._open_file(f"{MASKS}/{join_name(stem, image_type(sample.mask) or 'png')}") as stream:
                stream.write(sample.mask)
        self.samples += 1

    def close(self) -> None:
        if self._rows:
            with self._open_file(self._names["annotations"]) as stream:
                stream.write(b"".join(row + b"\n" for row in self._rows))


def implied_sample(name: str, numbers: Mapping[str, int], *, image: bytes, mask: bytes | None) -> Sample:
    """Describe a file of a folder by its name alone."""
    key, extension = split_name(name)
    folder, slash, _ = name.partition("/")
    labels = (numbers[folder],) if slash and folder in numbers else ()
    return Sample(key, image, extension, labels, class_name=folder if slash else None, mask=mask)


def wished_name(sample: Sample) -> str:
    """Give the name, without extension, that a sample would like to have below a folder."""
    folder = class_folder(sample)
    if folder is None or sample.key.startswith(f"{folder}/"):
        # A folder of images and one of masks side by side mean something else.
        return "" if sample.key.partition("/")[0].casefold() in _OWN_NAMES else sample.key
    return f"{folder}/{sample.key}"


def class_folder(sample: Sample) -> str | None:
    """Name the class folder of a sample: its class, or its first label; None for a sample without."""
    name = sample.class_name
    if name is not None and "/" not in name and is_plain(name) and name.casefold() not in _OWN_NAMES:
        return name
    return f"class-{sample.labels[0]}" if sample.labels else None


def read_rows(folder: str, names: Sequence[str], *, by: str = "path") -> dict[str, tuple[str, dict[str, Any]]]:
    """Read annotation files: for each path, where its row stands and what it says."""
    rows: dict[str, tuple[str, dict[str, Any]]] = {}
    for name in names:
        path = storage.join(folder, name)
        for number, line in enumerate(storage.read_file(path, limit=1 << 33).split(b"\n"), start=1):
            if line.strip():
                where = f"{path}:{number}"
                row = facts.decode_row(line, where=where)
                rows[str(row.get(by))] = (where, row)
    return rows


def _listed_classes(source: str, files: Sequence[str], folders: Sequence[str]) -> tuple[str, ...]:
    """Give the class folders by their labels: as `classes.txt` lists them if it has all, else in their order."""
    if CLASSES in files:
        text = storage.read_file(storage.join(source, CLASSES)).decode("utf-8", "surrogateescape")
        listed = tuple(text.split("\n")[:-1])
        if set(folders) <= set(listed):
            return listed
    return tuple(folders)


def _is_annotation(name: str) -> bool:
    return name.startswith("annotations") and name.endswith(".jsonl")


def _by_stem(root: str | None) -> dict[str, str]:
    if root is None:
        return {}
    found = {}
    for folder, files in storage.walk(root):
        for name in files:
            if split_name(name)[1].lower() in folder_index.ENDINGS:
                relative = f"{folder}/{name}" if folder else name
                found[split_name(relative)[0]] = relative
    return found


class _Paths(Sequence[str]):
    """The paths of a listing, put together when they are asked for."""

    def __init__(self, root: str, listing: folder_index.Listing) -> None:
        self._root = root
        self._listing = listing

    def __len__(self) -> int:
        return len(self._listing)

    @overload
    def __getitem__(self, item: int) -> str: ...
    @overload
    def __getitem__(self, item: slice) -> list[str]: ...
    def __getitem__(self, item: int | slice) -> str | list[str]:
        if isinstance(item, slice):
            return [self[number] for number in range(*item.indices(len(self)))]
        return storage.join(self._root, self._listing.name(item))
