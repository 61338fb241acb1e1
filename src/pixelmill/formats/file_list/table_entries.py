"""From the rows of a table to the entries of a list: labels are numbered, and rows of boxes are joined by image."""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

from pixelmill.errors import DataError
from pixelmill.formats.annotations import Row as Parts
from pixelmill.formats.annotations import decode_row, encode_row
from pixelmill.formats.file_list.entry import Content, Entry
from pixelmill.formats.file_list.table import Layout, Row, Rows, find_layout, read_rows, texts_of
from pixelmill.formats.format import Choice
from pixelmill.formats.sample import Label, parse_label

Entries = Sequence[Entry]
_JSON = ("boxes", "objects", "extra")


def read_table(text: str, path: str, *, choice: Choice) -> Content:
    """Read a table: an entry for each image."""
    header, rows = read_rows(text, path)
    if not header:
        found = (rows[number] for number in range(len(rows)))
        return Content([row for row in found if isinstance(row, Entry)])
    layout = find_layout(header, rows, choice=choice, path=path)
    classes = _classes(layout, rows)
    numbers = {name: number for number, name in enumerate(classes)}
    entries: Entries = TableEntries(rows, layout, numbers, classes)
    if rows.cells is None or layout.corners or any(layout.places[name] for name in _JSON):
        entries = [entries[number] for number in range(len(entries))]  # any cell may be wrong, so all are looked at
    if layout.corners:
        entries = _joined(entries)
    return Content(entries, classes, {} if classes else _paired_classes(layout, rows, entries), _remarks(layout, path))


class TableEntries(Sequence[Entry]):
    """The entries of a CSV table, made when they are asked for.

    Args:
        rows: The rows.
        layout: What their columns are.
        numbers: The label of each class.
        classes: The class of each label.
    """

    def __init__(self, rows: Rows, layout: Layout, numbers: Mapping[str, int], classes: Sequence[str]) -> None:
        self._rows, self._layout, self._numbers, self._classes = rows, layout, numbers, classes

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, number: int) -> Entry: ...
    @overload
    def __getitem__(self, number: slice) -> list[Entry]: ...
    def __getitem__(self, number: int | slice) -> Entry | list[Entry]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        row = self._rows[number]
        return row if isinstance(row, Entry) else _entry(row, self._layout, self._numbers, self._classes)

    @property
    def may_have_masks(self) -> bool:
        """Whether there is a column of masks."""
        return bool(self._layout.places["mask"])

    def names(self) -> list[str]:
        """Return the paths as they stand in the table; empty for rows that cannot be read."""
        assert self._rows.cells is not None
        return self._rows.cells.column(self._layout.places["path"][0])

    def faults(self) -> dict[int, str]:
        """Return the rows that cannot be used, and why: only paths and labels can be wrong in such a table."""
        cells = self._rows.cells
        assert cells is not None
        doubtful = set(cells.bad)
        doubtful |= {number for number, name in enumerate(self.names()) if not name or "\0" in name}
        for column in _label_columns(self._layout):
            found = cells.column(column)
            wrong = {text for text in set(found) if not self._is_label(text)}
            doubtful |= {number for number, text in enumerate(found) if text in wrong} if wrong else set()
        entries = {number: self[number] for number in sorted(doubtful)}
        return {number: entry.fault for number, entry in entries.items() if entry.fault is not None}

    def _is_label(self, text: str) -> bool:
        return bool(self._numbers) or all(map(_are_numbers, texts_of(text)))


def _remarks(layout: Layout, path: str) -> tuple[str, ...]:
    """Return what is to know about columns that were not found by their own names."""
    found = []
    if layout.one_hot:
        found.append(f"{path}: {', '.join(layout.one_hot[:8])} are taken for classes, one column each")
    if layout.others:
        text = "attributes of boxes" if layout.corners else "features of samples"
        found.append(f"{path}: the columns {', '.join(layout.others[:8])} are kept as {text}")
    return tuple(found)


def _class_column(layout: Layout) -> str | None:
    """Return the column of class names if the table has no column of labels."""
    return layout.places["class"][0] if layout.places["class"] and not layout.places["labels"] else None


def _label_columns(layout: Layout) -> tuple[str, ...]:
    """Return the columns of labels: of numbers, or else of names."""
    column = _class_column(layout)
    return () if layout.one_hot else layout.places["labels"] if column is None else (column,)


