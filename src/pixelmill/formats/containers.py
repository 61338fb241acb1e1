"""The list of containers. A new one needs a package here in `formats` and a line in `CONTAINERS`.

This module imports neither NumPy nor any container, so that the command line can offer the names without loading them
(NumPy alone takes longer to import than `pixelmill --help` to run).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pixelmill.formats.format import Format

# The name of each container, and the package below `pixelmill.formats` that exports its `FORMAT`. Files are compared
# with the containers in this order.
CONTAINERS: Mapping[str, str] = {
    "folder": "folder",
    "list": "file_list",
    "tfrecord": "tfrecord",
    "recordio": "recordio",
    "npy": "npy",
    "csv": "csv_table",
    "webdataset": "webdataset",
    "zip": "zip",
    "pack": "pack",
    "coco": "coco",
    "yolo": "yolo",
    "voc": "voc",
    "parquet": "parquet",
    "lmdb": "lmdb",
}
FORMATS = tuple(CONTAINERS)


def get_format(name: str) -> Format:
    """Return the container with this name; KeyError if there is none."""
    package = importlib.import_module(f"pixelmill.formats.{CONTAINERS[name]}")
    found: Format = package.FORMAT
    return found


def all_formats() -> Iterator[Format]:
    """Yield all containers. Each is imported when its turn comes: together they take more memory than many an index."""
    yield from map(get_format, FORMATS)
