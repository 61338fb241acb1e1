"""Encode images anew: another size, format or quality. Boxes are shares of the image and stay; masks follow."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pixelmill.errors import ArgumentError
from pixelmill.formats.sample import Sample, image_type

FORMATS = {"jpeg": "jpg", "png": "png", "webp": "webp", "bmp": "bmp", "npy": "npy"}
_QUALITY = 95
_TYPES = {"jpg": "jpeg", "png": "png", "webp": "webp", "bmp": "bmp", "npy": "npy"}
_SIZE = re.compile(r"(\d+)(?:x(\d+))?")


@dataclass(frozen=True)
class Encoding:
    """How images are encoded anew; without any wish they stay byte for byte.

    Attributes:
        resize: Height and width; one number is the length of the shorter side.
        max_side: Shrink larger images until their longer side has this length.
        format: One of `FORMATS`; the format stays without it.
        quality: For JPEG and WebP, 1 to 100; 95 without it.
    """

    resize: tuple[int, ...] | None = None
    max_side: int | None = None
    format: str | None = None
    quality: int | None = None

    def __post_init__(self) -> None:
        if self.resize is not None and (len(self.resize) not in (1, 2) or not all(1 <= n < 65536 for n in self.resize)):
            raise ArgumentError(f"resize: one or two lengths from 1 to 65535, got {self.resize}")
        if self.max_side is not None and not 1 <= self.max_side < 65536:
            raise ArgumentError(f"max_side: a length from 1 to 65535, got {self.max_side}")
        if self.format is not None and self.format not in FORMATS:
            raise ArgumentError(f"format: one of {', '.join(FORMATS)}, got {self.format!r}")
        if self.quality is not None and not 1 <= self.quality <= 100:
            raise ArgumentError(f"quality: a number from 1 to 100, got {self.quality}")

    @property
    def is_needed(self) -> bool:
        """Whether anything is to be done at all."""
        return any(wish is not None for wish in (self.resize, self.max_side, self.format, self.quality))

    def apply(self, sample: Sample) -> Sample:
        """Encode the image of a sample anew, and its mask if the size changes; DataError if it cannot be decoded."""
        if not self.is_needed:
            return sample
        from pixelmill.conversion import native_encoding, pictures  # copying needs neither operators nor Pillow

        kind = image_type(sample.image) or ""
        format = self.format or _TYPES.get(kind, "png")
        ours = (
            None if kind == "npy" else native_encoding.upright_size(sample.image, pictures.opened(sample.image), format)
        )
        before = ours or pictures.decode(sample.image).size
        size = self._size(before)
        if size == before and self.quality is None and self.resize is None and format == _TYPES.get(kind):
            pictures.decode(sample.image)  # it stays as it is, if it is whole
            return sample
        image = self._encoded(sample.image, None if size == before else size, format, by_us=ours is not None)
        extension = sample.extension if format == _TYPES.get(kind) else FORMATS[format]
        mask = sample.mask
        if mask is not None and size != before:
            mask = pictures.resized_mask(mask, size, before=before)
        return replace(sample, image=image, extension=extension, mask=mask)

    def _encoded(self, data: bytes, size: tuple[int, int] | None, format: str, *, by_us: bool) -> bytes:
        from pixelmill.conversion import native_encoding, pictures

        quality = self.quality or _QUALITY
        if by_us:
            return native_encoding.encode(data, size=size, format=format, quality=quality)
        picture = pictures.decode(data)
        return pictures.encode(pictures.resized(picture, size or picture.size), format, quality)

    def _size(self, size: tuple[int, int]) -> tuple[int, int]:
        """Give the new width and height."""
        width, height = size
        if self.resize is not None:
            if len(self.resize) == 2:
                height, width = self.resize
            else:
                scale = self.resize[0] / min(width, height)
                width, height = max(1, round(width * scale)), max(1, round(height * scale))
        if self.max_side is not None and max(width, height) > self.max_side:
            scale = self.max_side / max(width, height)
            width, height = max(1, round(width * scale)), max(1, round(height * scale))
        return width, height


def parse_size(text: str) -> tuple[int, ...]:
    """Read `224` or `224x256`, height first; ValueError for anything else."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return tuple(int(number) for number in found.groups() if number is not None)
