"""MXNet RecordIO: records of images and labels, their `.idx` and `.lst` files."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.record_writer import GatheringWriter
from pixelmill.formats.recordio_frames import check_length, frame, unframe
from pixelmill.formats.recordio_scan import scan

__all__ = [
    "Header",
    "ListEntry",
    "RecordWriter",
    "frame",
    "index_text",
    "list_text",
    "pack",
    "read_index",
    "read_list",
    "scan",
    "unframe",
    "unpack",
    "write_index",
    "write_list",
]

_IMAGE_HEAD = struct.Struct("<IfQQ")


@dataclass(frozen=True)
class Header:
    """What stands before the image of a record.

    Attributes:
        labels: One label, or several.
        identifier: The number that the writer gave the image.
        second_identifier: Another number, zero nearly always.
    """

    labels: tuple[float, ...]
    identifier: int
    second_identifier: int = 0


def pack(labels: Sequence[float], identifier: int, image: bytes, *, second_identifier: int = 0) -> bytes:
    """Give the payload of a record: header, labels, image."""
    if len(labels) == 1:
        return _IMAGE_HEAD.pack(0, labels[0], identifier, second_identifier) + image
    if not labels:
        raise ArgumentError("recordio: a record needs at least one label")
    values = np.asarray(labels, "<f4").tobytes()
    return _IMAGE_HEAD.pack(len(labels), 0.0, identifier, second_identifier) + values + image


def unpack(record: bytes) -> tuple[Header, bytes]:
    """Divide the payload of a record into its header and its image."""
    if len(record) < _IMAGE_HEAD.size:
        raise DataError(f"recordio: a record of {len(record)} bytes has no room for its header of {_IMAGE_HEAD.size}")
    count, label, identifier, second = _IMAGE_HEAD.unpack_from(record)
    if count == 0:
        return Header((label,), identifier, second), record[_IMAGE_HEAD.size :]
    end = _IMAGE_HEAD.size + 4 * count
    if end > len(record):
        raise DataError(f"recordio: the header tells of {count} labels, but the record has {len(record)} bytes only")
    labels = np.frombuffer(record, "<f4", count, _IMAGE_HEAD.size)
    return Header(tuple(labels.tolist()), identifier, second), record[end:]


class RecordWriter(GatheringWriter):
    """Writes records one behind the other."""

    def write(self, payload: bytes) -> tuple[int, int]:
        """Write a record; give the byte where it starts and how many it takes."""
        return self._put(b"", payload)

    def write_image(self, labels: Sequence[float], identifier: int, image: bytes) -> tuple[int, int]:
        """Write the record of an image, as `pack` makes it, without joining its parts first."""
        return self._put(pack(labels, identifier, b""), image)

    def _put(self, head: bytes, body: bytes) -> tuple[int, int]:
        check_length(len(head) + len(body))
        return self._output.recordio(head, body)


def write_index(path: str | Path, entries: Iterable[tuple[int, int]]) -> None:
    """Write an `.idx` file: a key and the byte where its record starts on each line."""
    Path(path).write_bytes(index_text(entries))


def index_text(entries: Iterable[tuple[int, int]]) -> bytes:
    """Give the content of an `.idx` file for pairs of key and offset."""
    return "".join(f"{key}\t{offset}\n" for key, offset in entries).encode()


def read_index(path: str | Path) -> list[tuple[int, int]]:
    """Read the keys and offsets of an `.idx` file, in its order."""
    entries = []
    for number, line in _lines(path, "index"):
        fields = line.split()
        if len(fields) != 2 or not all(field.isascii() and field.isdigit() for field in fields):
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
    """Write a `.lst` file: number, labels and path, with tabs between them, on each line."""
    Path(path).write_bytes(list_text(entries))


def list_text(entries: Iterable[ListEntry]) -> bytes:
    """Give the content of a `.lst` file."""
    lines = []
    for entry in entries:
        if "\t" in entry.path or "\n" in entry.path:
            raise ArgumentError(f"recordio: a path in a list file can hold no tab and no line end: {entry.path!r}")
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
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise DataError(f"recordio: {what} file: {error.strerror}: {path}") from None
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
