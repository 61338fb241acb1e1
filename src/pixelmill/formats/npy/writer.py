"""The writer of npy files with a CSV table of them."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Mapping

from pixelmill.formats.annotations import difference
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.npy.wrapping import wrapped
from pixelmill.formats.sample import Sample, format_label
from pixelmill.storage.file_names import UniqueNames

_HEADER = ("image", "labels", "class", "mask", "key", "extension", "boxes", "box_labels", "objects", "split", "extra")
_JSON = ("boxes", "objects", "extra")  # columns of JSON
_IMAGES, _MASKS = "images", "masks"


class NpyWriter(ShardWriter):
    """Writes arrays and a table of them.

    Args:
        open_file: Opens a file of the shard.
        names: The file `list`: the table.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        super().__init__(open_file, names)
        self._unique = UniqueNames()
        self._text = io.StringIO(newline="")
        self._table = csv.writer(self._text, lineterminator="\n")
        self._table.writerow(_HEADER)

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        stem = name or self._unique.take(sample.key, number=self.samples)
        image, mask = self._files(sample, stem)
        for name, data in (image, *([mask] if mask is not None else ())):
            with self._open_file(name) as stream:
                stream.write(data)
        self._table.writerow(_cells(sample, image[0], "" if mask is None else mask[0]))
        self.samples += 1

    def _files(self, sample: Sample, stem: str) -> tuple[tuple[str, bytes], tuple[str, bytes] | None]:
        """Return name and content of the files of a sample: its image, and its mask if it has one."""
        image = wrapped(sample.image) if sample.extension != "npy" else sample.image
        mask = None if sample.mask is None else (f"{_MASKS}/{stem}.npy", wrapped(sample.mask))
        return (f"{_IMAGES}/{stem}.npy", image), mask

    def close(self) -> None:
        with self._open_file(self._names["list"]) as stream:
            stream.write(os.fsencode(self._text.getvalue()))


def _cells(sample: Sample, image: str, mask: str) -> list[str]:
    row = difference(sample, implied=Sample("", b"", ""))
    texts = {name: json.dumps(row[name], separators=(",", ":")) for name in _JSON if row.get(name) is not None}
    return [
        image,
        " ".join(format_label(label) for label in sample.labels),
        sample.class_name or "",
        mask,
        sample.key,
        sample.extension,
        texts.get("boxes", ""),
        " ".join(str(label) for label in row.get("box_labels", ())),
        texts.get("objects", ""),
        sample.split or "",
        texts.get("extra", ""),
    ]
