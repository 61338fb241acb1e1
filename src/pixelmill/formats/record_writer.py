"""What writers of record files share: records are gathered and written a megabyte at a time."""

from __future__ import annotations

import io
from functools import partial
from typing import Any, Protocol, Self

from pixelmill import _core
from pixelmill.errors import OutputError
from pixelmill.formats.room import Room

_OWN_FILES = (io.BufferedWriter, io.FileIO)  # what open() gives


class Writable(Protocol):
    """Anything that takes bytes."""

    def write(self, data: Any, /) -> int:
        """Append bytes, all of them or only the first; tell how many."""


class GatheringWriter:
    """Writes to a stream in large pieces. `flush`, or the end of a `with` block, writes the last of them.

    Args:
        stream: A binary file that stands where the first record is to begin. It must not keep the memory it is given.
        position: The byte of the file that this is.
    """

    def __init__(self, stream: Writable, *, position: int = 0) -> None:
        room = _room_behind(stream) if isinstance(stream, _OWN_FILES) else None
        self._room = room
        self._output = _core.RecordOutput(partial(_write_all, stream, room), position)

    def flush(self) -> None:
        """Hand everything to the stream."""
        self._output.flush()
        if self._room is not None:
            self._room.give_back()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.flush()


def _room_behind(stream: io.BufferedWriter | io.FileIO) -> Room | None:
    stream.flush()
    return Room(stream.fileno(), stream.tell()) if stream.seekable() else None


def _write_all(stream: Writable, room: Room | None, data: memoryview) -> None:
    """Write all of it, also to a stream that takes only a part at a time."""
    if room is not None:
        room.take(len(data))
    while len(data):
        written = stream.write(data)
        if not written:
            raise OutputError(f"the stream {stream!r} takes no more bytes, {len(data)} are left")
        data = data[written:]
