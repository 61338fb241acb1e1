"""Why a member of a zip archive is refused, by its entry in the central directory and its local header."""

from __future__ import annotations

from pixelmill.formats.faults import FaultKind
from pixelmill.formats.zip.frames import DEFLATED, ENCRYPTED, SIZES_FOLLOW, STORED, Header
from pixelmill.formats.zip.members import ALLOWANCE, LARGEST_MEMBER, RATIO
from pixelmill.storage.file_names import is_plain


class RefusedError(Exception):
    """Raised for a member that is not read."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind


def name_of(header: Header) -> str:
    """Return the name of a member."""
    try:
        name = header.name.decode("utf-8")
    except UnicodeDecodeError:
        name = header.name.decode("cp437")  # what the format says about names without the UTF-8 flag
    if not is_plain(name.removesuffix("/")):
        raise RefusedError("corrupt", f"the name {name[:80]!r} cannot be a file below a folder")
    return name


def check_same(name: str, entry: Header, local: Header) -> None:
    """Refuse a member whose local header says something else than its entry."""
    same = entry.name == local.name and entry.method == local.method and not (entry.flags ^ local.flags) & ENCRYPTED
    if not local.flags & SIZES_FOLLOW:  # else they follow the content, and the header has zeros
        same = same and (entry.crc, entry.packed, entry.size) == (local.crc, local.packed, local.size)
    if not same:
        raise RefusedError("corrupt", f"the central directory and the local header of {name!r} differ")


def check_readable(name: str, header: Header) -> None:
    """Refuse a member that is encrypted, packed in another way, or too large."""
    if header.flags & ENCRYPTED:
        raise RefusedError("unsupported", f"{name!r} is encrypted")
    if header.method not in (STORED, DEFLATED):
        raise RefusedError("unsupported", f"{name!r} is packed with method {header.method}; store or deflate it")
    if header.method == STORED and header.packed != header.size:
        raise RefusedError("corrupt", f"{name!r} is stored with {header.packed} bytes and declares {header.size}")
    if header.size > LARGEST_MEMBER:
        raise RefusedError("too_large", f"{name!r} has {header.size} bytes; the limit is {LARGEST_MEMBER}")
    if header.size > RATIO * header.packed + ALLOWANCE:
        text = f"{name!r} expands from {header.packed} to {header.size} bytes; it is taken for a bomb"
        raise RefusedError("too_large", text)
