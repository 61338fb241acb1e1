"""Scan a TFRecord file: find its records by their heads, and what is damaged."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import cast

import numpy as np

from pixelmill import _core
from pixelmill.errors import ArgumentError
from pixelmill.formats.faults import FaultKind, RecordFault, Scan
from pixelmill.formats.index import Array, Index
from pixelmill.formats.tfrecord import gzip_copy
from pixelmill.formats.tfrecord.frames import HEAD, RECORD_BYTES
from pixelmill.storage.local import open_binary

Loss = tuple[int, int, int, str, str]  # record, offset, length, kind, message

# How other files begin, for messages about files that are not TFRecords.
MAGIC = (
    (0, b"\x1f\x8b", "a gzip file"),
    (0, b"\x0a\x23\xd7\xce", "MXNet RecordIO"),
    (257, b"ustar", "a tar archive"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"\x93NUMPY", "a NumPy array"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"\x89PNG", "a PNG image"),
    (0, b"\x78\x01", "zlib data"),
    (0, b"\x78\x9c", "zlib data"),
    (0, b"\x78\xda", "zlib data"),
)


def scan(path: str, *, verify: bool = False, record_bytes: int = RECORD_BYTES) -> Scan:
    """Find the records of a file by their heads, whose checksums are verified.

    After a damaged frame, the scan continues at the next head whose checksum matches.

    Args:
        path: The file.
        verify: Read the payloads and verify their checksums too; records that fail are then among the faults.
        record_bytes: The longest payload that is accepted.

    Returns:
        The index of intact frames, and what is lost. For a gzip file, it is the index of an unpacked copy.
    """
    if is_gzip(path):
        copy = gzip_copy.unpacked(path)
        found = scan(copy.path, verify=verify, record_bytes=record_bytes)
        faults = [replace(fault, path=path) for fault in found.faults]
        return Scan(replace(found.index, names=[path]), (*faults, *copy.faults))
    offsets, lengths, losses = _core.scan_tfrecord(os.fsencode(path), verify, record_bytes)
    if offsets is None or lengths is None:
        raise ArgumentError(f"tfrecord: {losses[0][4]}: {path}")
    begin = b""
    if not len(offsets) and losses:
        with open_binary(path) as file:
            begin = file.read(512)
    return _scan(path, offsets, lengths, losses, begin)


def scan_bytes(data: bytes, *, name: str = "bytes", verify: bool = False, record_bytes: int = RECORD_BYTES) -> Scan:
    """Scan a file that is in memory, like `scan`."""
    return _scan(name, *_core.scan_tfrecord_bytes(data, verify, record_bytes), data[:512])


def is_gzip(path: str) -> bool:
    """Whether a file begins like a gzip file, and not with the head of a record that happens to look like one."""
    try:
        with open_binary(path) as file:
            begin = file.read(HEAD)
    except OSError:
        return False
    head, _ = _core.tfrecord_frame(int.from_bytes(begin[:8], "little"), 0)
    return begin.startswith(gzip_copy.MAGIC) and begin != head


def _scan(path: str, offsets: Array, lengths: Array, losses: Iterable[Loss], begin: bytes) -> Scan:
    faults = tuple(
        RecordFault(path, record, offset, length, cast("FaultKind", kind), f"tfrecord: {message}")
        for record, offset, length, kind, message in losses
    )
    if faults and not len(offsets):
        faults = (_not_a_tfrecord(faults[0], begin), *faults[1:])
    return Scan(Index([path], np.zeros(len(offsets), np.int64), offsets, lengths), faults)


def _not_a_tfrecord(fault: RecordFault, begin: bytes) -> RecordFault:
    """Replace the fault of a file without a single record by one that says what the file probably is."""
    likely = next((name for at, magic, name in MAGIC if begin[at:].startswith(magic)), None)
    if likely is None:
        return fault
    message = f"tfrecord: this looks like {likely}, not like a TFRecord file"
    return RecordFault(fault.path, 0, fault.offset, fault.length, "wrong_format", message)
