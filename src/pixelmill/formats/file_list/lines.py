"""Reading file lists: tables, or text lines of a path and its labels, separated by tabs or blanks."""

from __future__ import annotations

from collections.abc import Iterator

from pixelmill import storage
from pixelmill.errors import unreadable
from pixelmill.formats.file_list.entry import Content, Entry
from pixelmill.formats.file_list.table import is_table
from pixelmill.formats.file_list.table_entries import read_table
from pixelmill.formats.format import Choice
from pixelmill.formats.sample import Label, parse_label

DEFAULT = Choice()
_MAX_LINE = 1 << 20
_MAX_LIST_BYTES = 1 << 33


def read_list(path: str, *, choice: Choice = DEFAULT) -> Content:
    """Read a list: a table if its name ends like one, such as `.csv`, lines of text otherwise.

    Args:
        path: The list.
        choice: The columns that the user named.
    """
    try:
        data = storage.read_file(path, limit=_MAX_LIST_BYTES)
    except OSError as error:
        raise unreadable("file list", path, error) from None
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return read_table(text, path, choice=choice) if is_table(path) else Content(list(_lines(text, path)))


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