def _classes(layout: Layout, rows: Rows) -> tuple[str, ...]:
    """Return the names of classes by label, if labels are names."""
    if layout.one_hot:
        return layout.one_hot
    counts: Counter[str] = Counter()
    for column in _label_columns(layout):
        cells = rows.column(column)
        if rows.cells is None:
            counts.update(text for cell in cells for text in texts_of(cell))
            continue
        for cell, count in Counter(cells).items():
            for text in texts_of(cell):
                counts[text] += count
    numbers = sum(count for text, count in counts.items() if _are_numbers(text))
    if (_class_column(layout) is None and 2 * numbers > counts.total()) or not counts:
        return ()  # numbers; a word among them is a mistake in its row
    return tuple(sorted(counts))


def _are_numbers(text: str) -> bool:
    try:
        return all(math.isfinite(parse_label(part)) for part in text.split())
    except ValueError:
        return False


def _paired_classes(layout: Layout, rows: Rows, entries: Entries) -> dict[int, str]:
    """Return the names of labels, of a table that has both."""
    names: dict[int, str] = {}
    if not layout.places["class"] or layout.corners:
        return names
    chosen: Iterable[Entry] = entries
    if isinstance(entries, TableEntries) and rows.cells is not None:  # one row of each pair
        columns = [rows.cells.column(name) for name in (*_label_columns(layout), layout.places["class"][0])]
        first: dict[tuple[str, ...], int] = {}
        for number, pair in enumerate(zip(*columns, strict=True)):
            first.setdefault(pair, number)
        chosen = (entries[number] for number in first.values())
    for entry in chosen:
        if len(entry.labels) == 1 and isinstance(entry.labels[0], int) and isinstance(entry.row.get("class"), str):
            names.setdefault(entry.labels[0], entry.row["class"])
    return names


def _entry(row: Row, layout: Layout, numbers: Mapping[str, int], classes: Sequence[str]) -> Entry:
    cells = {part: row.values.get(names[0]) for part, names in layout.places.items() if names}
    path = cells.get("path")
    if not isinstance(path, str) or not path or "\0" in path:
        return Entry("", (), row.where, fault=f"{row.where} has no usable path")
    try:
        labels = _labels(row, layout, numbers)
        found = _own_parts(cells, row.where)
        name = _class_name(cells, labels, layout, classes)
        if name is not None:
            found["class"] = name
        return _with_rest(Entry(path, labels, row.where, _text(cells.get("mask")), found), row, layout)
    except (ValueError, TypeError) as error:
        return Entry(path, (), row.where, fault=f"{row.where} {error}")
    except (DataError, KeyError) as error:
        return Entry(path, (), row.where, fault=str(error).removeprefix("annotations: "))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _labels(row: Row, layout: Layout, numbers: Mapping[str, int]) -> tuple[Label, ...]:
    if layout.one_hot:
        return tuple(numbers[name] for name in layout.one_hot if str(row.values.get(name)).strip()[:1] in "1Tt")
    texts = [text for name in _label_columns(layout) for text in texts_of(row.values.get(name))]
    if numbers:
        return tuple(numbers[text] for text in texts)
    try:
        return tuple(parse_label(part) for text in texts for part in text.split())
    except ValueError as error:
        raise ValueError(f"has a label that is not a number: {error}") from None


def _class_name(
    cells: Mapping[str, Any], labels: Sequence[Label], layout: Layout, classes: Sequence[str]
) -> str | None:
    if classes and len(labels) == 1:
        return classes[int(labels[0])]
    return _text(cells.get("class")) if layout.places["labels"] else None


def _own_parts(cells: Mapping[str, Any], where: str) -> Parts:
    """Return what the columns of our own tables hold."""
    found: Parts = {name: cells[name] for name in ("key", "split") if _text(cells.get(name))}
    if "extension" in cells:
        found["extension"] = cells["extension"] or ""
    for name in _JSON:
        value = cells.get(name)
        if isinstance(value, str) and value:
            found[name] = decode_row(f'{{"":{value}}}', where=where)[""]
        elif value and not isinstance(value, str):
            found[name] = value
    if "boxes" in found and cells.get("box_labels"):
        try:
            found["box_labels"] = [parse_label(part) for part in str(cells["box_labels"]).split()]
        except ValueError as error:
            raise ValueError(f"has a label that is not a number: {error}") from None
    return found


