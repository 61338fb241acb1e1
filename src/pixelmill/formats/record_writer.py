"""The buffered writer of all record files: records are collected and written a megabyte at a time."""

from __future__ import annotations

import io
from functools import partial
from typing import Any, Protocol, Self

from pixelmill import _core
from pixelmill.errors import OutputError
from pixelmill.storage.preallocate import Preallocation

_OWN_FILES = (io.BufferedWriter, io.FileIO)  # the types that open() returns


class Writable(Protocol):
    """A stream that takes bytes."""

    def write(self, data: Any, /) -> int:  # any buffer; Python 3.11 has no type for it
        """Append bytes and return how many were taken."""


class GatheringWriter:
    """Writes to a stream in large pieces. `flush`, or the end of a `with` block, writes the rest.

    Args:
        stream: A binary file, positioned where the first record begins. It must not keep the memory passed to it.
        position: The offset of this position in the file.
    """

    def __init__(self, stream: Writable, *, position: int = 0) -> None:
        self._reserved = _preallocation(stream) if isinstance(stream, _OWN_FILES) else None
        self._output = _core.RecordOutput(partial(_write_all, stream, self._reserved), position)

    def flush(self) -> None:
        """Write everything to the stream."""
        self._output.flush()
        if self._reserved is not None:
            self._reserved.give_back()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.flush()


def _preallocation(stream: io.BufferedWriter | io.FileIO) -> Preallocation | None:
    stream.flush()
    return Preallocation(stream.fileno(), stream.tell()) if stream.seekable() else None


def _write_all(stream: Writable, reserved: Preallocation | None, data: memoryview) -> None:
    """Write all of `data`, also to a stream that takes only a part at a time."""
    if reserved is not None:
        reserved.take(len(data))
    while len(data):
        written = stream.write(data)
        if not written:
            raise OutputError(f"the stream {stream!r} takes no more bytes, {len(data)} are left")
        data = data[written:]
