"""Re-encode images: another size, format or quality. Masks are resized too; boxes are relative and stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from pixelmill.errors import MISSING_PIXELS, ArgumentError
from pixelmill.formats import npy
from pixelmill.formats.example import Example
from pixelmill.formats.sample import Sample, image_type
from pixelmill.formats.tfrecord.keys import FORMAT, renamed_format
from pixelmill.options.convert import EncodingOptions
from pixelmill.options.declaration import check

_EXTENSIONS = {"jpeg": "jpg", "png": "png", "webp": "webp", "bmp": "bmp", "npy": "npy"}
_FORMATS = {extension: format for format, extension in _EXTENSIONS.items()}
_QUALITY = 95


@dataclass(frozen=True, init=False)
class Encoding(EncodingOptions):
    """How images are re-encoded; without any option they stay byte for byte."""

    command: ClassVar[str] = "encoding"

    def __init__(
        self,
        resize: int | tuple[int, ...] | None = None,
        max_side: int | None = None,
        format: str | None = None,
        quality: int | None = None,
    ) -> None:
        sizes = (resize,) if isinstance(resize, int) else resize
        super().__init__(resize=sizes, max_side=max_side, format=format, quality=quality)
        check(self)
        if sizes is not None and (len(sizes) not in (1, 2) or not all(1 <= number < 65536 for number in sizes)):
            raise ArgumentError(f"encoding: resize must be one or two lengths from 1 to 65535, got {resize}")

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to do."""
        return any(value is not None for value in (self.resize, self.max_side, self.format, self.quality))

    def apply(
        self, sample: Sample, *, strict: bool = False, refused: tuple[str, ...] = (MISSING_PIXELS,)
    ) -> tuple[Sample, tuple[str, ...]]:
        """Re-encode the image of a sample, and resize its mask; return it with the kinds of notes about it.

        Raises DataError if image or mask cannot be decoded.

        Args:
            sample: The sample.
            strict: Decode image and mask even if there is nothing to change.
            refused: Kinds of notes of the decoder that are errors.
        """
        if not (self.is_needed or strict):
            return sample, ()
        # Imported here, since jobs that only copy need neither operators nor Pillow and start faster without.
        from pixelmill.codecs import pillow_images
        from pixelmill.conversion import native_encoding

        if not self.is_needed:
            return sample, _checked(sample.image, refused) + _checked(sample.mask or b"", refused)
        kind = image_type(sample.image) or ""
        format = self.format or _FORMATS.get(kind, "png")
        native_size = None
        if kind != "npy":
            header = pillow_images.open_header(sample.image)
            native_size = native_encoding.upright_size(sample.image, header, format)
        before = native_size or pillow_images.decode(sample.image).size
        size = self._size(before)
        if size == before and self.quality is None and self.resize is None and format == _FORMATS.get(kind):
            if native_size is None:
                pillow_images.decode(sample.image)  # unchanged, but a damaged image must not be copied
            return sample, _checked(sample.image, refused)
        new_size, quality = None if size == before else size, self.quality or _QUALITY
        if native_size is not None:
            image, notes = native_encoding.encode(
                sample.image, size=new_size, format=format, quality=quality, refused=refused
            )
        else:
            # Pillow keeps the warnings of libjpeg to itself.
            notes = _checked(sample.image, refused) if kind == "jpg" else ()
            image = pillow_images.reencode(sample.image, size=new_size, format=format, quality=quality)
        mask = sample.mask
        if mask is not None and new_size is not None:
            mask = pillow_images.resize_mask(mask, size, before=before)
        boxes = sample.boxes
        if boxes is not None and boxes.masks is not None and new_size is not None:
            masks = tuple(mask and mask.resized(new_size[1], new_size[0]) for mask in boxes.masks)
            boxes = replace(boxes, masks=masks)
        extension = sample.extension if format == _FORMATS.get(kind) else _EXTENSIONS[format]
        extra = Example.of(sample.extra)
        if FORMAT in extra and kind != "npy":
            extra[FORMAT] = renamed_format(extra[FORMAT], format)
        return replace(sample, image=image, extension=extension, mask=mask, boxes=boxes, extra=extra), notes

    def _size(self, size: tuple[int, int]) -> tuple[int, int]:
        """Return the new width and height."""
        width, height = size
        if isinstance(self.resize, tuple) and len(self.resize) == 2:
            height, width = self.resize
        elif isinstance(self.resize, tuple):
            width, height = _scaled(size, self.resize[0] / min(size))
        if self.max_side is not None and max(width, height) > self.max_side:
            width, height = _scaled((width, height), self.max_side / max(width, height))
        return width, height


def encoding_of(options: EncodingOptions) -> Encoding:
    """Return the encoding that the options of a job describe."""
    return Encoding(options.resize, options.max_side, options.format, options.quality)


def _checked(data: bytes, refused: tuple[str, ...]) -> tuple[str, ...]:
    """Decode an image or mask and return the kinds of notes about it. Raises DataError if it cannot be decoded."""
    from pixelmill.conversion import native_encoding  # see `Encoding.apply`

    if not data:
        return ()
    if image_type(data) == "npy":
        npy.decode(data)
        return ()
    return native_encoding.check(data, refused=refused)


def _scaled(size: tuple[int, int], scale: float) -> tuple[int, int]:
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))
