"""The `.idx` and `.lst` files beside a RecordIO file: offsets and names of its records."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.index import INDEX_BYTES, is_count


def write_index(path: str | Path, entries: Iterable[tuple[int, int]]) -> None:
    """Write an `.idx` file: a key and the offset of its record on each line."""
    Path(path).write_bytes(index_text(entries))


def index_text(entries: Iterable[tuple[int, int]]) -> bytes:
    """Return the content of an `.idx` file for pairs of key and offset."""
    return "".join(f"{key}\t{offset}\n" for key, offset in entries).encode()


def read_index(path: str | Path) -> list[tuple[int, int]]:
    """Read the keys and offsets of an `.idx` file, in its order."""
    entries = []
    for number, line in _lines(path, "index"):
        fields = line.split()
        if len(fields) != 2 or not all(map(is_count, fields)):
            raise DataError(f"recordio: line {number} of {path} is not a key and an offset: {line[:80]!r}")
        entries.append((int(fields[0]), int(fields[1])))
    return entries


@dataclass(frozen=True)
class ListEntry:
    """A line of a `.lst` file."""

    identifier: int
    labels: tuple[float, ...]
    path: str


def write_list(path: str | Path, entries: Iterable[ListEntry]) -> None:
    """Write a `.lst` file: number, labels and path on each line, separated by tabs."""
    Path(path).write_bytes(list_text(entries))


def list_text(entries: Iterable[ListEntry]) -> bytes:
    """Return the content of a `.lst` file."""
    lines = []
    for entry in entries:
        if "\t" in entry.path or "\n" in entry.path:
            raise ArgumentError(f"recordio: a path in a list file cannot hold tabs or line ends: {entry.path!r}")
        labels = "".join(f"{label:.6f}\t" for label in entry.labels)
        lines.append(f"{entry.identifier}\t{labels}{entry.path}\n")
    return "".join(lines).encode("utf-8", "surrogateescape")


def read_list(path: str | Path) -> list[ListEntry]:
    """Read a `.lst` file."""
    entries = []
    for number, line in _lines(path, "list"):
        identifier, *labels, name = line.split("\t") if line.count("\t") >= 2 else ("", "", "")
        try:
            entries.append(ListEntry(int(identifier), tuple(map(float, labels)), name))
        except ValueError:
            raise DataError(
                f"recordio: line {number} of {path} is not a number, labels and a path with tabs between: {line[:80]!r}"
            ) from None
    return entries


def _lines(path: str | Path, what: str) -> Iterable[tuple[int, str]]:
    try:
        text = storage.read_file(os.fspath(path), limit=INDEX_BYTES).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise DataError(f"recordio: {what} file: {error.strerror}: {path}") from None
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
