"""The index of a pack as bytes: a directory, then the columns, each at a multiple of the alignment."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np

from pixelmill import _core
from pixelmill.errors import DataError
from pixelmill.formats.index import Array
from pixelmill.formats.pack.frames import ALIGNMENT, HEADER_BYTES, PART_BYTES, aligned
from pixelmill.formats.pack.table import COLUMNS, EACH, FLOAT, LABELED, LISTS, STARTS, Columns, Table

_DIRECTORY = struct.Struct("<IIQ16x")  # columns, zero, samples
_COLUMN = struct.Struct("<24sIIQQ")  # name, type, zero, first byte in the index, elements
_TYPES = {number: np.dtype(code) for number, code in enumerate(("<u1", "<u4", "<u8", "<i8", "<f4"), start=1)}
_NUMBERS = {dtype: number for number, dtype in _TYPES.items()}


def encode(table: Table) -> bytes:
    """Return the index of a table."""
    at = aligned(_DIRECTORY.size + _COLUMN.size * len(COLUMNS))
    entries, pieces = [_DIRECTORY.pack(len(COLUMNS), 0, len(table))], []
    for name, code in COLUMNS.items():
        column = table.columns[name]
        entries.append(_COLUMN.pack(name.encode(), _NUMBERS[np.dtype(code)], 0, at, len(column)))
        pieces.append(column.tobytes().ljust(aligned(column.nbytes), b"\0"))
        at += len(pieces[-1])
    directory = b"".join(entries)
    return directory.ljust(aligned(len(directory)), b"\0") + b"".join(pieces)


def decode(data: bytes, *, samples: int, begin: int, end: int) -> Table:
    """Return the table of an index; raises DataError if its columns cannot be those of the file.

    Args:
        data: The index.
        samples: Number of samples by the footer.
        begin: The first byte of the first sample, or -1 if the header is not known.
        end: The first byte of the index.
    """
    columns = dict(_columns(data, samples))
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise DataError(f"the index has no column {missing[0]!r}")
    _check_counts(columns, samples)
    _check_values(columns)
    table = Table(columns)
    _check_places(table, begin, end)
    return table


def _columns(data: bytes, samples: int) -> Iterable[tuple[str, Array]]:
    if len(data) < _DIRECTORY.size:
        raise DataError("the index ends inside its directory")
    count, _, counted = _DIRECTORY.unpack_from(data)
    if counted != samples:
        raise DataError(f"the index counts {counted} samples, the footer {samples}")
    if _DIRECTORY.size + count * _COLUMN.size > len(data):
        raise DataError(f"an index of {len(data)} bytes cannot have {count} columns")
    for place in range(count):
        raw, kind, _, offset, elements = _COLUMN.unpack_from(data, _DIRECTORY.size + place * _COLUMN.size)
        name = raw.rstrip(b"\0").decode("ascii", "replace")
        if name not in COLUMNS:
            continue  # of a later version that is compatible with this one
        dtype = _TYPES.get(kind)
        if dtype is None or dtype != np.dtype(COLUMNS[name]):
            raise DataError(f"column {name!r} of the index has the type {kind}, not that of {COLUMNS[name]}")
        if offset % ALIGNMENT or offset > len(data) or elements > (len(data) - offset) // dtype.itemsize:
            raise DataError(f"column {name!r} of the index leads out of it: {elements} elements at byte {offset}")
        yield name, np.frombuffer(data, dtype, elements, offset)


def _check_counts(columns: Columns, samples: int) -> None:
    for name in EACH:
        if len(columns[name]) != samples:
            raise DataError(f"column {name!r} of the index has {len(columns[name])} elements for {samples} samples")
    for name, items in (STARTS | LISTS).items():
        starts = columns[name]
        if name in STARTS and len(starts) != samples + 1:
            raise DataError(f"column {name!r} of the index has {len(starts)} elements for {samples} samples")
        if not _core.divides(starts, len(columns[items]), least=0):
            raise DataError(f"column {name!r} of the index does not divide column {items!r}")
    pairs = (("label_kind", "label", 1), ("box", "box_label", 4), ("codebook_identity", "codebook_start", 1))
    for name, other, factor in pairs:
        expected = len(columns[other]) * factor - (other == "codebook_start")
        if len(columns[name]) != expected:
            raise DataError(f"column {name!r} of the index has {len(columns[name])} elements instead of {expected}")


def _check_values(columns: Columns) -> None:
    for name, most in (
        ("extension", len(columns["extension_start"]) - 2),
        ("class", len(columns["class_start"]) - 1),
        ("boxes_kind", LABELED),
        ("label_kind", FLOAT),
    ):
        if len(columns[name]) and _core.largest(columns[name]) > most:
            raise DataError(f"column {name!r} of the index holds {_core.largest(columns[name])}, more than {most}")
    if not _core.divides(columns["class_start"], len(columns["class_text"]), least=1):
        raise DataError("the index has an empty class name")
    if not _are_labels_finite(columns) or (len(columns["box"]) and not np.isfinite(columns["box"]).all()):
        raise DataError("the index holds a label or a box that is not a finite number")


def _are_labels_finite(columns: Columns) -> bool:
    if _core.largest(columns["label_kind"]) < FLOAT:
        return True
    floats = columns["label"][columns["label_kind"] == FLOAT].view("<f8")
    # The largest float32; larger ones become infinite, which no container holds.
    return bool((np.abs(floats) <= np.finfo(np.float32).max).all())


def _check_places(table: Table, begin: int, end: int) -> None:
    """Check that the samples fill the file from the header to the index without a gap."""
    columns = table.columns
    for name in ("image_length", "mask_length", "row_length", "features_length"):
        if _core.largest(columns[name]) > PART_BYTES:
            raise DataError(f"column {name!r} of the index holds {_core.largest(columns[name])} bytes")
    offsets = columns["offset"]
    if not len(offsets):
        if begin not in (-1, end):
            raise DataError("the index has no samples, but there are bytes between header and index")
        return
    if _core.largest(offsets) >= end:
        raise DataError(f"the index places a sample at byte {_core.largest(offsets)}, after its own start")
    first = int(offsets[0])
    if (begin == -1 and (first < HEADER_BYTES or first % ALIGNMENT)) or (begin != -1 and first != begin):
        raise DataError(f"the index places the first sample at byte {first}")
    if not _core.follow_each_other(offsets, table.sizes(), end=end):
        raise DataError("the samples of the index do not follow each other")
