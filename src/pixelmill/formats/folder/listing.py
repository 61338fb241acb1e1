"""The names of all images below a folder, kept in the index cache until one of the folders changes."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pixelmill import storage
from pixelmill.formats import index_cache
from pixelmill.formats.index import Array
from pixelmill.formats.path_table import PathTable
from pixelmill.formats.sample import IMAGE_EXTENSIONS, split_name
from pixelmill.storage.file_names import are_below

ENDINGS = IMAGE_EXTENSIONS
_KIND = "folder"
# A folder that has just changed may change again without a new modification time: file systems round it.
_SETTLED_NS = 2_000_000_000


@dataclass(frozen=True, eq=False)
class Listing:
    """The images below a folder.

    Attributes:
        names: Relative names with `/`, sorted by their bytes: first those outside of class folders, then by class.
        classes: The class folders, empty ones included, sorted by their bytes.
        left_out: For each ending of other files `ENDING/NUMBER/NAME`: how many there are, and the name of the first.
    """

    names: PathTable
    classes: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def name(self, number: int) -> str:
        """Return the relative name of an image."""
        return self.names.name(number)


def load(root: str) -> Listing:
    """List the images below a folder, from the cache if no folder has changed."""
    if storage.is_remote(root):
        return _scan(root)[0]
    found = index_cache.load(root, _KIND)
    kept = None if found is None else _kept(root, found)
    if kept is not None:
        return kept
    began = time.time_ns()
    listing, folders = _scan(root)
    times = np.array([_changed(root, folder) for folder in folders], np.int64)
    if times.max(initial=0) < began - _SETTLED_NS:
        arrays = {
            "names": listing.names.names,
            "starts": listing.names.starts,
            "classes": _packed(listing.classes),
            "left_out": _packed(listing.left_out),
            "endings": _packed(sorted(ENDINGS)),
            "folders": _packed(folders),
            "times": times,
        }
        index_cache.store(root, _KIND, arrays)
        stored = index_cache.load(root, _KIND)  # memory that is shared with other processes, unlike that of the scan
        listing = (None if stored is None else _kept(root, stored)) or listing
    return listing


def _scan(root: str) -> tuple[Listing, list[str]]:
    """List the images, and all folders that were visited."""
    by_class: dict[str, list[str]] = {"": []}
    folders: list[str] = []
    others: dict[str, list[str]] = {}
    classes, _ = storage.list_folder(root)
    for folder, files in storage.walk(root):
        folders.append(folder)
        for name in files:
            ending = split_name(name)[1].lower()
            if ending not in ENDINGS and not (folder == "" and _is_own(name)):
                others.setdefault(ending, []).append(f"{folder}/{name}" if folder else name)
        own = [name for name in files if split_name(name)[1].lower() in ENDINGS]
        prefix = f"{folder}/" if folder else ""
        by_class.setdefault(folder.partition("/")[0], []).extend(prefix + name for name in own)
    names = list(by_class.pop(""))
    for folder in classes:
        names += sorted(by_class.get(folder, ()), key=os.fsencode)
    left_out = [f"{ending}/{len(found)}/{found[0]}" for ending, found in sorted(others.items())]
    return Listing(PathTable.of(names), tuple(classes), tuple(left_out)), folders


def _is_own(name: str) -> bool:
    """Whether a file belongs to a dataset as we write it."""
    return name in ("classes.txt", "manifest.json") or (name.startswith("annotations") and name.endswith(".jsonl"))


def _kept(root: str, found: dict[str, Array]) -> Listing | None:
    """Return a listing from the cache; None if a folder has changed, or if a forged name leads out of the root."""
    if found.keys() != {"names", "starts", "classes", "left_out", "endings", "folders", "times"}:
        return None
    if _unpacked(found["endings"]) != sorted(ENDINGS):  # a library that reads further kinds was installed or removed
        return None
    names = PathTable.checked(found["names"], found["starts"])
    if names is None or not names.are_below(""):
        return None
    classes, left_out, folders = (_unpacked(found[part]) for part in ("classes", "left_out", "folders"))
    if not all(re.fullmatch(r"[^/]*/[0-9]{1,18}/.+", line, re.DOTALL) for line in left_out):
        return None
    if not (are_below(classes) and folders[:1] == [""] and are_below(folders[1:])):
        return None
    try:
        is_unchanged = [_changed(root, folder) for folder in folders] == found["times"].tolist()
    except OSError:
        return None
    return Listing(names, tuple(classes), tuple(left_out)) if is_unchanged else None


def _changed(root: str, folder: str) -> int:
    return os.stat(storage.join(root, folder) if folder else root).st_mtime_ns  # noqa: PTH116 - this is called often


def _packed(names: Sequence[str]) -> Array:
    return np.frombuffer(os.fsencode("".join(f"{name}\0" for name in names)), np.uint8)


def _unpacked(packed: Array) -> list[str]:
    return os.fsdecode(packed.tobytes()).split("\0")[:-1]
