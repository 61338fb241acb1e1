"""The writer of TFRecord datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from pixelmill.errors import ArgumentError
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.sample import Sample
from pixelmill.formats.tfrecord.frames import RecordWriter
from pixelmill.formats.tfrecord.keys import CONVENTIONS, INCEPTION, to_features


class TFRecordWriter(ShardWriter):
    """Writes Examples and the index that DALI reads.

    Args:
        open_file: Opens a file of the shard.
        names: The files `records` and `index`.
        keys: `inception`, `tfds` or `raw`.
    """

    def __init__(
        self, open_file: Callable[[str], Output], names: Mapping[str, str], *, keys: str = INCEPTION.name
    ) -> None:
        super().__init__(open_file, names)
        if keys not in CONVENTIONS:
            raise ArgumentError(f"tfrecord: keys must be one of {', '.join(CONVENTIONS)}, got {keys!r}")
        self._keys = CONVENTIONS[keys]
        self._stack = ExitStack()
        stream = self._stack.enter_context(open_file(names["records"]))
        self._writer = self._stack.enter_context(RecordWriter(stream))
        self._index: list[tuple[int, int]] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        del name
        self._index.append(self._writer.write_example(to_features(sample, self._keys)))
        self.samples += 1

    def close(self) -> None:
        self._stack.close()
        with self._open_file(self._names["index"]) as stream:
            stream.write("".join(f"{offset} {length}\n" for offset, length in self._index).encode())
