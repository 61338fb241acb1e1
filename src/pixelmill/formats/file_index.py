"""The index of `readers.file` and `readers.numpy`: class folders, a list in a text file, or a list of paths."""

# ruff: noqa: PTH118, PTH120 - pathlib would rewrite the paths, which are to stay as they were given
from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError, unreadable
from pixelmill.formats import remote_folders, shared_index
from pixelmill.formats.index import INDEX_BYTES, Index, is_count
from pixelmill.formats.path_table import PathTable
from pixelmill.storage.file_names import is_below, resolve_below
from pixelmill.storage.local import is_file_entry, is_folder_entry

_LARGEST_LABEL = 2**31 - 1
IMAGE_FILTERS = tuple(
    f"*.{ending}"
    for ending in "jpg jpeg png bmp tif tiff pnm ppm pgm pbm jp2 webp flac ogg wav".split()  # noqa: SIM905
)


def from_root(
    root: str,
    *,
    filters: Sequence[str] = IMAGE_FILTERS,
    folder_filters: Sequence[str] = ("*",),
    case_sensitive: bool = False,
) -> Index:
    """Index the files of the class folders below `root`.

    Folders, sorted by their bytes and including empty ones, number the classes; the files of each are sorted likewise.
    Files directly in `root` and folders below the class folders are not read.
    """
    root = storage.plain(root)
    if storage.is_remote(root):
        found = remote_folders.class_folders(root, is_class=lambda name: _matches(name, folder_filters, case_sensitive))
        return _of_folders(root, found, filters, case_sensitive)
    names = [name for name in _names(root, is_folder_entry) if _matches(name, folder_filters, case_sensitive)]
    folders = [os.path.join(root, name) for name in names]
    prefix = storage.join(root, "")  # with the separator that the paths have

    def build() -> Index:
        listed = ((folder, dict.fromkeys(_names(folder, _is_file))) for folder in folders)
        index = _of_folders(root, listed, filters, case_sensitive)
        return replace(index, paths=PathTable.of((path.removeprefix(prefix) for path in index.paths), prefix))

    settings = [tuple(filters), case_sensitive]
    return shared_index.cached(
        "files", settings, files=[root or ".", *folders], build=build, accept=lambda paths: paths.are_below(prefix)
    )


def _of_folders(
    root: str, found: Iterable[tuple[str, remote_folders.Entries]], filters: Sequence[str], case_sensitive: bool
) -> Index:
    """Index the files of class folders that match a filter."""
    paths: list[str] = []
    labels: list[int] = []
    stats: list[storage.FileStat | None] = []
    for label, (folder, entries) in enumerate(found):
        chosen = [name for name in entries if _matches(name, filters, case_sensitive)]
        paths += [storage.join(folder, name) for name in chosen]
        labels += [label] * len(chosen)
        stats += [entries[name] for name in chosen]
    if not paths:
        raise ArgumentError(f"file_root: no file in a folder below {root} matches any of {', '.join(filters)}")
    return remote_folders.described(_index(paths, labels, root), stats)


def from_list(path: str, *, root: str | None = None) -> Index:
    """Index the files that a text file lists: a path, blanks and a non-negative label on each line."""
    path, root = storage.plain(path), None if root is None else storage.plain(root)
    try:
        text = storage.read_file(path, limit=INDEX_BYTES)
    except OSError as error:
        raise unreadable("file_list", path, error) from None
    base = os.path.dirname(path) if root is None else root
    paths: list[str] = []
    labels: list[int] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = os.fsdecode(raw).strip()
        if not line:
            continue
        name, _, label = line.replace("\t", " ").rpartition(" ")
        if not name or not is_count(label) or int(label) > _LARGEST_LABEL:
            raise DataError(f"file_list: line {number} of {path} is not a path and a label of 0 or more: {line!r}")
        paths.append(_listed(name.rstrip(), path, root, f"line {number} of {path}"))
        labels.append(int(label))
    if not paths:
        raise DataError(f"file_list: {path} names no file")
    return _index(paths, labels, base)


def from_files(files: Sequence[str], *, labels: Sequence[int] | None = None, root: str | None = None) -> Index:
    """Index the files; without labels, the label of a file is its number in the list."""
    if not files:
        raise ArgumentError("files: the list is empty")
    if labels is not None and len(labels) != len(files):
        raise ArgumentError(f"labels: {len(labels)} labels for {len(files)} files")
    root = root and storage.plain(root)
    paths = [storage.join(root, name) if root else storage.plain(name) for name in files]
    return _index(paths, range(len(files)) if labels is None else labels, root or "")


