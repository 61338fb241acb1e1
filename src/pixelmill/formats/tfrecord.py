"""TFRecord files: frames of a length, its checksum, the payload and the payload's checksum, one behind the other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from pixelmill import _core
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import example, gzip_copy
from pixelmill.formats.example import Feature
from pixelmill.formats.faults import FaultKind, RecordFault, Scan
from pixelmill.formats.index import Array, Index
from pixelmill.formats.record_writer import GatheringWriter

HEAD = 12  # length and its checksum, in front of the payload
TAIL = 4  # the payload's checksum, behind it
FRAME = HEAD + TAIL
Loss = tuple[int, int, int, str, str]  # record, offset, length, kind, message

RECORD_BYTES = 1 << 30  # longest payload that is read

# What other containers begin with, for files that are no TFRecords.
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


def frame(payload: bytes) -> bytes:
    """Give a payload as a record: with its length and both checksums."""
    head, tail = _core.tfrecord_frame(len(payload), _core.crc32c(payload))
    return b"".join((head, payload, tail))


class RecordWriter(GatheringWriter):
    """Writes records one behind the other."""

    def write(self, payload: bytes | Sequence[bytes]) -> tuple[int, int]:
        """Write a record; a payload in pieces is not joined first.

        Returns:
            Where the record begins, and how many bytes it has with its frame.
        """
        is_whole = isinstance(payload, (bytes, bytearray, memoryview))
        return self._output.tfrecord((cast(bytes, payload),) if is_whole else cast(Sequence[bytes], payload))

    def write_example(self, features: Mapping[str, Feature]) -> tuple[int, int]:
        """Write an Example, which is encoded on the way; see `example.encode`."""
        try:
            return self._output.example(*example.parts(features))
        except TypeError as error:
            raise example.not_written(error) from None


def scan(path: str, *, verify: bool = False, record_bytes: int = RECORD_BYTES) -> Scan:
    """Find the records of a file by their heads, whose checksums are verified.

    Behind a frame that is lost, reading goes on at the next head whose checksum fits.

    Args:
        path: The file.
        verify: Read the payloads and verify their checksums too; records that fail are then among the faults.
        record_bytes: The longest payload that is taken.

    Returns:
        An index of whole frames, and what is lost. Of a gzip file it is the index of an unpacked copy.
    """
    if _is_gzip(path):
        copy = gzip_copy.unpacked(path)
        found = scan(copy.path, verify=verify, record_bytes=record_bytes)
        faults = [replace(fault, path=path) for fault in found.faults]
        return Scan(replace(found.index, names=[path]), (*faults, *copy.faults))
    offsets, lengths, losses = _core.scan_tfrecord(os.fsencode(path), verify, record_bytes)
    if offsets is None or lengths is None:
        raise ArgumentError(f"tfrecord: {losses[0][4]}: {path}")
    begin = b""
    if not len(offsets) and losses:
        with Path(path).open("rb") as file:
            begin = file.read(512)
    return _scan(path, offsets, lengths, losses, begin)


def scan_bytes(data: bytes, *, name: str = "bytes", verify: bool = False, record_bytes: int = RECORD_BYTES) -> Scan:
    """Do the same with a file that is in memory."""
    return _scan(name, *_core.scan_tfrecord_bytes(data, verify, record_bytes), data[:512])


def _is_gzip(path: str) -> bool:
    """Tell whether a file begins as gzip files do, and not with the head of a record that happens to do so too."""
    try:
        with Path(path).open("rb") as file:
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
    """Say what a file without a single record probably is."""
    likely = next((name for at, magic, name in MAGIC if begin[at:].startswith(magic)), None)
    if likely is None:
        return fault
    message = f"tfrecord: this looks like {likely}, not like TFRecords"
    return RecordFault(fault.path, 0, fault.offset, fault.length, "wrong_format", message)


def payload(record: bytes, *, path: str = "bytes", offset: int = 0, number: int = 0) -> bytes:
    """Take the payload out of a whole frame and verify both checksums; see `payload_view`."""
    return bytes(payload_view(record, path=path, offset=offset, number=number))


def payload_view(record: bytes, *, path: str = "bytes", offset: int = 0, number: int = 0) -> memoryview:
    """Look at the payload of a whole frame, once both checksums are verified; nothing is copied.

    Args:
        record: The frame.
        path: The file it is from, for messages.
        offset: Where in the file it begins.
        number: Its number in the file.
    """
    if len(record) >= FRAME:
        view = memoryview(record)[HEAD:-TAIL]
        head, tail = _core.tfrecord_frame(len(view), _core.crc32c(view))
        if record.startswith(head) and record.endswith(tail) and len(view) <= RECORD_BYTES:
            return view
    found = scan_bytes(record, name=path, verify=True)
    if found.faults:
        first = found.faults[0]
        fault = RecordFault(path, number, offset + first.offset, first.length, first.kind, first.message)
    else:
        message = f"tfrecord: {len(found.index)} records where the index has one; make the index anew"
        fault = RecordFault(path, number, offset, len(record), "corrupt", message)
    raise DataError(str(fault), (fault.event(number),))


def read_record(file: BinaryIO, *, offset: int, length: int, path: str = "bytes", number: int = 0) -> bytes:
    """Read the payload of one record from an open file, verified.

    Args:
        file: A binary file that can seek.
        offset: Where the frame begins.
        length: Its bytes, as an index has them.
        path: The name of the file, for messages.
        number: The number of the record, for messages.
    """
    file.seek(offset)
    return payload(file.read(length), path=path, offset=offset, number=number)


def read_records(path: str) -> Iterator[bytes]:
    """Read the payloads of a whole file, verified; a damaged record raises DataError."""
    found = scan(path)
    if found.faults:
        raise DataError(str(found.faults[0]), tuple(fault.event(fault.record) for fault in found.faults))
    with Path(found.index.paths[0]).open("rb") as file:
        for number, (offset, length) in enumerate(zip(found.index.offsets, found.index.lengths, strict=True)):
            yield read_record(file, offset=int(offset), length=int(length), path=path, number=number)


def write_index(path: str, index: Index) -> None:
    """Write an index as DALI reads it: a line `offset size` for each record, frames included."""
    lines = [
        f"{offset} {length}\n" for offset, length in zip(index.offsets.tolist(), index.lengths.tolist(), strict=True)
    ]
    Path(path).write_text("".join(lines), "ascii")


def read_index(path: str, *, data: str) -> Index:
    """Read such an index of the file `data`, and check what can be checked without reading the file.

    Frames must be in order, not overlap, be long enough, and end within the file.
    """
    try:
        numbers = np.array(Path(path).read_bytes().split(), dtype=np.int64)
        size = Path(data).stat().st_size
    except OSError as error:
        raise ArgumentError(f"tfrecord: {error.strerror}: {error.filename}") from None
    except (ValueError, OverflowError):
        raise DataError(f"tfrecord: {path} is no index: it holds something else than pairs of numbers") from None
    if len(numbers) % 2:
        raise DataError(f"tfrecord: {path} is no index: its last line has one number, not two")
    index = Index([data], np.zeros(len(numbers) // 2, np.int64), numbers[0::2].copy(), numbers[1::2].copy())
    wrong = misfit(index, size)
    if wrong is not None:
        raise DataError(f"tfrecord: {path} does not fit {data}: {wrong}; make the index anew")
    return index


def misfit(index: Index, size: int) -> str | None:
    """Say why an index cannot be one of a file of `size` bytes, or None where it can."""
    offsets, lengths = index.offsets, index.lengths
    if not len(offsets):
        return None
    if offsets.min() < 0 or lengths.min() < FRAME:
        return f"there is an offset below 0 or a size below {FRAME}"
    ends = np.minimum(offsets, size + 1) + np.minimum(lengths, size + 1)
    if (offsets[1:] < ends[:-1]).any():
        return "the records are not in order, or overlap"
    if ends[-1] > size:
        return f"it reaches beyond the end, which is at byte {size}"
    return None
