"""npy files that a CSV table names.

An encoded image is a one-dimensional array of its bytes, so that readers of arrays and decoders of images take it; an
array of pixels stays as it is.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats import facts, npy
from pixelmill.formats.adapters.file_list import ListDataset
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.names import UniqueNames, is_plain
from pixelmill.formats.sample import Sample, format_label, image_type

_HEADER = ("image", "labels", "class", "mask", "key", "extension", "boxes", "box_labels", "extra")
_IMAGES, _MASKS = "images", "masks"


class NpyDataset(ListDataset):
    """The arrays that a table names; encoded images come out as they were."""

    format = "npy"

    def sample(self, number: int) -> Sample:
        sample = super().sample(number)
        # The table says so where an array of bytes is to stay one.
        keep = self._entries[number].row.get("extension") == "npy"
        try:
            image = sample.image if keep else unwrapped(sample.image)
            mask = None if sample.mask is None else unwrapped(sample.mask)
        except DataError as error:
            raise self.error(number, "corrupt", str(error)) from None
        extension = sample.extension
        if image is not sample.image and extension == "npy":
            extension = image_type(image) or "bin"
        return Sample(**{**vars(sample), "image": image, "mask": mask, "extension": extension})

    @property
    def layout(self) -> str:
        return "arrays and a CSV table"


class NpyWriter(ShardWriter):
    """Writes arrays and a table of them.

    Args:
        open_file: Opens a file of the shard.
        names: `list`: the table.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        super().__init__(open_file, names)
        self._unique = UniqueNames()
        self._text = io.StringIO(newline="")
        self._table = csv.writer(self._text, lineterminator="\n")
        self._table.writerow(_HEADER)

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        stem = name or self._unique.take(sample.key, number=self.samples, is_allowed=is_plain)
        image, mask = f"{_IMAGES}/{stem}.npy", f"{_MASKS}/{stem}.npy" if sample.mask is not None else ""
        with self._open_file(image) as stream:
            stream.write(wrapped(sample.image) if sample.extension != "npy" else sample.image)
        if sample.mask is not None:
            with self._open_file(mask) as stream:
                stream.write(wrapped(sample.mask))
        self._table.writerow(_cells(sample, image, mask))
        self.samples += 1

    def close(self) -> None:
        with self._open_file(self._names["list"]) as stream:
            stream.write(os.fsencode(self._text.getvalue()))


def wrapped(data: bytes) -> bytes:
    """Give encoded bytes as an npy file; one that is an npy file of pixels stays as it is."""
    if image_type(data) == "npy" and unwrapped(data) is data:
        return data
    return npy.encode(np.frombuffer(data, np.uint8))


def unwrapped(data: bytes) -> bytes:
    """Give the encoded image that an npy file holds, or the file itself where it holds pixels."""
    if not data.startswith(npy.MAGIC):
        return data
    header = npy.read_header(data)
    if header.dtype != np.uint8 or len(header.shape) != 1:
        return data
    if header.nbytes != len(data) - header.data_offset:
        raise DataError(f"npy: {header.shape} bytes are announced, and {len(data) - header.data_offset} are there")
    return data[header.data_offset :]


def _cells(sample: Sample, image: str, mask: str) -> list[Any]:
    row = facts.difference(sample, implied=Sample("", b"", ""))
    boxes = row.get("boxes")
    return [
        image,
        " ".join(format_label(label) for label in sample.labels),
        sample.class_name or "",
        mask,
        sample.key,
        sample.extension,
        "" if boxes is None else json.dumps(boxes, separators=(",", ":")),
        " ".join(str(label) for label in row.get("box_labels", ())),
        json.dumps(row["extra"], separators=(",", ":")) if "extra" in row else "",
    ]