def below_root(root: str, *, pattern: str) -> Index:
    """Index the files of `root` and of the folders directly below it that match a pattern, without labels.

    The files of the root itself come first. Folders are sorted by their bytes, and so are the files of each.
    """
    root = storage.plain(root)
    if storage.is_remote(root):
        return remote_folders.below_root(root, is_chosen=lambda name: fnmatch.fnmatchcase(name, pattern))
    paths: list[str] = []
    for folder in [".", *_names(root, is_folder_entry)]:
        names = _names(os.path.join(root, folder), is_file_entry)
        paths += [os.path.join(root, folder, name) for name in names if fnmatch.fnmatchcase(name, pattern)]
    if not paths:
        raise ArgumentError(f"file_root: no file in {root} or in a folder in it matches {pattern}")
    return Index(paths, root=os.path.join(root, ""))


def named_in_list(path: str, *, root: str | None = None) -> Index:
    """Index the files that a text file lists, one path per line."""
    path, root = storage.plain(path), None if root is None else storage.plain(root)
    try:
        text = storage.read_file(path, limit=INDEX_BYTES)
    except OSError as error:
        raise unreadable("file_list", path, error) from None
    base = os.path.dirname(path) if root is None else root
    lines = enumerate((os.fsdecode(line.removesuffix(b"\r")) for line in text.split(b"\n")), start=1)
    paths = [_listed(name, path, root, f"line {number} of {path}") for number, name in lines if name]
    if not paths:
        raise DataError(f"file_list: {path} names no file")
    return Index(paths, root=os.path.join(base, ""))


def _names(folder: str, chosen: Callable[[os.DirEntry[str]], bool]) -> list[str]:
    """Return the names of the chosen entries of a folder, sorted by their bytes."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name for entry in entries if chosen(entry)), key=os.fsencode)
    except OSError as error:
        raise unreadable("file_root", folder, error) from None


def _listed(name: str, list_path: str, root: str | None, where: str) -> str:
    """Return the path of a file that a list names; raises DataError if the name leads out of a given root.

    As in DALI, a list without a root may name any file, relative to the folder of the list or absolute: programs pass
    lists of absolute paths. Whoever takes a list from others passes `file_root`, and names stay below it.
    """
    if root is None:
        return storage.join(os.path.dirname(list_path), name)
    if is_below(name):
        return storage.join(root, name)
    hint = "file_root='/' permits any absolute path, and so does a list without file_root"
    return resolve_below(name, root=root or ".", allow_outside=False, where=f"file_list: {where}", permit=hint)


def whole_files(paths: Sequence[str | None], *, base: str) -> Index:
    """Index whole files by their sizes; None stands for an empty range. A file that is missing is lost.

    Args:
        paths: The files.
        base: The folder that relative paths start from.
    """
    known = {path: number for number, path in enumerate(dict.fromkeys(path for path in paths if path))}
    found = dict(zip(known, storage.stats(list(known), base=base), strict=True))
    lengths: list[int] = []
    lost: dict[int, tuple[str, str]] = {}
    for number, path in enumerate(paths):
        stat = found[path] if path else None
        lengths.append(stat.size if isinstance(stat, storage.FileStat) else 0)
        if isinstance(stat, OSError):
            lost[number] = ("io", f"{stat.strerror or stat}: {path}")
    files = np.array([known[path] if path else 0 for path in paths], np.int64)
    sizes = np.array(lengths, np.int64)
    return Index(list(known) or [""], files, np.zeros(len(sizes), np.int64), sizes, lost=lost, base=base)


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is to be read; a dangling link is, so that reading it reports the problem."""
    return is_file_entry(entry) or (entry.is_symlink() and not is_folder_entry(entry))


def _index(paths: list[str], labels: Sequence[int], root: str) -> Index:
    columns = {"label": np.asarray(labels, np.int32).reshape(-1, 1)}
    return Index(paths, columns=columns, root=os.path.join(root, "") if root else "")


def _matches(name: str, patterns: Sequence[str], case_sensitive: bool) -> bool:
    matches = _matcher(tuple(patterns), case_sensitive)
    return matches(name if case_sensitive else name.lower()) is not None


@lru_cache(64)
def _matcher(patterns: tuple[str, ...], case_sensitive: bool) -> Callable[[str], re.Match[str] | None]:
    """Compile all patterns into one expression: folders may hold millions of names."""
    chosen = patterns if case_sensitive else [pattern.lower() for pattern in patterns]
    return re.compile("|".join(map(fnmatch.translate, chosen)) or r"(?!)").match
