"""What writers of record files share: records are gathered and written a megabyte at a time."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol, Self

from pixelmill import _core
from pixelmill.errors import OutputError


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
        self._output = _core.RecordOutput(partial(_write_all, stream), position)

    def flush(self) -> None:
        """Hand everything to the stream."""
        self._output.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.flush()


def _write_all(stream: Writable, data: memoryview) -> None:
    """Write all of it, also to a stream that takes only a part at a time."""
    while len(data):
        written = stream.write(data)
        if not written:
            raise OutputError(f"the stream {stream!r} takes no more bytes, {len(data)} are left")
        data = data[written:]
