"""Unpacked copies of gzip files: a gzip file cannot be read from the middle."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from pixelmill.errors import ArgumentError, DataError, Event
from pixelmill.formats.column_copy import copies_folder
from pixelmill.formats.faults import FaultKind, RecordFault
from pixelmill.formats.index_cache import stamp_of

MAGIC = b"\x1f\x8b\x08"
CHUNK = 1 << 18
RATIO = 200  # a bomb reaches up to 1,030; photos have 1, raw masks some tens
ALLOWANCE = 64 << 20  # unpacked bytes that are never taken for a bomb


class Member(Protocol):
    """The decompressor of one member of a gzip file."""

    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


@dataclass(frozen=True)
class Copy:
    """An unpacked copy.

    Attributes:
        path: Its path.
        faults: The damage in the gzip file, if any; the copy ends there.
    """

    path: str
    faults: tuple[RecordFault, ...] = ()


def unpacked(path: str) -> Copy:
    """Return an unpacked copy of a gzip file in the cache folder, an existing one if there is one.

    Raises:
        DataError: The file expands to more than 200 times its size.
    """
    import tempfile  # late: workers of jobs start without it

    size, changed = stamp_of(path)
    folder = copies_folder()
    name = hashlib.blake2b(os.fsencode(os.path.realpath(path)), digest_size=16).hexdigest()
    target = folder / f"{name}-{size}-{changed}"
    if target.exists():
        return Copy(str(target))
    for old in folder.glob(f"{name}-*"):
        old.unlink(missing_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f"{name}-")
    try:
        with open(handle, "wb") as out, Path(path).open("rb") as packed:  # noqa: PTH123 - a descriptor, not a path
            fault = _unpack(packed, out, path, size)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise ArgumentError(f"gzip: {error.strerror}: {path} into {folder}; PIXELMILL_CACHE sets the folder") from None
    except DataError:
        Path(temporary).unlink(missing_ok=True)
        raise
    if fault is not None:
        atexit.register(Path(temporary).unlink, missing_ok=True)
        return Copy(temporary, (fault,))
    Path(temporary).replace(target)
    return Copy(str(target))


def _unpack(packed: BinaryIO, out: BinaryIO, path: str, size: int) -> RecordFault | None:
    """Unpack all members of a file piece by piece, in constant memory."""
    most = RATIO * size + ALLOWANCE
    written = 0
    waiting = packed.read(CHUNK)
    while waiting:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        while not member.eof:
            before = member.copy()
            try:
                piece = member.decompress(waiting, CHUNK)
            except zlib.error as error:
                piece = _until_damage(before, waiting)
                out.write(piece)
                return _fault(path, "corrupt", f"{error}", packed.tell(), written + len(piece))
            written += len(piece)
            if written > most:
                message = f"gzip: {path} expands from {size} to more than {most} bytes; it is taken for a bomb"
                raise DataError(message, (Event("too_large", message, sample=0, epoch=0, path=path),))
            out.write(piece)
            waiting = member.unconsumed_tail or packed.read(CHUNK)
            if not waiting and not piece and not member.eof:
                return _fault(path, "truncated", "the file ends before its data does", size, written)
        waiting = (member.unused_data + (b"" if member.unused_data else waiting)) or packed.read(CHUNK)
        waiting = waiting.lstrip(b"\0")  # padding between and after members is allowed
    return None


def _until_damage(member: Member, waiting: bytes) -> bytes:
    """Return what can be unpacked before the damaged byte."""
    pieces = []
    with contextlib.suppress(zlib.error):
        for at in range(len(waiting)):
            pieces.append(member.decompress(waiting[at : at + 1]))
    return b"".join(pieces)


def _fault(path: str, kind: FaultKind, message: str, at: int, written: int) -> RecordFault:
    text = f"gzip: {message}, near byte {at} of the gzip file; everything after unpacked byte {written} is lost"
    return RecordFault(path, -1, written, 0, kind, text)
