"""The keys of databases: names of samples, and what programs keep beside them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import numpy as np

from pixelmill.formats.index import Array
from pixelmill.formats.sample import IMAGE_EXTENSIONS, image_type, split_name

# What tensorpack, scripts that convert image folders, and programs for text recognition keep beside the samples.
_BOOKKEEPING = re.compile(rb"__\w+__|num[-_]?samples|length|keys|nSamples|dataset[-_]?size|meta(?:data|_info)?")
_NUMBERED = re.compile(r"\d+_(.+)", re.DOTALL)  # the keys that Caffe's convert_imageset writes
PAIR = re.compile(rb"image-(\d+)")  # the keys of images in databases for text recognition; texts are at `label-`


class KeyTable:
    """The keys of all samples, in one piece of memory: a database may have millions."""

    def __init__(self, keys: Iterable[bytes]) -> None:
        listed = list(keys)
        self._bytes = b"".join(listed)
        lengths: Array = np.fromiter(map(len, listed), np.int64, len(listed))
        self._ends: Array = np.cumsum(lengths)

    def __getitem__(self, number: int) -> bytes:
        return self._bytes[int(self._ends[number - 1]) if number else 0 : int(self._ends[number])]


def is_bookkeeping(key: bytes) -> bool:
    """Whether a key is that of numbers about the database, not of a sample."""
    return _BOOKKEEPING.fullmatch(key) is not None


def name_of(key: bytes, image: bytes) -> tuple[str, str]:
    """Return key and extension of a sample: those of its file, if the key names one."""
    text = os.fsdecode(key)
    numbered = _NUMBERED.fullmatch(text)
    stem, extension = split_name(numbered[1] if numbered else text)
    if extension.lower() in IMAGE_EXTENSIONS:
        return stem, extension
    return text, image_type(image[:64]) or "bin"


def key_of(number: int, name: str) -> bytes:
    """Return the key of a sample that is written: its number, so that keys are in order, and its name."""
    return b"%010d_%b" % (number, os.fsencode(name))
