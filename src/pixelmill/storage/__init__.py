"""Files on this machine and at addresses: listing and reading them, the cache, and names that come from data."""

from pixelmill.storage.files import (
    MAX_FILE_BYTES,
    is_folder,
    is_remote,
    join,
    list_folder,
    local_path,
    matching,
    read_file,
    read_pieces,
    read_range,
    read_start,
    stat,
    walk,
)
from pixelmill.storage.local import FileStat, OpenFiles

__all__ = [
    "MAX_FILE_BYTES",
    "FileStat",
    "OpenFiles",
    "is_folder",
    "is_remote",
    "join",
    "list_folder",
    "local_path",
    "matching",
    "read_file",
    "read_pieces",
    "read_range",
    "read_start",
    "stat",
    "walk",
]
