"""Reading single records of TFRecord files, with both checksums verified."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from pixelmill import _core
from pixelmill.errors import DataError
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.tfrecord.frames import FRAME, HEAD, RECORD_BYTES, TAIL
from pixelmill.formats.tfrecord.scan import scan, scan_bytes
from pixelmill.storage.local import open_binary


def payload(record: bytes, *, path: str = "bytes", offset: int = 0, number: int = 0) -> bytes:
    """Return the payload of a whole frame, with both checksums verified; see `payload_view`."""
    return bytes(payload_view(record, path=path, offset=offset, number=number))


def payload_view(record: bytes | memoryview, *, path: str = "bytes", offset: int = 0, number: int = 0) -> memoryview:
    """Return a view of the payload of a whole frame, with both checksums verified; nothing is copied.

    Args:
        record: The frame.
        path: The file it is from, for messages.
        offset: Its offset in the file.
        number: Its number in the file.
    """
    if len(record) >= FRAME:
        view = memoryview(record)[HEAD:-TAIL]
        head, tail = _core.tfrecord_frame(len(view), _core.crc32c(view))
        if record[:HEAD] == head and record[-TAIL:] == tail and len(view) <= RECORD_BYTES:
            return view
    found = scan_bytes(bytes(record), name=path, verify=True)
    if found.faults:
        first = found.faults[0]
        fault = RecordFault(path, number, offset + first.offset, first.length, first.kind, first.message)
    else:
        message = f"tfrecord: {len(found.index)} records where the index has one; write the index again"
        fault = RecordFault(path, number, offset, len(record), "corrupt", message)
    raise DataError(str(fault), (fault.event(number),))


def read_record(file: BinaryIO, *, offset: int, length: int, path: str = "bytes", number: int = 0) -> bytes:
    """Read the payload of one record from an open file and verify it.

    Args:
        file: A seekable binary file.
        offset: The offset of the frame.
        length: The length of the frame, as an index lists it.
        path: The name of the file, for messages.
        number: The number of the record, for messages.
    """
    file.seek(offset)
    return payload(file.read(length), path=path, offset=offset, number=number)


def read_records(path: str) -> Iterator[bytes]:
    """Yield the verified payloads of a whole file; raises DataError for a damaged record."""
    found = scan(path)
    if found.faults:
        raise DataError(str(found.faults[0]), tuple(fault.event(fault.record) for fault in found.faults))
    with open_binary(found.index.paths[0]) as file:
        for number, (offset, length) in enumerate(zip(found.index.offsets, found.index.lengths, strict=True)):
            yield read_record(file, offset=int(offset), length=int(length), path=path, number=number)
