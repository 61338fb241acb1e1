"""npy files that a CSV table lists.

An encoded image is stored as a one-dimensional array of its bytes, so that a reader of arrays followed by a decoder of
images reads it; an array of pixels is stored as it is.
"""

from __future__ import annotations

from pixelmill.errors import DataError
from pixelmill.formats.file_list.dataset import ListDataset
from pixelmill.formats.npy.wrapping import unwrapped
from pixelmill.formats.sample import Sample, image_type


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

    @property
    def layout(self) -> str:
        return "arrays and a CSV table"
