"""What made pictures look like and how they are encoded: one declaration, checked once, handed to the native maker."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pixelmill import _core
from pixelmill.errors import ArgumentError

CONTENTS = ("noise", "photo", "shapes", "gradient")
IMAGE_FORMATS = {"jpg": "jpg", "jpeg": "jpg", "png": "png", "bmp": "bmp", "bitmap": "bmp"}
MAX_PIXELS = 1 << 27  # what pixelmill's own decoders accept
MAX_JPEG_SIDE = 65500
MAX_SIDE = 65535


@dataclass(frozen=True)
class PictureOptions:
    """Everything that decides about the bytes of picture number i, beside i.

    Attributes:
        height: Rows; the mean of them where sizes vary.
        width: Columns, likewise.
        content: `noise`, `photo`, `shapes` or `gradient`.
        image_format: `jpg`, `png` or `bmp`; `jpeg` and `bitmap` are the same.
        seed: Names the set of pictures. Two sets have no picture in common.
        spread: How much sides vary: the standard deviation of their logarithm.
        quality: Lowest and highest JPEG quality.
        full_colour: Share of JPEG files with colours in full resolution.
        classes: Number of classes; picture i belongs to class i % classes.
        objects: Fewest and most objects in a picture of `shapes`.
        masks: Whether there is a mask for each picture of `shapes`.
        bytes: Exact size of each file, or the mean of it; 0 leaves it open.
        bytes_spread: How much `bytes` varies, as `spread`.
        dedup_ratio: Files for each different file.
        compress_ratio: Size of a file in relation to what a compressor makes of it.
    """

    height: int
    width: int
    content: str = "noise"
    image_format: str = "jpg"
    seed: int = 0
    spread: float = 0.0
    quality: tuple[int, int] = (75, 75)
    full_colour: float = 0.0
    classes: int = 1
    objects: tuple[int, int] = (1, 1)
    masks: bool = False
    bytes: int = 0
    bytes_spread: float = 0.0
    dedup_ratio: float = 1.0
    compress_ratio: float = 1.0

    def __post_init__(self) -> None:
        found = IMAGE_FORMATS.get(str(self.image_format).lower())
        if found is None:
            allowed = ", ".join(IMAGE_FORMATS)
            raise ArgumentError(f"create: image_format must be one of {allowed}, got {self.image_format!r}")
        object.__setattr__(self, "image_format", found)
        for holds, message in (*_size_rules(self), *_other_rules(self)):
            if not holds:
                raise ArgumentError(f"create: {message}")

    def as_dict(self) -> dict[str, Any]:
        """Give the options as plain values, for jobs."""
        return asdict(self)

    def maker(self) -> _core.Maker:
        """Give the native maker of these pictures; it may be used by several threads at once."""
        return _core.Maker(
            content=self.content,
            format=self.image_format,
            seed=self.seed,
            size=(self.height, self.width),
            spread=self.spread,
            quality=self.quality,
            full_colour=self.full_colour,
            classes=self.classes,
            objects=self.objects,
            masks=self.masks,
            bytes=self.bytes,
            bytes_spread=self.bytes_spread,
            dedup_ratio=self.dedup_ratio,
            compress_ratio=self.compress_ratio,
        )


def _size_rules(given: PictureOptions) -> tuple[tuple[bool, str], ...]:
    largest = MAX_JPEG_SIDE if given.image_format == "jpg" else MAX_SIDE
    allowed = f"for {given.image_format} files it is from 1 to {largest}"
    return (
        (_is_integer(given.height) and 1 <= given.height <= largest, f"height is {given.height!r}, {allowed}"),
        (_is_integer(given.width) and 1 <= given.width <= largest, f"width is {given.width!r}, {allowed}"),
        (
            given.height * given.width <= MAX_PIXELS,
            f"{given.width}x{given.height} is {given.height * given.width} pixels, at most {MAX_PIXELS} are possible",
        ),
        (0 <= given.spread <= 1, f"the spread of sizes must be from 0 to 1, got {given.spread}"),
        (
            0 <= given.bytes_spread <= 1,
            f"the spread of bytes must be from 0 to 1, got {given.bytes_spread}",
        ),
        (given.bytes_spread == 0 or given.bytes > 0, "a spread of bytes needs a mean: give bytes too"),
        (0 <= given.bytes < 1 << 31, f"bytes must be from 1 to 2147483647, got {given.bytes}"),
    )


def _other_rules(given: PictureOptions) -> tuple[tuple[bool, str], ...]:
    low, high = given.quality
    least, most = given.objects
    return (
        (given.content in CONTENTS, f"content must be one of {', '.join(CONTENTS)}, got {given.content!r}"),
        (0 <= given.seed < 1 << 64, f"seed must be from 0 to 2**64 - 1, got {given.seed}"),
        (1 <= low <= high <= 100, f"quality must be from 1 to 100, got {low} to {high}"),
        (0 <= given.full_colour <= 1, f"full_colour must be from 0 to 1, got {given.full_colour}"),
        (1 <= given.classes <= 1 << 24, f"classes must be from 1 to 16777216, got {given.classes}"),
        (1 <= least <= most <= 254, f"objects must be from 1 to 254, got {least} to {most}"),
        (not given.masks or given.content == "shapes", f"masks need content='shapes', got {given.content!r}"),
        (not given.masks or given.classes <= 255, f"masks hold up to 255 classes, got {given.classes}"),
        (given.dedup_ratio >= 1, f"dedup_ratio must be at least 1, got {given.dedup_ratio}"),
        (1 <= given.compress_ratio <= 1000, f"compress_ratio must be from 1 to 1000, got {given.compress_ratio}"),
    )


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def parse_size_distribution(text: str) -> tuple[float, float]:
    """Read `fixed`, `sides:SPREAD` or `bytes:SPREAD`; give the spread of sides and of bytes."""
    kind, _, number = text.partition(":")
    try:
        if kind == "fixed" and not number:
            return 0.0, 0.0
        if kind == "sides":
            return float(number), 0.0
        if kind == "bytes":
            return 0.0, float(number)
    except ValueError:
        pass
    raise ArgumentError(
        f"create: size_distribution is fixed, sides:SPREAD or bytes:SPREAD (such as sides:0.2), got {text!r}"
    )
