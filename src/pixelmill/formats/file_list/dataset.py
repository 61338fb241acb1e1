"""Image files that a list names.

Annotations of a text list are in a `.jsonl` file of the same name beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.annotations import Row, apply_row, read_rows
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.file_index import whole_files
from pixelmill.formats.file_list.entry import Content, Entry
from pixelmill.formats.file_list.lines import DEFAULT, read_list
from pixelmill.formats.file_list.table import is_table
from pixelmill.formats.file_list.table_entries import TableEntries
from pixelmill.formats.format import Choice
from pixelmill.formats.image_header import image_extent, to_fractions
from pixelmill.formats.index import Index
from pixelmill.formats.sample import Boxes, Sample, split_name
from pixelmill.formats.splits import is_split
from pixelmill.storage.file_names import are_plain, is_plain, resolve_below
from pixelmill.storage.ranges import Range


class ListDataset(Dataset):
    """The files that a list names, in its order.

    Args:
        source: The dataset as the user named it.
        lists: The lists to read; `source` if None.
        root: The folder that paths are relative to; the folder of each list if None.
        allow_outside: Whether paths may lead out of the root.
        choice: The columns of tables that the user named.
    """

    format: ClassVar[str] = "list"

    def __init__(
        self,
        source: str,
        *,
        lists: Sequence[str] | None = None,
        root: str | None = None,
        allow_outside: bool = False,
        choice: Choice = DEFAULT,
    ) -> None:
        self.source = source
        self._choice = choice
        self._classes: tuple[str, ...] = ()
        self._paired: dict[int, str] = {}
        self._lists = [source] if lists is None else list(lists)
        self._allow_outside = allow_outside
        self._base = storage.working_folder()
        self._entries: Sequence[Entry] = []
        self._roots: list[str] = []
        self._unusable: dict[int, str] = {}  # lines that name no sample, and why
        paths: list[str] = []
        for path in self._lists:
            base = root if root is not None else path.rpartition("/")[0] or "."
            entries = self._annotated(path)
            self._entries = [*self._entries, *entries] if self._entries else entries
            self._roots += [base] * len(entries)
            paths += self._paths(entries, root=base, list_path=path, first=len(paths))
        if not paths:
            raise DataError(f"file list: {source} lists no file")
        if len(self._unusable) == len(paths):
            raise DataError(f"file list: {next(iter(self._unusable.values()))}")
        self.index = Index(paths, base=self._base)

    def sample(self, number: int) -> Sample:
        self._check_line(number)
        entry, root = self._entries[number], self._roots[number]
        try:
            path = self._resolve(entry.path, root, entry.where)
            image = self._ranges.read_file(path)
            mask = self._ranges.read_file(self._resolve(entry.mask, root, entry.where)) if entry.mask else None
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}, named by {entry.where}") from None
        if not image:
            raise self.error(number, "not_an_image", "the file is empty")
        return self._described(number, image, mask)

    def _parts(self, number: int) -> Iterator[Range]:
        if number not in self._unusable:
            yield self._whole_file(self.index.paths[number])
            mask = self._entries[number].mask
            if mask:
                yield self._whole_file(storage.join(self._roots[number], mask))

    def outline(self, number: int) -> Sample:
        self._check_line(number)
        return self._described(number, b"", None)

    def split_of(self, number: int) -> str | None:
        entry = self._entries[number]
        own = entry.row.get("split")
        return own if isinstance(own, str) else _folder_split(entry.where) if len(self._lists) > 1 else None

    def has_mask(self, number: int) -> bool:
        return self._entries[number].mask is not None

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        """Return whole files; a path that leads out of the root is lost, also if a link leads it there."""
        entries = self._entries
        if what == "mask" and isinstance(entries, TableEntries) and not entries.may_have_masks:
            known: dict[int, tuple[str, str]] = {number: ("corrupt", text) for number, text in self._unusable.items()}
            return replace(whole_files([None] * len(entries), base=self.index.base), lost=known)
        if what == "mask" and any("mask" in entry.row for entry in entries):
            return None  # masks that are annotations
        paths: list[str | None] = []
        lost: dict[int, tuple[str, str]] = {}
        for number, (entry, root) in enumerate(zip(self._entries, self._roots, strict=True)):
            name = entry.path if what == "image" else entry.mask
            if number in self._unusable:
                paths.append(None)
                lost[number] = ("corrupt", self._unusable[number])
                continue
            try:
                paths.append(self._resolve(name, root, entry.where) if name else None)
            except DataError as error:
                paths.append(None)
                lost[number] = ("io", str(error))
        base = self.index.base
        found = Index([path or "" for path in paths], base=base) if what == "image" else whole_files(paths, base=base)
        return replace(found, lost={**found.lost, **lost})

    def raw(self, number: int) -> bytes | None:
        """Return the file of a sample; None for a line that names none."""
        return None if number in self._unusable else super().raw(number)

    def size(self, number: int) -> int:
        self._check_line(number)
        try:
            return self._file_size(self.index.paths[number])
        except OSError as error:
            where = self._entries[number].where
            raise self.error(number, "io", f"{error.strerror or error}, named by {where}") from None

    @property
    def layout(self) -> str:
        return f"{self._lists[0].rpartition('.')[2].upper()} table" if is_table(self._lists[0]) else "paths and labels"

    @property
    def classes(self) -> tuple[str, ...]:
        return self._classes or super().classes or self._named_labels()

    def _named_labels(self) -> tuple[str, ...]:
        """Return the names of labels by label, unless there are large gaps."""
        labels = self._paired.keys()
        if not labels or min(labels) < 0 or max(labels) > 4 * len(labels) + 16:
            return ()
        return tuple(self._paired.get(label, "") for label in range(max(labels) + 1))

    @property
    def files(self) -> tuple[str, ...]:
        masks = [storage.join(self._roots[at], entry.mask) for at, entry in enumerate(self._entries) if entry.mask]
        return (*self._lists, *self.index.paths, *masks)

    def _described(self, number: int, image: bytes, mask: bytes | None) -> Sample:
        entry = self._entries[number]
        key, extension = split_name(entry.path)
        implied = Sample(key, image, extension, entry.labels, mask=mask)
        found = apply_row(entry.row, implied=implied, where=entry.where) if entry.row else implied
        if entry.in_pixels and found.boxes is not None:
            found = replace(found, boxes=self._in_fractions(number, found.boxes, image))
        return found if found.split or len(self._lists) < 2 else replace(found, split=_folder_split(entry.where))

    def _in_fractions(self, number: int, boxes: Boxes, image: bytes) -> Boxes:
        """Divide boxes in pixels by the size of the image, which is in its file."""
        try:
            size = image_extent(image or storage.read_file(self.index.paths[number], base=self.index.base))
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        if size is None:
            raise self.error(number, "not_an_image", "its boxes are pixels, and the size of the image cannot be read")
        return replace(boxes, ltrb=to_fractions(boxes.ltrb, np.array([size[1], size[0]] * 2)))

    def _numbered(self, content: Content) -> Sequence[Entry]:
        """Return the entries of a list with the labels that its classes have in all lists together."""
        self._paired = {**content.paired, **self._paired}
        if not content.classes or content.classes == self._classes:
            return content.entries
        known = {name: number for number, name in enumerate(self._classes)}
        self._classes += tuple(name for name in content.classes if name not in known)
        if not known:
            return content.entries
        numbers = {name: number for number, name in enumerate(self._classes)}
        moved = {old: numbers[name] for old, name in enumerate(content.classes)}
        return [_relabeled(entry, moved) for entry in content.entries]

    def _annotated(self, path: str) -> Sequence[Entry]:
        content = read_list(path, choice=self._choice)
        entries = self._numbered(content)
        self.remarks += content.remarks
        beside = f"{split_name(path)[0]}.jsonl"
        if is_table(path) or not storage.has_file(beside):
            return entries
        found, faults = read_rows(beside)
        self.faults += tuple(faults)
        rows = {str(row.get("path")): (where, row) for where, row in found}
        return [_with_row(entry, *rows[entry.path]) if entry.path in rows else entry for entry in entries]

    def _paths(self, entries: Sequence[Entry], *, root: str, list_path: str, first: int) -> list[str]:
        """Return the paths of the images of a list, whose first sample has the number `first`."""
        if isinstance(entries, TableEntries):
            names, folder, faults = entries.names(), storage.join(root, "x")[:-1], entries.faults()
            if are_plain([name for number, name in enumerate(names) if number not in faults] if faults else names):
                self._unusable |= {first + number: fault for number, fault in faults.items()}
                return [list_path if number in faults else folder + name for number, name in enumerate(names)]
        return [
            self._path(entry, root=root, list_path=list_path, number=number)
            for number, entry in enumerate(entries, start=first)
        ]

    def _path(self, entry: Entry, *, root: str, list_path: str, number: int) -> str:
        """Return the path of an image; that of the list for a line that cannot be used."""
        fault = entry.fault
        if fault is None:
            try:
                return self._resolve(entry.path, root, entry.where, quick=True)
            except DataError as error:
                fault = str(error).removeprefix("file list: ")
        self._unusable[number] = fault
        return list_path

    def _check_line(self, number: int) -> None:
        if number in self._unusable:
            raise self.error(number, "corrupt", self._unusable[number])

    def _resolve(self, name: str, root: str, where: str, *, quick: bool = False) -> str:
        """Return the path of a file. The quick way does not follow links, which `sample` does before it reads."""
        if quick and is_plain(name):
            return storage.join(root, name)
        where = f"file list: {where}"
        return resolve_below(name, root=root, allow_outside=self._allow_outside, where=where, base=self._base)


def _with_row(entry: Entry, where: str, row: Row) -> Entry:
    mask = row.pop("mask_file", None)
    if mask is not None and not isinstance(mask, str):
        fault = f"{where}: mask_file is not a name: {mask!r:.60}"
        return replace(entry, fault=entry.fault or fault)
    return replace(entry, where=where, mask=mask, row=row)


def _relabeled(entry: Entry, moved: Mapping[int, int]) -> Entry:
    labels = tuple(moved.get(label, label) if isinstance(label, int) else label for label in entry.labels)
    row = dict(entry.row)
    if "box_labels" in row:
        row["box_labels"] = [moved.get(label, label) for label in row["box_labels"]]
    return replace(entry, labels=labels, row=row)


def _folder_split(where: str) -> str | None:
    """Return the split of a list that is named after it or lies in its folder: `train.csv`, `train/metadata.csv`."""
    folder, _, name = where.rpartition(":")[0].rpartition("/")
    stem, parent = split_name(name)[0], folder.rpartition("/")[2]
    return stem if is_split(stem) else parent if is_split(parent) else None
