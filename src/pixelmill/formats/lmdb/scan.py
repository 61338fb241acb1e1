"""What is in a database: which values are samples, and of which kind they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

from pixelmill.errors import DataError
from pixelmill.formats.lmdb import tree
from pixelmill.formats.lmdb.datum import Datum
from pixelmill.formats.lmdb.keys import PAIR, is_bookkeeping
from pixelmill.formats.lmdb.records import IMAGE_START, Kind, kind_of
from pixelmill.formats.sample import image_type

_SAMPLED = 16  # values whose kind is looked at, evenly spread

Range = tuple[int, int]  # first byte and length


@dataclass
class Content:
    """The content of a database.

    Attributes:
        values: The values that are samples, in the order of their keys.
        kinds: The kinds of some of them, those that are not read left out.
        beside: The values that belong to a sample, by its key: what they are called, and where they are.
        others: The keys of values that are neither.
        has_pixels: Whether some images are pixels instead of encoded.
    """

    values: list[tree.Value]
    kinds: set[Kind] = field(default_factory=set)
    beside: dict[bytes, list[tuple[str, Range]]] = field(default_factory=dict)
    others: list[bytes] = field(default_factory=list)
    has_pixels: bool = False


def scan(path: str, *, shown: str) -> Content:
    """Find the samples of a database; DataError if it is damaged, or if none of its values is of a kind that is read.

    Args:
        path: The file, on this machine.
        shown: The file as the user named it.
    """
    with tree.opened(path) as memory:
        content = Content([])
        for value in tree.values(memory, shown):
            start = slice(value.offset, value.offset + min(value.length, IMAGE_START))
            if is_bookkeeping(value.key) and image_type(bytes(memory[start])) is None:
                content.others.append(value.key)
            else:
                content.values.append(value)
        _pair(content)
        _look(content, memory, shown)
        return content


def _pair(content: Content) -> None:
    """Join the values of databases for text recognition: those of `image-…` and `label-…` with the same number."""
    images = {match[1]: value for value in content.values if (match := PAIR.fullmatch(value.key))}
    if not images:
        return
    for value in content.values:
        name, _, number = value.key.rpartition(b"-")
        image = images.get(number)
        if image is None:
            content.others.append(value.key)
        elif value is not image:
            place = name.decode("utf-8", "replace"), (value.offset, value.length)
            content.beside.setdefault(image.key, []).append(place)
    content.values = [value for value in content.values if PAIR.fullmatch(value.key)]


def _look(content: Content, memory: memoryview, shown: str) -> None:
    """Look at some values."""
    unread: list[tuple[bytes, str]] = []
    for value in _spread(content.values):
        data = bytes(memory[value.offset : value.offset + value.length])
        kind = kind_of(data)
        if kind not in get_args(Kind):
            unread.append((value.key, kind))
            continue
        content.kinds.add(kind)  # type: ignore[arg-type]
        if kind == "datum":
            content.has_pixels |= not Datum.parse(memoryview(data), 0, len(data)).is_encoded
    if unread and not content.kinds:
        key, kind = unread[0]
        way = "save the images as files or as Caffe Datums"
        raise DataError(f"{shown} is an LMDB database, but the value of {key[:60]!r} is {kind}; {way}")


def _spread(values: Sequence[tree.Value]) -> list[tree.Value]:
    places = {number * (len(values) - 1) // (_SAMPLED - 1) for number in range(_SAMPLED)} if values else set()
    return [values[place] for place in sorted(places)]
