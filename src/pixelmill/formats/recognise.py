"""Recognise containers by their first bytes; names help with text only."""

from __future__ import annotations

import re

from pixelmill import _core
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import storage
from pixelmill.formats.sample import IMAGE_EXTENSIONS, image_type, split_name

_START = 1024
_RECORDIO = b"\x0a\x23\xd7\xce"
_BESIDE = ("idx", "lst", "jsonl", "json", "md", "txt", "csv", "log", "py", "yaml", "yml", "html")
_TEXT_ENDINGS = ("txt", "csv", "tsv")
_LIST_NAMES = re.compile(r"(list|files|filelist|file_list)(-\d+-of-\d+)?\.txt|.*\.csv", re.IGNORECASE)
_OWN_LIST_NAMES = re.compile(r"(list(-\d+-of-\d+)?\.txt|samples(-\d+-of-\d+)?\.csv)")
_TEXT = re.compile(rb"[^\x00-\x08\x0e-\x1f]*\Z")


def record_format(path: str) -> str | None:
    """Tell which container of records a file is; None for any other file."""
    try:
        start = storage.read_start(path, _START)
    except OSError:
        return None
    if start.startswith(_RECORDIO):
        return "recordio"
    if start[257:262] == b"ustar" or _is_old_tar(start):
        return "webdataset"
    if _is_tfrecord(start) or start.startswith(b"\x1f\x8b"):
        return "tfrecord"
    return None


def file_format(path: str) -> str:
    """Tell what a single file is: a container of records, or a list."""
    try:
        start = storage.read_start(path, _START)
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror or error}") from None
    found = record_format(path)
    if found is not None:
        return found
    kind = image_type(start)
    if kind is not None and _TEXT.match(start) is None:
        raise DataError(f"{path} is a single {kind} image; name the folder it is in, or a list of files")
    if start and (_TEXT.match(start) or split_name(path)[1].lower() in _TEXT_ENDINGS):
        return "list"
    by_name = {"rec": "recordio", "tar": "webdataset"}.get(split_name(path)[1].lower())
    if by_name is None and ".tfrecord" in path:
        by_name = "tfrecord"
    if by_name is not None and start:  # damaged at its start: the scan names the place
        return by_name
    what = f"begins with {start[:8]!r}" if start else "is empty"
    raise DataError(f"{path} {what}: it is no TFRecord, RecordIO or tar file, and no list of files")


def is_beside(name: str) -> bool:
    """Tell whether a file accompanies data: an index, names, notes, an image."""
    ending = split_name(name)[1].lower()
    return ending in _BESIDE or ending in IMAGE_EXTENSIONS


def is_list_name(name: str) -> bool:
    """Tell whether the name of a file in a folder is that of a list."""
    return _LIST_NAMES.fullmatch(name) is not None


def is_own_list_name(name: str) -> bool:
    """Tell whether a list has the name that our writers give it."""
    return _OWN_LIST_NAMES.fullmatch(name) is not None


def is_list(path: str) -> bool:
    """Tell whether a file with such a name is one: a table needs a column of paths."""
    if not path.lower().endswith(".csv"):
        return True
    header = storage.read_start(path, 1 << 16).partition(b"\n")[0].decode("utf-8-sig", "replace")
    columns = {name.strip().strip('"').lower() for name in header.split(",")}
    from pixelmill.formats.adapters.file_list import COLUMNS

    return not columns.isdisjoint(COLUMNS["path"])


def _is_tfrecord(start: bytes) -> bool:
    if len(start) < 12:
        return False
    head, _ = _core.tfrecord_frame(int.from_bytes(start[:8], "little"), 0)
    return head == start[:12]


def _is_old_tar(start: bytes) -> bool:
    field = start[148:156].strip(b" \0")
    if len(start) < 512 or not field or any(digit not in b"01234567" for digit in field):
        return False
    return int(field, 8) == sum(start[:148]) + sum(start[156:512]) + 8 * 32
