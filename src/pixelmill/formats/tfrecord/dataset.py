"""TFRecord files of tf.train.Example as a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from pixelmill.errors import DataError
from pixelmill.formats import example
from pixelmill.formats.dataset import Dataset, ExampleKeys
from pixelmill.formats.record_files import check_sources, numbers_within, scan_all, stem
from pixelmill.formats.remote_records import offsets_and_lengths
from pixelmill.formats.sample import Sample
from pixelmill.formats.tfrecord.index import open_file
from pixelmill.formats.tfrecord.keys import CONVENTIONS, Keys, box_label_key, convention_of, to_sample
from pixelmill.formats.tfrecord.records import payload_view


class TFRecordDataset(Dataset):
    """The Examples of one or several files.

    Args:
        source: The dataset as the user named it.
        files: The record files.
    """

    format = "tfrecord"

    def __init__(self, source: str, *, files: Sequence[str]) -> None:
        self.source = source
        self._names = check_sources(files, format="tfrecord")
        found = scan_all(self._names, open_file, places=offsets_and_lengths)
        self.index, self.faults = found.index, found.faults
        self._within = numbers_within(self.index)
        self._stems = [stem(name) for name in self._names]

    def sample(self, number: int) -> Sample:
        file = int(self.index.files[number])
        path, offset = self.place(number)
        try:
            framed = self._ranges.view(path, offset or 0, int(self.index.lengths[number]))
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        try:
            view = payload_view(framed, path=path, offset=offset or 0, number=number)
            features = example.decode(view)
            keys = self._keys(features)
            return to_sample(features, keys, fallback_key=lambda: f"{self._stems[file]}-{self._within[number]:08d}")
        except DataError as error:
            kind = error.events[0].kind if error.events else "corrupt"
            message = error.events[0].message if error.events else str(error)
            raise self.error(number, kind, message) from None

    def example_keys(self) -> ExampleKeys | None:
        """Judge the convention by the first record that can be read; None for pixels and for unknown keys."""
        for number in range(len(self)):
            path, offset = self.place(number)
            framed = self._ranges.read(path, offset or 0, int(self.index.lengths[number]))
            try:
                features = example.decode(payload_view(framed))
            except DataError:
                continue
            keys = convention_of(features)
            if keys is None or keys.shape is not None:
                return None
            label = features.get(keys.label)
            is_float = label is not None and label.kind == "float"
            return ExampleKeys(
                keys.image, keys.label, is_float, keys.box_sides, box_label_key(features, keys), keys.mask
            )
        return None

    def size(self, number: int) -> int:
        return int(self.index.lengths[number])

    @cached_property
    def layout(self) -> str:
        for number in range(min(len(self), 16)):
            path, offset = self.place(number)
            framed = self._ranges.read(path, offset or 0, int(self.index.lengths[number]))
            try:
                keys = convention_of(example.decode(payload_view(framed)))
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
