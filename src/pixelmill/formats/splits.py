"""Names of subsets: which folders and files are the parts of a divided dataset."""

from __future__ import annotations

import re
from collections.abc import Iterable

# What people call the same part; the first one is what messages suggest.
SYNONYMS = (
    ("train", "training"),
    ("val", "valid", "validation", "dev"),
    ("test", "testing"),
    ("trainval",),
    ("unlabeled",),
)
_KNOWN = {name: names[0] for names in SYNONYMS for name in names}
_PART = re.compile(rf"({'|'.join(sorted(_KNOWN, key=len, reverse=True))})[-_]?\d*", re.IGNORECASE)


def is_split(name: str) -> bool:
    """Whether a folder or a part of a file name is called like a subset: `train`, `val2017`, `Validation`."""
    return _PART.fullmatch(name) is not None


def same_split(one: str | None, other: str | None) -> bool:
    """Whether two names mean the same subset, so that `valid` finds `val`."""
    if one is None or other is None:
        return one is other
    return one == other or _known(one) == _known(other)


def split_in(stem: str) -> str | None:
    """Return the subset that the name of a file ends with, such as `train` of `instances_train2017`; None if none."""
    last = re.split(r"[-_. ]", stem)[-1]
    found = _PART.fullmatch(last)
    return found[1] if found else None


def split_folders(folders: Iterable[str]) -> list[str]:
    """Return the folders that are subsets; none if there are others beside them, which would be classes."""
    names = list(folders)
    parts = [name for name in names if is_split(name)]
    return (
        parts if parts and len(parts) == len(names) and any(_known(name) in ("train", "val") for name in parts) else []
    )


def _known(name: str) -> str:
    found = _PART.fullmatch(name)
    return _KNOWN[found[1].lower()] if found else name
