"""Files on this machine and at addresses: listing and reading them, the cache, and names that come from data."""

from pixelmill.storage.files import (
    MAX_FILE_BYTES,
    has_file,
    is_folder,
    is_remote,
    join,
    list_folder,
    listing,
    local_path,
    local_paths,
    matching,
    plain,
    read_file,
    read_pieces,
    read_range,
    read_start,
    refuse_remote,
    stat,
    stats,
    together,
    walk,
)
from pixelmill.storage.known_listings import keeping_listings
from pixelmill.storage.local import FileStat, OpenFiles, anchored, working_folder
from pixelmill.storage.options import StorageOptions, using
from pixelmill.storage.remote import is_web

__all__ = [
    "MAX_FILE_BYTES",
    "FileStat",
    "OpenFiles",
    "StorageOptions",
    "anchored",
    "has_file",
    "is_folder",
    "is_remote",
    "is_web",
    "join",
    "keeping_listings",
    "list_folder",
    "listing",
    "local_path",
    "local_paths",
    "matching",
    "plain",
    "read_file",
    "read_pieces",
    "read_range",
    "read_start",
    "refuse_remote",
    "stat",
    "stats",
    "together",
    "using",
    "walk",
    "working_folder",
]
