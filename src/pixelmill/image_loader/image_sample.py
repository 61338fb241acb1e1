"""A sample of a dataset as programs use it: the image decoded when it is asked for, annotations as attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from pixelmill.codecs import decode_image
from pixelmill.dataset_jobs.sample_annotations import class_numbers
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import npy
from pixelmill.formats.sample import Boxes, Label, Sample
from pixelmill.types import Array

Mode = Literal["RGB", "BGR", "GRAY", "unchanged"]


@dataclass(frozen=True, eq=False, repr=False)
class ImageSample:
    """An image and its annotations.

    Attributes:
        sample: The sample as the container holds it: the encoded image and all annotations.
        number: Its number in the dataset.
    """

    sample: Sample
    number: int

    def image(self, mode: Mode = "RGB") -> NDArray[Any]:
        """Decode the image.

        Args:
            mode: `"RGB"`, `"BGR"` or `"GRAY"`, or `"unchanged"` to keep channels and depth of the file. Samples that
                are arrays are returned as they are.

        Returns:
            Height, width, channels; uint8 unless the file has more than 8 bits.

        Raises:
            DataError: The image cannot be decoded.
        """
        if self.sample.extension.lower() == "npy":
            return npy.decode(self.sample.image)
        try:
            return decode_image(self.sample.image, mode)
        except DataError as error:
            raise DataError(f"sample {self.number} ({self.key}): {error}", error.events) from None

    def mask(self) -> Array | None:
        """Decode the mask: class numbers, height by width; None if there is no mask."""
        data = self.sample.mask
        return None if data is None else class_numbers(data)

    @property
    def encoded(self) -> bytes:
        """The bytes of the image file."""
        return self.sample.image

    @property
    def key(self) -> str:
        """The name of the sample: its path in the dataset without the extension."""
        return self.sample.key

    @property
    def label(self) -> Label | None:
        """The label; None if there is none. Raises ArgumentError if there are several: `labels` has them all."""
        if len(self.labels) > 1:
            raise ArgumentError(f"sample {self.number} ({self.key}) has {len(self.labels)} labels; use .labels")
        return self.labels[0] if self.labels else None

    @property
    def labels(self) -> tuple[Label, ...]:
        """All labels."""
        return self.sample.labels

    @property
    def class_name(self) -> str | None:
        """The name of the class; None if there is none."""
        return self.sample.class_name

    @property
    def boxes(self) -> Boxes | None:
        """The boxes, as fractions of width and height; None if the dataset has none."""
        return self.sample.boxes

    def __repr__(self) -> str:
        parts = [repr(self.sample.name), f"{len(self.encoded)} bytes"]
        if self.labels:
            parts.append(f"label {self.labels[0]}" if len(self.labels) == 1 else f"labels {list(self.labels)}")
        if self.class_name is not None:
            parts.append(f"class {self.class_name!r}")
        if self.boxes is not None:
            parts.append(f"{len(self.boxes)} boxes")
        if self.sample.mask is not None:
            parts.append("a mask")
        return f"ImageSample({', '.join(parts)})"
