"""The writer of RecordIO datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

import numpy as np

from pixelmill.formats.annotations import difference, encode_row
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.recordio.lists import ListEntry, index_text, list_text
from pixelmill.formats.recordio.records import RecordWriter
from pixelmill.formats.sample import Sample, image_type, split_name


class RecordIOWriter(ShardWriter):
    """Writes records, their index, and their names.

    Args:
        open_file: Opens a file of the shard.
        names: The files `records`, `index`, `list` and `annotations`.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        super().__init__(open_file, names)
        self._stack = ExitStack()
        stream = self._stack.enter_context(open_file(names["records"]))
        self._writer = self._stack.enter_context(RecordWriter(stream))
        self._index: list[tuple[int, int]] = []
        self._list: list[ListEntry] = []
        self._rows: list[bytes] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        number = self.samples
        labels = [float(label) for label in sample.labels] or [0.0]
        path = name or sample.name
        if any(c in path for c in "\t\n\r") or path != path.strip() or not path:
            path = f"sample-{number:08d}.{image_type(sample.image) or 'bin'}"
        key, extension = split_name(path)
        # A label that is not exact in float32 differs from the implied one, so the row holds it in full.
        implied = Sample(key, b"", extension, tuple(np.asarray(labels, np.float32).tolist()))
        row = difference(sample, implied=implied, mask=True)
        offset, _ = self._writer.write_image(labels, number, sample.image)
        self._index.append((number, offset))
        self._list.append(ListEntry(number, tuple(labels), path))
        if row:
            self._rows.append(encode_row({"id": number, **row}))
        self.samples += 1

    def close(self) -> None:
        self._stack.close()
        with self._open_file(self._names["index"]) as stream:
            stream.write(index_text(self._index))
        with self._open_file(self._names["list"]) as stream:
            stream.write(list_text(self._list))
        if self._rows:
            with self._open_file(self._names["annotations"]) as stream:
                stream.write(b"".join(row + b"\n" for row in self._rows))
