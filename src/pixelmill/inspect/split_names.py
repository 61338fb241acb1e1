"""The part of a dataset that a sample belongs to, as its path says."""

from __future__ import annotations

import re

_NAMES = {
    "train": ("train", "training"),
    "valid": ("valid", "val", "validation", "dev", "eval"),
    "test": ("test", "testing"),
}
_KNOWN = {alias: name for name, aliases in _NAMES.items() for alias in aliases}
_WILDCARD = re.compile(r"[*?\[]")
_FIRST_WORD = re.compile(r"[a-z]+(?![a-z])")


def split_of(source: str, path: str, *, is_record: bool) -> str:
    """Return `train`, `valid` or `test` if the path of a sample says so.

    Args:
        source: The dataset as the user named it; folders above it are ignored.
        path: The file of the sample.
        is_record: Whether the file holds many samples; then the beginning of its name counts too.

    Returns:
        The split; empty if the path names none.
    """
    root = _WILDCARD.split(source, maxsplit=1)[0]
    if root != source:
        root = root.rpartition("/")[0]
    below = path.removeprefix(root) if path.startswith(root) else path.rpartition("/")[2]
    *folders, name = below.strip("/").lower().split("/")
    for folder in folders:
        if folder in _KNOWN:
            return _KNOWN[folder]
    first = _FIRST_WORD.match(name) if is_record else None
    return "" if first is None else _KNOWN.get(first[0], "")
