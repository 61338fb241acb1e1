"""The cells of a CSV table, column by column: a table may have millions of rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from pixelmill.errors import DataError
from pixelmill.formats.file_list.entry import Entry
from pixelmill.formats.sample import split_name

_DELIMITERS = (",", ";", "\t", "|")
_MAX_FIELD = 1 << 28
_BLOCK = 4096  # rows at a time: a million lists at once would keep the garbage collector busy


@dataclass(frozen=True)
class Cells:
    """A table of texts.

    Attributes:
        path: The file.
        header: The names of the columns, in lower case.
        columns: The cells of each column, without empty rows; empty cells for rows that cannot be used.
        lines: The last line of each row.
        bad: The rows that cannot be used, as entries with a fault.
    """

    path: str
    header: list[str]
    columns: list[list[str]]
    lines: list[int]
    bad: dict[int, Entry] = field(default_factory=dict)

    def where(self, number: int) -> str:
        """Return the place of a row, for messages."""
        return f"{self.path}:{self.lines[number]}"

    def values(self, number: int) -> dict[str, str]:
        """Return a row by column; of columns with the same name, the last one counts."""
        return {name: column[number] for name, column in zip(self.header, self.columns, strict=True)}

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        return self.columns[len(self.header) - 1 - self.header[::-1].index(name)]

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, rows: list[list[str]], lines: Sequence[int]) -> None:
        """Append rows: those that are not empty, and those of another number of fields as entries with a fault."""
        width = len(self.header)
        if not all(map(any, rows)) or set(map(len, rows)) != {width}:
            lines = [line for cells, line in zip(rows, lines, strict=True) if any(cells)]
            rows = [cells for cells in rows if any(cells)]
            for number, (cells, line) in enumerate(zip(rows, lines, strict=True), start=len(self)):
                if len(cells) != width:
                    where = f"{self.path}:{line}"
                    fault = f"{where} has {len(cells)} fields, the header has {width}"
                    self.bad[number] = Entry("", (), where, fault=fault)
            rows = [cells if len(cells) == width else [""] * width for cells in rows]
        for column, more in zip(self.columns, zip(*rows, strict=True), strict=False):
            column.extend(more)
        self.lines.extend(lines)


def read_cells(text: str, path: str) -> Cells:
    """Split a table into cells. Raises DataError if it is not CSV."""
    csv.field_size_limit(_MAX_FIELD)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text, path), strict=True)
    may_span = '"' in text  # a row may take several lines
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        found = Cells(path, header, [[] for _ in header], [])
        while True:
            first = reader.line_num + 1
            if may_span:
                numbered = [(cells, reader.line_num) for cells in islice(reader, _BLOCK)]
                rows, lines = [cells for cells, _ in numbered], [line for _, line in numbered]
            else:
                rows = list(islice(reader, _BLOCK))
                lines = list(range(first, first + len(rows)))
            if not rows:
                return found
            found.add(rows, lines)
    except csv.Error as error:
        raise DataError(f"file list: {path}:{reader.line_num} is not CSV: {error}") from None


def delimiter_of(text: str, path: str) -> str:
    """Return the delimiter of a table: the one that its header has most of; a tab for `.tsv`."""
    if split_name(path)[1].lower() == "tsv":
        return "\t"
    header = text[: text.find("\n") + 1 or len(text)]
    return max(_DELIMITERS, key=header.count)
