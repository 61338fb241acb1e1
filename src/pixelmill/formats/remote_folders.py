"""Folders of files at addresses, by their listings: these name sizes and versions, so no file is asked for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pixelmill import storage
from pixelmill.errors import ArgumentError
from pixelmill.formats.index import Index

Entries = dict[str, storage.FileStat | None]


def class_folders(root: str, *, is_class: Callable[[str], bool]) -> list[tuple[str, Entries]]:
    """Return the address of each chosen folder in `root` and its files, both sorted by the bytes of their names."""
    folders = [storage.join(root, name) for name, entry in _sorted(_listed(root)) if entry is None and is_class(name)]
    listings = storage.together(_listed, folders)
    return [(folder, _files(entries)) for folder, entries in zip(folders, listings, strict=True)]


def below_root(root: str, *, is_chosen: Callable[[str], bool]) -> Index:
    """Index the chosen files of `root` and of the folders directly in it; those of the root itself come first."""
    first = _listed(root)
    folders = [storage.join(root, name) for name, entry in _sorted(first) if entry is None]
    listings = [first, *storage.together(_listed, folders)]
    paths: list[str] = []
    stats: list[storage.FileStat | None] = []
    for folder, entries in zip([root, *folders], listings, strict=True):
        chosen = {name: entry for name, entry in _files(entries).items() if is_chosen(name)}
        paths += [storage.join(folder, name) for name in chosen]
        stats += chosen.values()
    if not paths:
        raise ArgumentError(f"file_root: no file in {root} or in a folder in it is chosen by file_filter")
    return described(Index(paths, root=f"{root.rstrip('/')}/"), stats)


def described(index: Index, stats: Sequence[storage.FileStat | None]) -> Index:
    """Add sizes and versions to an index of whole files, if all of them are known."""
    known = [stat for stat in stats if stat is not None]
    if not known or len(known) < len(stats):
        return index
    sizes = np.array([stat.size for stat in known], np.int64)
    return replace(index, sizes=sizes, versions=[version_of(stat) for stat in known])


def version_of(stat: storage.FileStat) -> str:
    """Return what changes with the content of a file: its ETag, else its time; empty if neither is known."""
    return stat.version or (f"{stat.size}-{stat.modified}" if stat.modified else "")


def _listed(folder: str) -> Entries:
    try:
        return storage.listing(folder)
    except OSError as error:
        raise ArgumentError(f"file_root: {error.strerror}: {folder}") from None


def _sorted(entries: Entries) -> list[tuple[str, storage.FileStat | None]]:
    return sorted(entries.items(), key=lambda entry: os.fsencode(entry[0]))


def _files(entries: Entries) -> Entries:
    return {name: entry for name, entry in _sorted(entries) if entry is not None}
