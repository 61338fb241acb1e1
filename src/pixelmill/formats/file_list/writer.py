"""The writer of image files with a text list of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from pixelmill.formats.annotations import difference, encode_row
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.sample import Sample, file_ending, format_label, image_type, join_name, split_name
from pixelmill.storage.file_names import UniqueNames, is_writable

MASKS = "masks"


class ListWriter(ShardWriter):
    """Writes image files and a text list of them.

    Args:
        open_file: Opens a file of the shard.
        names: The files `list` and `annotations`.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        super().__init__(open_file, names)
        self._unique = UniqueNames()
        self._lines: list[str] = []
        self._rows: list[bytes] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        ending = file_ending(sample)
        stem = name or self._unique.take(sample.key, number=self.samples, ending=ending, is_allowed=is_listable)
        path = join_name(stem, ending)
        implied = Sample(*_key_of(path), labels=sample.labels)
        row = difference(sample, implied=implied)
        if sample.mask is not None:
            # The full name of the image, since two images may differ only in their endings.
            row["mask_file"] = f"{MASKS}/{path}.{image_type(sample.mask) or 'png'}"
            with self._open_file(row["mask_file"]) as stream:
                stream.write(sample.mask)
        if row:
            self._rows.append(encode_row({"path": path, **row}))
        self._lines.append("\t".join([path, *(format_label(label) for label in sample.labels)]))
        with self._open_file(path) as stream:
            stream.write(sample.image)
        self.samples += 1

    def close(self) -> None:
        with self._open_file(self._names["list"]) as stream:
            stream.write(os.fsencode("".join(f"{line}\n" for line in self._lines)))
        if self._rows:
            with self._open_file(self._names["annotations"]) as stream:
                stream.write(b"".join(row + b"\n" for row in self._rows))


def is_listable(name: str) -> bool:
    """Whether a name can stand in a list: it is plain, has no blanks at its ends, and is not below the masks."""
    return is_writable(name) and name == name.strip() and not name.casefold().startswith(f"{MASKS}/")


def _key_of(path: str) -> tuple[str, bytes, str]:
    key, extension = split_name(path)
    return key, b"", extension
