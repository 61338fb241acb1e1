"""Image files that a list names: text lines of a path and its labels, or a CSV table with a header.

Text: `path label label …` with tabs or blanks between them. CSV: the columns are found by their names, see `COLUMNS`.
What a text list cannot say is in a `.jsonl` file of the same name beside it.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import facts, storage
from pixelmill.formats.dataset import Dataset, Output, ShardWriter
from pixelmill.formats.index import Index
from pixelmill.formats.names import UniqueNames, is_plain, resolve_below
from pixelmill.formats.sample import (
    Label,
    Sample,
    file_ending,
    format_label,
    image_type,
    join_name,
    parse_label,
    split_name,
)

COLUMNS = {
    "path": ("path", "image", "file", "filename", "file_name", "image_path", "img", "name"),
    "labels": ("labels", "label", "target", "class_id", "class_index", "y"),
    "class": ("class", "class_name", "category"),
    "mask": ("mask", "mask_path", "segmentation"),
    "key": ("key",),
    "extension": ("extension",),
    "boxes": ("boxes",),
    "box_labels": ("box_labels",),
    "extra": ("extra",),
}
MASKS = "masks"
_MAX_LINE = 1 << 20
_MAX_TABLE_FIELD = 1 << 28
_MAX_LIST_BYTES = 1 << 33


@dataclass(frozen=True)
class Entry:
    """A line of a list.

    Attributes:
        path: The name of the image as the list has it.
        labels: Its labels.
        where: The list and the line, for messages.
        mask: The name of the mask.
        row: Everything else, as `annotations` has it.
    """

    path: str
    labels: tuple[Label, ...]
    where: str
    mask: str | None = None
    row: Mapping[str, Any] = field(default_factory=dict)


def read_list(path: str) -> list[Entry]:
    """Read a list; it is a CSV table if its name ends in `.csv`, and lines of text otherwise."""
    try:
        data = storage.read_file(path, limit=_MAX_LIST_BYTES)
    except OSError as error:
        raise ArgumentError(f"file list: {error.strerror or error}: {path}") from None
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return list(_table(text, path) if path.lower().endswith(".csv") else _lines(text, path))


def _lines(text: str, path: str) -> Iterator[Entry]:
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip(" \t\r")
        if not line:
            continue
        where = f"{path}:{number}"
        if len(line) > _MAX_LINE or "\0" in line:
            raise DataError(f"file list: {where} is not a line of text with a path and labels")
        name, labels = _split_tabs(line) if "\t" in line else _split_blanks(line)
        if labels is None or not name:
            raise DataError(f"file list: {where} is not a path and its labels, which are numbers: {line!r:.120}")
        yield Entry(name, labels, where)


def _split_tabs(line: str) -> tuple[str, tuple[Label, ...] | None]:
    name, *rest = line.split("\t")
    try:
        return name.strip(), tuple(parse_label(part) for text in rest for part in text.split())
    except ValueError:
        return name, None


def _split_blanks(line: str) -> tuple[str, tuple[Label, ...]]:
    """Take numbers from the end of the line; what is left is a path, which may hold blanks."""
    labels: list[Label] = []
    while " " in line:
        rest, _, last = line.rpartition(" ")
        try:
            labels.insert(0, parse_label(last))
        except ValueError:
            break
        line = rest.rstrip()
    return line, tuple(labels)


def _table(text: str, path: str) -> Iterator[Entry]:
    csv.field_size_limit(_MAX_TABLE_FIELD)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        places = {what: [header.index(name) for name in names if name in header] for what, names in COLUMNS.items()}
        # label_0, label_1, … hold one label each.
        places["labels"] += [at for at, name in enumerate(header) if name.startswith(("label_", "target_"))]
        if not places["path"]:
            raise DataError(
                f"file list: {path}:1 names no column of paths; one of {', '.join(COLUMNS['path'])} is needed"
            )
        for row in rows:
            where = f"{path}:{rows.line_num}"
            if len(row) != len(header) and any(row):
                raise DataError(f"file list: {where} has {len(row)} fields, the header has {len(header)}")
            if any(row):
                yield _entry(row, places, where)
    except csv.Error as error:
        raise DataError(f"file list: {path}:{rows.line_num} is not CSV: {error}") from None


def _entry(row: list[str], places: Mapping[str, list[int]], where: str) -> Entry:
    cells = {what: row[at[0]] for what, at in places.items() if at and row[at[0]]}
    if not cells.get("path") or "\0" in cells["path"]:
        raise DataError(f"file list: {where} has no usable path")
    try:
        labels = tuple(parse_label(part) for at in places["labels"] for part in row[at].split())
        box_labels = [parse_label(part) for part in cells.get("box_labels", "").split()]
    except ValueError as error:
        raise DataError(f"file list: {where} has a label that is not a number: {error}") from None
    found: dict[str, Any] = {name: cells[name] for name in ("key", "class") if name in cells}
    if places["extension"]:
        found["extension"] = cells.get("extension", "")
    if "boxes" in cells or "extra" in cells:
        for name in ("boxes", "extra"):
            if name in cells:
                found[name] = facts.decode_row(f'{{"":{cells[name]}}}', where=where)[""]
        if "boxes" in cells and "box_labels" in cells:
            found["box_labels"] = box_labels
    return Entry(cells["path"], labels, where, cells.get("mask"), found)


class ListDataset(Dataset):
    """The files that a list names, in its order.

    Args:
        source: The list, or a folder with one list or with the numbered parts of one.
        lists: The lists to read; found in `source` without.
        root: The folder that paths are relative to; that of the list without.
        allow_outside: True permits paths that lead out of the root.
    """

    format: ClassVar[str] = "list"

    def __init__(
        self,
        source: str,
        *,
        lists: Sequence[str] | None = None,
        root: str | None = None,
        allow_outside: bool = False,
    ) -> None:
        self.source = source
        self._lists = [source] if lists is None else list(lists)
        self._allow_outside = allow_outside
        self._entries: list[Entry] = []
        self._roots: list[str] = []
        paths: list[str] = []
        for path in self._lists:
            base = root if root is not None else path.rpartition("/")[0] or "."
            entries = self._annotated(path)
            self._entries += entries
            self._roots += [base] * len(entries)
            paths += [self._resolve(entry.path, base, entry.where, quick=True) for entry in entries]
        if not paths:
            raise DataError(f"file list: {source} names no file")
        self.index = Index(paths)

    def sample(self, number: int) -> Sample:
        entry, root = self._entries[number], self._roots[number]
        path = self._resolve(entry.path, root, entry.where)
        try:
            image = storage.read_file(path)
            mask = storage.read_file(self._resolve(entry.mask, root, entry.where)) if entry.mask else None
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}, named by {entry.where}") from None
        return self._described(number, image, mask)

    def outline(self, number: int) -> Sample:
        return self._described(number, b"", None)

    def has_mask(self, number: int) -> bool:
        return self._entries[number].mask is not None

    def size(self, number: int) -> int:
        try:
            return storage.stat(self.index.paths[number]).size
        except OSError as error:
            where = self._entries[number].where
            raise self.error(number, "io", f"{error.strerror or error}, named by {where}") from None

    @property
    def layout(self) -> str:
        return "CSV table" if self._lists[0].lower().endswith(".csv") else "paths and labels"

    @property
    def files(self) -> tuple[str, ...]:
        masks = [storage.join(self._roots[at], entry.mask) for at, entry in enumerate(self._entries) if entry.mask]
        return (*self._lists, *self.index.paths, *masks)

    def _described(self, number: int, image: bytes, mask: bytes | None) -> Sample:
        entry = self._entries[number]
        key, extension = split_name(entry.path)
        implied = Sample(key, image, extension, entry.labels, mask=mask)
        return facts.apply(entry.row, implied=implied, where=entry.where) if entry.row else implied

    def _annotated(self, path: str) -> list[Entry]:
        entries = read_list(path)
        beside = f"{split_name(path)[0]}.jsonl"
        folder, _, name = beside.rpartition("/")
        if path.lower().endswith(".csv") or name not in storage.list_folder(folder or ".")[1]:
            return entries
        rows: dict[str, tuple[str, dict[str, Any]]] = {}
        for number, line in enumerate(storage.read_file(beside, limit=_MAX_LIST_BYTES).split(b"\n"), start=1):
            if line.strip():
                where = f"{beside}:{number}"
                row = facts.decode_row(line, where=where)
                rows[str(row.get("path"))] = (where, row)
        return [_with_row(entry, *rows[entry.path]) if entry.path in rows else entry for entry in entries]

    def _resolve(self, name: str, root: str, where: str, *, quick: bool = False) -> str:
        """Find a file. The quick way does not follow links: enough for names that cannot lead out by themselves."""
        if quick and is_plain(name):
            return storage.join(root, name)
        return resolve_below(name, root=root, allow_outside=self._allow_outside, where=f"file list: {where}")


def _with_row(entry: Entry, where: str, row: dict[str, Any]) -> Entry:
    mask = row.pop("mask_file", None)
    if mask is not None and not isinstance(mask, str):
        raise DataError(f"annotations: {where}: mask_file is not a name: {mask!r:.60}")
    return Entry(entry.path, entry.labels, where, mask, row)


class ListWriter(ShardWriter):
    """Writes image files and a text list of them.

    Args:
        open_file: Opens a file of the shard.
        names: `list` and `annotations`.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        super().__init__(open_file, names)
        self._unique = UniqueNames()
        self._lines: list[str] = []
        self._rows: list[bytes] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        ending = file_ending(sample)
        stem = name or self._unique.take(sample.key, number=self.samples, ending=ending, is_allowed=is_listable)
        path = join_name(stem, ending)
        implied = Sample(*_key_of(path), labels=sample.labels)
        row = facts.difference(sample, implied=implied)
        if sample.mask is not None:
            # The full name of the image, since two images may differ in their endings alone.
            row["mask_file"] = f"{MASKS}/{path}.{image_type(sample.mask) or 'png'}"
            with self._open_file(row["mask_file"]) as stream:
                stream.write(sample.mask)
        if row:
            self._rows.append(facts.encode_row({"path": path, **row}))
        self._lines.append("\t".join([path, *(format_label(label) for label in sample.labels)]))
        with self._open_file(path) as stream:
            stream.write(sample.image)
        self.samples += 1

    def close(self) -> None:
        with self._open_file(self._names["list"]) as stream:
            stream.write(os.fsencode("".join(f"{line}\n" for line in self._lines)))
        if self._rows:
            with self._open_file(self._names["annotations"]) as stream:
                stream.write(b"".join(row + b"\n" for row in self._rows))


def is_listable(name: str) -> bool:
    """Tell whether a name may stand in a list: it is plain, and no number or blank at its end looks like a label."""
    return is_plain(name) and name == name.strip() and not name.casefold().startswith(f"{MASKS}/")


def _key_of(path: str) -> tuple[str, bytes, str]:
    key, extension = split_name(path)
    return key, b"", extension
