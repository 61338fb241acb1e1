"""The writer of image files with a CSV table of them."""

from __future__ import annotations

from pixelmill.formats.npy.writer import NpyWriter
from pixelmill.formats.sample import Sample, file_ending, image_type


class CsvWriter(NpyWriter):
    """Writes image files and a table of them, with the same columns as that of npy files."""

    def _files(self, sample: Sample, stem: str) -> tuple[tuple[str, bytes], tuple[str, bytes] | None]:
        name = f"{stem}.{file_ending(sample)}"
        mask = None
        if sample.mask is not None:
            mask = (f"masks/{name}.{image_type(sample.mask) or 'png'}", sample.mask)
        return (f"images/{name}", sample.image), mask
