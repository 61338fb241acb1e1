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
from pixelmill.storage.ranges import Range

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
        wanted = [n for n in range(len(paths)) if n not in found.lost and (what == "image" or found.lengths[n])]
        kept = {n for n in wanted if what == "image" and self._entries[n].row.get("extension") == "npy"}
        if any(map(storage.is_remote, paths[:1])):
            self._ranges.expect(Range(paths[n], 0, self._start_size(paths[n])) for n in wanted if n not in kept)
        offsets, lengths, lost = np.zeros(len(paths), np.int64), np.zeros(len(paths), np.int64), dict(found.lost)
        for n in wanted:
            try:
                offsets[n], lengths[n] = self._content(paths[n], keep=n in kept)
            except (OSError, DataError) as error:
                lost[n] = ("io" if isinstance(error, OSError) else "corrupt", str(error))
        return Index(paths, np.arange(len(paths), dtype=np.int64), offsets, lengths, lost=lost, base=found.base)

    def _start_size(self, path: str) -> int:
        """Return how many bytes of a file are read for its header."""
        found = self.remote_stats.get(path)
        return min(_USUAL_HEADER, found.size) if isinstance(found, storage.FileStat) else _USUAL_HEADER

    def _content(self, path: str, *, keep: bool) -> tuple[int, int]:
        """Return offset and length of the encoded image in a file, or all of it if it holds pixels."""
        size = self._file_size(path)
        start = b""
        if not keep and storage.is_remote(path):
            start = self._ranges.read(path, 0, self._start_size(path))
        elif not keep:
            start = storage.read_start(path, _USUAL_HEADER, base=self.index.base)
        if not start.startswith(MAGIC):
            return 0, size
        try:
            header = read_header(start)
        except DataError:  # longer than usual, or damaged
            header = read_header(storage.read_start(path, 12 + LARGEST_HEADER, base=self.index.base))
        if not is_wrapped(header):
            return 0, size
        if header.nbytes != size - header.data_offset:
            raise DataError(f"npy: {header.shape} bytes are declared, but {size - header.data_offset} exist")
        return header.data_offset, header.nbytes

    @property
    def layout(self) -> str:
        return "arrays and a CSV table"
