"""Unpacked copies of gzip files: a gzip file cannot be read from the middle."""

from __future__ import annotations

import contextlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from pixelmill.errors import ArgumentError, DataError, Event
from pixelmill.formats.faults import FaultKind, RecordFault
from pixelmill.formats.index_cache import stamp_of
from pixelmill.storage import cache
from pixelmill.storage.local import open_binary

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
    size, changed = stamp_of(path)
    try:
        target = cache.entry("unpacked", os.path.realpath(path), f"{size} {changed}")
        return Copy(str(target)) if cache.holds(target) else _new_copy(path, target, size)
    except OSError as error:
        where = error.filename or path
        raise ArgumentError(
            f"gzip: {error.strerror}: {where} while unpacking {path}; PIXELMILL_CACHE sets the folder"
        ) from None


def _new_copy(path: str, target: Path, size: int) -> Copy:
    with cache.publishing(target) as new:
        with open_binary(path) as packed, new.path.open("wb") as out:
            fault = _unpack(packed, out, path, size)
        new.is_private = fault is not None  # whoever repairs the file should not find the damage again
    return Copy(str(new.path), () if fault is None else (fault,))


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
