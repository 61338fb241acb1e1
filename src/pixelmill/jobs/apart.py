"""The check that a job does not write into what it reads."""

from __future__ import annotations

import functools
import os
from pathlib import Path, PurePosixPath

from pixelmill import storage
from pixelmill.errors import ArgumentError

_PATTERN = frozenset("*?[")


def check_apart(command: str, source: str | tuple[str, ...], output: str, *, adding: bool = False) -> None:
    """Raise ArgumentError if the output is the source, inside of it, or around it.

    Files of the output would be read as samples in the next run, or replace those that are being read.

    Args:
        command: What messages begin with.
        source: A folder, a file, a pattern or an address, or several files.
        output: The folder or address to write to.
        adding: Whether the job adds files to those in a folder: it may then write next to the files that it reads.
    """
    parts_of = functools.cache(_parts)  # many files are in few folders
    target = parts_of(storage.plain(output))
    for given in (source,) if isinstance(source, str) else source:
        path = storage.plain(given)
        if not _is_folder(path):
            folder = path.rpartition("/")[0] or ("/" if path.startswith("/") else ".")
            if parts_of(folder) == target and not adding:
                text = f"the output {output} is the folder of {given}, which is read"
                raise ArgumentError(f"{command}: {text}; choose another folder, or exists=add to write next to it")
            continue
        read = parts_of(path)
        shorter = min(len(target), len(read))
        if target[:shorter] == read[:shorter]:
            relation = "is" if target == read else "is inside of" if len(target) > len(read) else "contains"
            text = f"the output {output} {relation} the dataset that is read ({given})"
            raise ArgumentError(f"{command}: {text}; choose a folder outside of it")


def _is_folder(path: str) -> bool:
    """Whether a path is a folder. Addresses are judged by their names: asking a store about each would take long."""
    if storage.is_remote(path):
        return not PurePosixPath(path).suffix and not _PATTERN & set(path)
    return storage.is_folder(path)


def _parts(path: str) -> tuple[str, ...]:
    """Return the parts of an address, or of a path with all links followed."""
    if storage.is_remote(path):
        return PurePosixPath(path.replace("://", ":/", 1)).parts
    return Path(os.path.realpath(path)).parts
