"""Reading file lists: text lines of a path and its labels, or a CSV table with a header.

Text: `path label label …`, separated by tabs or blanks. CSV: the columns are found by their names, see `COLUMNS`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pixelmill import storage
from pixelmill.errors import DataError, unreadable
from pixelmill.formats.annotations import Row, decode_row
from pixelmill.formats.sample import Label, parse_label

COLUMNS = {
    "path": ("path", "image", "file", "filename", "file_name", "image_path", "img", "name"),
    "labels": ("labels", "label", "target", "class_id", "class_index", "y"),
    "class": ("class", "class_name", "category"),
    "mask": ("mask", "mask_path", "segmentation"),
    "key": ("key",),
    "extension": ("extension",),
    "boxes": ("boxes",),
    "box_labels": ("box_labels",),
    "objects": ("objects",),
    "split": ("split", "subset", "fold"),
    "extra": ("extra",),
}
_JSON = ("boxes", "objects", "extra")
_MAX_LINE = 1 << 20
_MAX_TABLE_FIELD = 1 << 28
_MAX_LIST_BYTES = 1 << 33


@dataclass(frozen=True)
class Entry:
    """A line of a list.

    Attributes:
        path: The path of the image as it stands in the list.
        labels: Its labels.
        where: The list and the line, for messages.
        mask: The path of the mask.
        row: Everything else, as a row of annotations.
        fault: What is wrong with the line, if it cannot be used; the other fields are then as far as they are known.
    """

    path: str
    labels: tuple[Label, ...]
    where: str
    mask: str | None = None
    row: Row = field(default_factory=dict)
    fault: str | None = None


def read_list(path: str) -> list[Entry]:
    """Read a list: a CSV table if its name ends in `.csv`, lines of text otherwise."""
    try:
        data = storage.read_file(path, limit=_MAX_LIST_BYTES)
    except OSError as error:
        raise unreadable("file list", path, error) from None
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return list(_table(text, path) if path.lower().endswith(".csv") else _lines(text, path))


def _lines(text: str, path: str) -> Iterator[Entry]:
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip(" \t\r")
        if not line:
            continue
        where = f"{path}:{number}"
        if len(line) > _MAX_LINE or "\0" in line:
            yield Entry("", (), where, fault=f"{where} is not a line of text with a path and labels")
            continue
        name, labels = _split_tabs(line) if "\t" in line else _split_blanks(line)
        if labels is None or not name:
            fault = f"{where} is not a path and its labels, which are numbers: {line!r:.120}"
            yield Entry(name, (), where, fault=fault)
            continue
        yield Entry(name, labels, where)


def _split_tabs(line: str) -> tuple[str, tuple[Label, ...] | None]:
    name, *rest = line.split("\t")
    try:
        return name.strip(), tuple(parse_label(part) for text in rest for part in text.split())
    except ValueError:
        return name, None


def _split_blanks(line: str) -> tuple[str, tuple[Label, ...]]:
    """Split numbers off the end of the line; the rest is a path, which may hold blanks."""
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
                f"file list: {path}:1 has no column of paths; one of {', '.join(COLUMNS['path'])} is needed"
            )
        for row in rows:
            where = f"{path}:{rows.line_num}"
            if len(row) != len(header) and any(row):
                fault = f"{where} has {len(row)} fields, the header has {len(header)}"
                yield Entry("", (), where, fault=fault)
            elif any(row):
                yield _entry(row, places, where)
    except csv.Error as error:
        raise DataError(f"file list: {path}:{rows.line_num} is not CSV: {error}") from None


def _entry(row: list[str], places: Mapping[str, list[int]], where: str) -> Entry:
    cells = {what: row[at[0]] for what, at in places.items() if at and row[at[0]]}
    if not cells.get("path") or "\0" in cells["path"]:
        return Entry("", (), where, fault=f"{where} has no usable path")
    try:
        labels = tuple(parse_label(part) for at in places["labels"] for part in row[at].split())
        box_labels = [parse_label(part) for part in cells.get("box_labels", "").split()]
    except ValueError as error:
        return Entry(cells["path"], (), where, fault=f"{where} has a label that is not a number: {error}")
    found: Row = {name: cells[name] for name in ("key", "class", "split") if name in cells}
    if places["extension"]:
        found["extension"] = cells.get("extension", "")
    for name in _JSON:
        if name not in cells:
            continue
        try:
            found[name] = decode_row(f'{{"":{cells[name]}}}', where=where)[""]
        except (DataError, KeyError) as error:
            return Entry(cells["path"], labels, where, fault=str(error).removeprefix("annotations: "))
    if "boxes" in cells and "box_labels" in cells:
        found["box_labels"] = box_labels
    return Entry(cells["path"], labels, where, cells.get("mask"), found)
