"""Files of other programs that are recognized but not read: what they are, and a way in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pixelmill import storage
from pixelmill.formats.optional_images import TITLES, heif_type, is_readable, way_in
from pixelmill.formats.sample import IMAGE_EXTENSIONS, split_name

_LOOK = 4096
_COCO = "export COCO, YOLO or Pascal VOC instead, which are read"


@dataclass(frozen=True)
class Foreign:
    """A kind of file.

    Attributes:
        title: What messages call it, such as `an HDF5 file`.
        way: What to do.
    """

    title: str
    way: str

    def __str__(self) -> str:
        return f"{self.title}, which is not read; {self.way}"


_STARTS = (
    (b"\x89HDF\r\n\x1a\n", Foreign("an HDF5 file", "save its arrays as npy files, or its images as files")),
    (
        b"MATLAB 5.0 MAT-file",
        Foreign("a MATLAB file", "load it with scipy.io.loadmat and save npy files or a CSV table"),
    ),
    (b"SQLite format 3\0", Foreign("an SQLite database", "export a CSV table and image files")),
    (b"\x80\x02", Foreign("a pickle", "it could run code when loaded; save npy files or a CSV table")),
    (b"\x80\x03", Foreign("a pickle", "it could run code when loaded; save npy files or a CSV table")),
    (b"\x80\x04\x95", Foreign("a pickle", "it could run code when loaded; save npy files or a CSV table")),
    (b"\x80\x05\x95", Foreign("a pickle", "it could run code when loaded; save npy files or a CSV table")),
    (b"Rar!\x1a\x07", Foreign("a RAR archive", "unpack it and name the folder")),
    (b"7z\xbc\xaf\x27\x1c", Foreign("a 7z archive", "unpack it and name the folder")),
    (b"BZh", Foreign("a bzip2 file", "unpack it and name the file or folder")),
    (b"\xfd7zXZ\0", Foreign("an xz file", "unpack it and name the file or folder")),
    (b"\x28\xb5\x2f\xfd", Foreign("a zstd file", "unpack it and name the file or folder")),
)
_TEXTS = (
    (re.compile(rb'"shapes"\s*:.*"imagePath"|"imagePath"\s*:.*"shapes"', re.DOTALL), "labelme annotations"),
    (re.compile(rb"<annotations>.*<(?:version|meta|image)\b", re.DOTALL), "CVAT annotations"),
    (re.compile(rb'"_via_(?:settings|img_metadata)"'), "annotations of the VGG Image Annotator"),
    (
        re.compile(rb'\A\s*\[\s*\{.*"(?:annotations|completions|predictions)".*"data"', re.DOTALL),
        "a Label Studio export",
    ),
    (
        re.compile(rb'\A\s*\[\s*\{.*"data".*"(?:annotations|completions|predictions)"', re.DOTALL),
        "a Label Studio export",
    ),
    (re.compile(rb"\A\s*ImageID,(?:Source|LabelName)", re.IGNORECASE), "an Open Images table"),
    (re.compile(rb'"categories"\s*:.*"label_cat"|"dm_format_version"', re.DOTALL), "Datumaro annotations"),
)


def kind_of(path: str) -> Foreign | None:
    """Return what a file is, if it is of a known kind that is not read; None for any other."""
    try:
        start = storage.read_start(path, _LOOK)
    except OSError:
        return None
    for magic, found in _STARTS:
        if start.startswith(magic):
            return found
    image = heif_type(start)
    if image is not None and not is_readable(image):
        return Foreign(TITLES[image], way_in(image))
    if split_name(path)[1].lower() in ("json", "xml", "csv", "txt"):
        return next((Foreign(title, _COCO) for pattern, title in _TEXTS if pattern.search(start)), None)
    return None


def _exists(path: str) -> bool:
    """Whether a hidden file exists, which listings leave out; addresses are not asked for it."""
    if storage.is_remote(path):
        return False
    try:
        storage.stat(path)
    except OSError:
        return False
    return True


def folder_kind(folder: str, names: Sequence[str]) -> Foreign | None:
    """Return what a folder is, if it is a dataset of a known kind that is not read."""
    if any(split_name(name)[1].lower() in IMAGE_EXTENSIONS for name in names):
        return None
    if "zarr.json" in names or any(_exists(storage.join(folder, name)) for name in (".zarray", ".zgroup")):
        return Foreign("a Zarr store", "save its arrays as npy files")
    if "saved_model.pb" in names or "checkpoint" in names or any(name.endswith(".ckpt.index") for name in names):
        return Foreign("a TensorFlow model or checkpoint", "name the folder of the data")
    if "index.json" in names:
        start = storage.read_start(storage.join(folder, "index.json"), _LOOK)
        if b'"shards"' in start and b'"mds"' in start:
            return Foreign("an MDS dataset of Streaming", "write it as WebDataset or Parquet, which are read")
        if b'"chunks"' in start and b'"data_format"' in start:
            return Foreign("a LitData dataset", "write it as WebDataset or Parquet, which are read")
    return None
