"""npy files that a CSV table lists.

An encoded image is stored as a one-dimensional array of its bytes, so that a reader of arrays followed by a decoder of
images reads it; an array of pixels is stored as it is.
"""

from __future__ import annotations

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.dataset import BytesColumn
from pixelmill.formats.file_list.dataset import ListDataset
from pixelmill.formats.index import Index
from pixelmill.formats.npy.array_file import LARGEST_HEADER, MAGIC, read_header
from pixelmill.formats.npy.wrapping import is_wrapped, unwrapped
from pixelmill.formats.sample import Sample, image_type

_USUAL_HEADER = 256  # bytes; NumPy's own headers have 128


class NpyDataset(ListDataset):
    """The arrays that a table lists; encoded images are returned as they were written."""

    format = "npy"

    def sample(self, number: int) -> Sample:
        sample = super().sample(number)
        # The table says so if a one-dimensional array of bytes is not a wrapped image.
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

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        """Return the encoded images inside of the files; a file of pixels is returned whole."""
        found = super().byte_ranges(what)
        if found is None:
            return None
        paths = list(found.paths) if what == "image" else [found.paths[file] for file in found.files.tolist()]
        offsets, lengths, lost = [], [], dict(found.lost)
        for number, path in enumerate(paths):
            offset = length = 0
            if number not in lost and (what == "image" or found.lengths[number]):
                try:
                    keep = what == "image" and self._entries[number].row.get("extension") == "npy"
                    offset, length = _content(path, found.base, keep=keep)
                except (OSError, DataError) as error:
                    lost[number] = ("io" if isinstance(error, OSError) else "corrupt", str(error))
            offsets.append(offset)
            lengths.append(length)
        files = np.arange(len(paths), dtype=np.int64)
        where = np.array(offsets, np.int64), np.array(lengths, np.int64)
        return Index(paths, files, *where, lost=lost, base=found.base)

    @property
    def layout(self) -> str:
        return "arrays and a CSV table"


def _content(path: str, base: str, *, keep: bool) -> tuple[int, int]:
    """Return offset and length of the encoded image in a file, or all of it if it holds pixels."""
    size = storage.stat(path, base=base).size
    start = storage.read_start(path, _USUAL_HEADER, base=base) if not keep else b""
    if not start.startswith(MAGIC):
        return 0, size
    try:
        header = read_header(start)
    except DataError:  # longer than usual, or damaged
        header = read_header(storage.read_start(path, 12 + LARGEST_HEADER, base=base))
    if not is_wrapped(header):
        return 0, size
    if header.nbytes != size - header.data_offset:
        raise DataError(f"npy: {header.shape} bytes are declared, but {size - header.data_offset} exist")
    return header.data_offset, header.nbytes
