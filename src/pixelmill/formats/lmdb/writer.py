"""The writer of LMDB databases: Caffe's Datums, with fields of ours for what they have no place for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from pixelmill.formats.annotations import difference, encode_row
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.lmdb import datum
from pixelmill.formats.lmdb.keys import key_of, name_of
from pixelmill.formats.lmdb.tree_writer import LARGEST_KEY, TreeWriter
from pixelmill.formats.sample import Sample


class LMDBWriter(ShardWriter):
    """Writes a database that Caffe, DALI and everything that reads Datums can read.

    Args:
        open_file: Opens a file of the shard.
        names: The file `records`.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        super().__init__(open_file, names)
        self._stack = ExitStack()
        self._tree = TreeWriter(self._stack.enter_context(open_file(names["records"])))

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        key = key_of(self.samples, name or sample.name)
        if len(key) > LARGEST_KEY:
            key = key_of(self.samples, "image")
        label = sample.labels[0] if len(sample.labels) == 1 else None
        if not isinstance(label, int) or not -datum.INT32 <= label < datum.INT32:
            label = None
        implied = Sample(*_implied(key, sample.image), () if label is None else (label,))
        row = difference(sample, implied=implied)
        encoded = encode_row(row) if row else b""
        self._tree.add(key, datum.encode(key, sample.image, label=label, mask=sample.mask, row=encoded))
        self.samples += 1

    def close(self) -> None:
        self._tree.close()
        self._stack.close()


def _implied(key: bytes, image: bytes) -> tuple[str, bytes, str]:
    name, extension = name_of(key, image)
    return name, b"", extension
