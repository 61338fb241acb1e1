"""Tables of images: CSV with any delimiter, TSV, and JSON lines. Columns are found by name, or named by the user."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.file_list.cells import Cells, read_cells
from pixelmill.formats.file_list.entry import Entry
from pixelmill.formats.format import Choice
from pixelmill.formats.sample import IMAGE_EXTENSIONS, split_name

ENDINGS = ("csv", "tsv", "jsonl", "ndjson")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "path": ("path", "image", "file", "filename", "file_name", "image_path", "img", "name", "filepath", "image_name"),
    "labels": ("labels", "label", "target", "class_id", "class_index", "y"),
    "class": ("class", "class_name", "category", "breed", "species"),
    "mask": ("mask", "mask_path", "segmentation"),
    "key": ("key",),
    "extension": ("extension",),
    "boxes": ("boxes",),
    "box_labels": ("box_labels",),
    "objects": ("objects",),
    "split": ("split", "subset"),
    "extra": ("extra",),
}
# Columns with the sides of one box: left, top, then right, bottom or width, height.
CORNERS = (
    ("xmin", "ymin", "xmax", "ymax"),
    ("x_min", "y_min", "x_max", "y_max"),
    ("x1", "y1", "x2", "y2"),
    ("left", "top", "right", "bottom"),
)
SIZES = (("x", "y", "w", "h"), ("x", "y", "width", "height"), ("left", "top", "width", "height"))
_LOOK = 64  # rows that decide what a column without a usual name is


@dataclass(frozen=True)
class Layout:
    """What the columns of a table are.

    Attributes:
        places: The columns of each part of a sample, by `COLUMNS`.
        corners: The columns of a box, empty if there are none.
        is_sized: Whether the last two of them are width and height.
        one_hot: Columns that hold 0 or 1 for each class.
        others: Columns that belong to no part.
    """

    places: Mapping[str, tuple[str, ...]]
    corners: tuple[str, ...]
    is_sized: bool
    one_hot: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A row of a table: values by column, and its place for messages."""

    values: Mapping[str, Any]
    where: str


def is_table(path: str) -> bool:
    """Whether a list is a table, judged by its name."""
    return split_name(path)[1].lower() in ENDINGS


def is_json(path: str) -> bool:
    """Whether a table has a JSON object on each line, judged by its name."""
    return split_name(path)[1].lower() in ("jsonl", "ndjson")


@dataclass(frozen=True)
class Rows:
    """The rows of a table, made when they are asked for.

    Attributes:
        cells: The texts of a CSV table; None for JSON.
        items: The rows of JSON lines, and entries with a fault for lines that cannot be read.
    """

    cells: Cells | None
    items: Sequence[Row | Entry] = ()

    def __len__(self) -> int:
        return len(self.items if self.cells is None else self.cells)

    def __getitem__(self, number: int) -> Row | Entry:
        if self.cells is None:
            return self.items[number]
        return self.cells.bad.get(number) or Row(self.cells.values(number), self.cells.where(number))

    def column(self, name: str) -> list[Any]:
        """Return the cells of a column, without those of rows that cannot be read."""
        if self.cells is None:
            return [row.values.get(name) for row in self.items if isinstance(row, Row)]
        found = self.cells.column(name)
        return found if not self.cells.bad else [c for n, c in enumerate(found) if n not in self.cells.bad]


def read_rows(text: str, path: str) -> tuple[list[str], Rows]:
    """Return the columns of a table and its rows; a row that cannot be read is an entry with a fault."""
    if is_json(path):
        header, items = json_rows(text, path)
        return header, Rows(None, items)
    cells = read_cells(text, path)
    return cells.header, Rows(cells)


def json_rows(text: str, path: str) -> tuple[list[str], list[Row | Entry]]:
    """Return the same for JSON lines."""
    columns: dict[str, None] = {}
    found: list[Row | Entry] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            values = json.loads(line)
            if not isinstance(values, dict):
                raise ValueError("it is not a JSON object")
        except (ValueError, RecursionError) as error:
            found.append(Entry("", (), where, fault=f"{where} cannot be read: {error}"))
            continue
        lower = {str(name).strip().lower(): value for name, value in values.items()}
        columns |= dict.fromkeys(lower)
        found.append(Row(lower, where))
    return list(columns), found


def find_layout(header: Sequence[str], rows: Rows, *, choice: Choice, path: str) -> Layout:
    """Decide what each column is. Raises DataError if no column has paths."""
    places = {what: tuple(name for name in names if name in header) for what, names in COLUMNS.items()}
    places["labels"] += tuple(name for name in header if name.startswith(("label_", "target_")))
    for part, wanted, option in (("path", choice.path, "--path-column"), ("labels", choice.label, "--label-column")):
        if wanted is None:
            continue
        if wanted.strip().lower() not in header:
            raise ArgumentError(f"{option}: {path} has no column {wanted!r}; it has {', '.join(header[:20])}")
        places[part] = (wanted.strip().lower(),)
    if choice.label is not None:
        places["class"] = ()
    elif {"x", "y"} <= set(header):
        places["labels"] = tuple(name for name in places["labels"] if name != "y")
    if not places["path"]:
        places["path"] = tuple(name for name in header if _looks_like_paths(name, rows))[:1]
    if not places["path"]:
        known = ", ".join(COLUMNS["path"][:6])
        raise DataError(
            f"file list: {path}:1 has no column of paths; one of {known} is needed, or name it with --path-column; "
            f"the columns are {', '.join(header[:20])}"
        )
    chosen = {part: names[:1] if part != "labels" else names for part, names in places.items()}
    used = {name for names in chosen.values() for name in names}
    free = [name for name in header if name not in used]
    corners = next((names for names in (*CORNERS, *SIZES) if set(names) <= set(free)), ())
    rest = [name for name in free if name not in corners]
    is_free = not chosen["labels"] and not chosen["class"]
    one_hot = [name for name in rest if _is_binary(name, rows)] if is_free else []
    one_hot = one_hot if len(one_hot) > 1 else []
    others = tuple(name for name in rest if name not in one_hot)
    return Layout(chosen, corners, corners in SIZES, tuple(one_hot), others)


def _looks_like_paths(name: str, rows: Rows) -> bool:
    values = rows.column(name)[:_LOOK]
    return bool(values) and all(
        isinstance(value, str) and split_name(value)[1].lower() in IMAGE_EXTENSIONS for value in values
    )


def _is_binary(name: str, rows: Rows) -> bool:
    values = {str(value).strip() for value in rows.column(name)}
    return bool(values) and values <= {"0", "1", "0.0", "1.0", "False", "True", "false", "true"}


def texts_of(value: Any) -> Iterator[str]:
    """Yield the labels in a cell: numbers may be separated by blanks, names by `|`; JSON has lists."""
    if isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, bool):
        yield str(int(value))
    elif value is not None and str(value).strip():
        yield from (part.strip() for part in str(value).split("|"))
