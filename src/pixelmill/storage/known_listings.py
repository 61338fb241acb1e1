"""Listings that are kept while a dataset is opened: recognizing a container and opening it ask for the same folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pixelmill.storage.local import FileStat

Entries = dict[str, FileStat | None]

_known: ContextVar[dict[str, Entries] | None] = ContextVar("known_listings", default=None)


@contextmanager
def keeping_listings() -> Iterator[None]:
    """Ask for each folder at an address once inside of a `with` block, and look up files in what was listed."""
    if _known.get() is not None:
        yield
        return
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def listed(folder: str) -> Entries | None:
    """Return the entries of a folder, None if they are not known."""
    known = _known.get()
    return None if known is None else known.get(folder.rstrip("/"))


def keep(folder: str, entries: Entries) -> Entries:
    """Keep the entries of a folder, inside of `keeping_listings`; return them."""
    known = _known.get()
    if known is not None:
        known[folder.rstrip("/")] = entries
    return entries


def listed_file(path: str) -> FileStat | None:
    """Return what a listing that is kept says of a file."""
    folder, _, name = path.rpartition("/")
    return (listed(folder) or {}).get(name)
