"""Leaks on purpose, to see that a long run finds them."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable

BYTES = 10_000  # per epoch, as one lost byte for each sample of the default number of files

_kept: list[object] = []
_forever = threading.Event()


def _heap() -> None:
    """Lose memory of malloc that was written to."""
    ctypes.CDLL(None).calloc(ctypes.c_size_t(1), ctypes.c_size_t(BYTES))


def _objects() -> None:
    _kept.extend([object() for _ in range(10)])


def _file() -> None:
    os.open("/dev/null", os.O_RDONLY)


def _thread() -> None:
    threading.Thread(target=_forever.wait, daemon=True).start()


LEAKS: dict[str, Callable[[], None]] = {"heap": _heap, "objects": _objects, "file": _file, "thread": _thread}
