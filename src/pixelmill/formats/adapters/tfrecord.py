"""TFRecord files of tf.train.Example as a dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import example, tfrecord, tfrecord_files
from pixelmill.formats.adapters.ranges import RangeReader, offsets_and_lengths
from pixelmill.formats.adapters.records import check_sources, numbers_within, scan_all, stem
from pixelmill.formats.adapters.tfrecord_keys import CONVENTIONS, INCEPTION, Keys, convention_of, to_features, to_sample
from pixelmill.formats.dataset import Dataset, Output, ShardWriter
from pixelmill.formats.sample import Sample


class TFRecordDataset(Dataset):
    """The Examples of one or several files.

    Args:
        source: What the user named.
        files: The record files.
    """

    format = "tfrecord"

    def __init__(self, source: str, *, files: Sequence[str]) -> None:
        self.source = source
        self._names = check_sources(files, format="tfrecord")
        found = scan_all(self._names, tfrecord_files.open_file, places=offsets_and_lengths)
        self.index, self.faults = found.index, found.faults
        self._ranges = RangeReader()
        self._within = numbers_within(self.index)
        self._stems = [stem(name) for name in self._names]

    def sample(self, number: int) -> Sample:
        file = int(self.index.files[number])
        path, offset = self.place(number)
        try:
            framed = self._ranges.read(path, offset or 0, int(self.index.lengths[number]))
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        try:
            view = tfrecord.payload_view(framed, path=path, offset=offset or 0, number=number)
            features = example.decode(view)
            keys = self._keys(features)
            return to_sample(features, keys, fallback_key=lambda: f"{self._stems[file]}-{self._within[number]:08d}")
        except DataError as error:
            kind = error.events[0].kind if error.events else "corrupt"
            message = error.events[0].message if error.events else str(error)
            raise self.error(number, kind, message) from None

    def size(self, number: int) -> int:
        return int(self.index.lengths[number])

    @property
    def layout(self) -> str:
        for number in range(min(len(self), 16)):
            path, offset = self.place(number)
            framed = self._ranges.read(path, offset or 0, int(self.index.lengths[number]))
            try:
                keys = convention_of(example.decode(tfrecord.payload_view(framed)))
            except DataError:
                continue
            return f"{keys.name} keys" if keys else "unknown keys"
        return "unknown keys"

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self._names)

    def _keys(self, features: example.Example) -> Keys:
        keys = convention_of(features)
        if keys is None:
            known = ", ".join(dict.fromkeys(repr(keys.image) for keys in CONVENTIONS.values()))
            there = ", ".join(repr(name) for name in sorted(features)[:8]) or "nothing"
            raise DataError(f"no image: one of the features {known} is needed, the record has {there}")
        return keys


class TFRecordWriter(ShardWriter):
    """Writes Examples and the index that DALI reads.

    Args:
        open_file: Opens a file of the shard.
        names: `records` and `index`.
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
        self._writer = self._stack.enter_context(tfrecord.RecordWriter(stream))
        self._index: list[tuple[int, int]] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        del name
        self._index.append(self._writer.write_example(to_features(sample, self._keys)))
        self.samples += 1

    def close(self) -> None:
        self._stack.close()
        with self._open_file(self._names["index"]) as stream:
            stream.write("".join(f"{offset} {length}\n" for offset, length in self._index).encode())