def _with_rest(entry: Entry, row: Row, layout: Layout) -> Entry:
    """Add the box of a row and its other columns; COCO-style objects of JSON lines become boxes too."""
    others = {name: row.values.get(name) for name in layout.others if row.values.get(name) not in (None, "")}
    objects = entry.row.get("objects")
    if isinstance(objects, dict) and isinstance(objects.get("bbox"), list):
        entry = _with_objects(entry, objects)
    if not layout.corners:
        if not others:
            return entry
        extra = {f"column/{name}": {"bytes": [_encoded(value)]} for name, value in others.items()}
        return replace(entry, row={**entry.row, "extra": {**entry.row.get("extra", {}), **extra}})
    texts = [str(row.values.get(name, "")).strip() for name in layout.corners]
    if not any(texts):
        return replace(entry, labels=(), row={**_without_class(entry.row), "boxes": [], "box_labels": []})
    sides = [float(text) for text in texts]
    if not all(map(math.isfinite, sides)):
        raise ValueError("has a box with a coordinate that is not a finite number")
    box = [*sides[:2], sides[0] + sides[2], sides[1] + sides[3]] if layout.is_sized else sides
    if box[2] < box[0] or box[3] < box[1]:
        raise ValueError("has a box with a negative size")
    size = [_number(row.values.get(name)) for name in ("width", "height") if name in layout.others]
    parts: Parts = {"boxes": [box], "objects": {"attributes": {name: [v] for name, v in others.items()}}}
    if len(entry.labels) == 1:
        parts["box_labels"] = list(entry.labels)
    if "class" in entry.row:
        parts["objects"]["names"] = [entry.row["class"]]
    return _scaled(replace(entry, labels=(), row={**_without_class(entry.row), **parts}), size)


def _with_objects(entry: Entry, objects: Mapping[str, Any]) -> Entry:
    """Read objects as Hugging Face datasets write them: `bbox` of left, top, width, height in pixels, `categories`."""
    boxes = [[float(x), float(y), float(x) + float(w), float(y) + float(h)] for x, y, w, h in objects["bbox"]]
    categories = objects.get("categories", objects.get("category"))
    found: Parts = {**entry.row, "boxes": boxes}
    if isinstance(categories, list) and all(isinstance(label, int) for label in categories):
        found["box_labels"] = categories
    rest = {name: value for name, value in objects.items() if name not in ("bbox", "categories", "category")}
    found["objects"] = {"attributes": {name: value for name, value in rest.items() if isinstance(value, list)}}
    return replace(entry, row=found, in_pixels=True)


def _without_class(row: Parts) -> Parts:
    return {name: value for name, value in row.items() if name != "class"}


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0


def _scaled(entry: Entry, size: Sequence[float]) -> Entry:
    """Return an entry with fractions, if its row says how large the image is or they are fractions already."""
    box = entry.row["boxes"][0]
    if len(size) == 2 and min(size) > 0:
        fractions = [side / size[place % 2] for place, side in enumerate(box)]
        return replace(entry, row={**entry.row, "boxes": [fractions]})
    return replace(entry, in_pixels=max(map(abs, box)) > 1)


def _joined(entries: Sequence[Entry]) -> list[Entry]:
    """Join the rows of the same image, in the order of the first; each row is one object."""
    groups: dict[str, list[Entry]] = {}
    for number, entry in enumerate(entries):
        groups.setdefault(entry.path if entry.fault is None else f"\0{number}", []).append(entry)
    return [group[0] if len(group) == 1 else _merged(group) for group in groups.values()]


def _merged(group: Sequence[Entry]) -> Entry:
    first = group[0]
    in_pixels = any(entry.in_pixels for entry in group)
    if in_pixels and not all(entry.in_pixels or not entry.row["boxes"] for entry in group):
        in_pixels = True  # a box in the corner of an image, of one pixel, looks like fractions
    row = {**first.row, "boxes": [box for entry in group for box in entry.row["boxes"]]}
    labels = [label for entry in group for label in entry.row.get("box_labels", ())]
    row.pop("box_labels", None)
    if len(labels) == len(row["boxes"]):
        row["box_labels"] = labels
    objects = [entry.row.get("objects", {}) for entry in group if entry.row["boxes"]]
    names = [name for part in objects for name in part.get("names", ())]
    keys = dict.fromkeys(name for part in objects for name in part.get("attributes", {}))
    attributes = {key: [part.get("attributes", {}).get(key, [None])[0] for part in objects] for key in keys}
    row["objects"] = {"attributes": attributes, **({"names": names} if len(names) == len(row["boxes"]) else {})}
    return replace(first, row=row, in_pixels=in_pixels)


def _encoded(value: Any) -> str:
    text = value if isinstance(value, str) else encode_row({"": value})[4:-1].decode("ascii")
    return base64.b64encode(text.encode("utf-8", "surrogateescape")).decode("ascii")
