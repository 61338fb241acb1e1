"""Everything that decides the bytes of a created image, checked once and passed to the native generator."""

from __future__ import annotations

from dataclasses import KW_ONLY, asdict, dataclass
from typing import Annotated, ClassVar

from pixelmill import _core
from pixelmill.errors import ArgumentError
from pixelmill.options.create import IMAGE_FORMATS, ContentOptions
from pixelmill.options.declaration import Help, Range, check

MAX_PIXELS = 1 << 27  # what pixelmill's own decoders accept
MAX_JPEG_SIDE = 65500
MAX_SIDE = 65535


@dataclass(frozen=True)
class PictureOptions(ContentOptions):
    """Everything that decides the bytes of image number i, in addition to i.

    Attributes:
        height: Rows; their mean if sizes vary.
        width: Columns, likewise.
        image_format: `jpg`, `png` or `bmp`; `jpeg` and `bitmap` mean the same.
        seed: Seed of the images. Two seeds share no image.
        spread: How much sides vary: the standard deviation of their logarithm.
        quality: Lowest and highest JPEG quality.
        objects: Fewest and most objects in an image of `shapes`.
        bytes_spread: How much `bytes` varies, as `spread`.
    """

    command: ClassVar[str] = "create"

    height: int
    width: int
    _: KW_ONLY
    image_format: str = "jpg"
    seed: Annotated[int, Range(0, (1 << 64) - 1), Help("Seed of the images.")] = 0
    spread: Annotated[float, Range(0, 1), Help("Standard deviation of the logarithm of the sides.")] = 0.0
    quality: tuple[int, int] = (75, 75)
    objects: tuple[int, int] = (1, 1)
    bytes_spread: Annotated[float, Range(0, 1), Help("Standard deviation of the logarithm of the bytes.")] = 0.0

    def __post_init__(self) -> None:
        found = IMAGE_FORMATS.get(str(self.image_format).lower())
        if found is None:
            allowed = ", ".join(IMAGE_FORMATS)
            raise ArgumentError(f"create: image_format must be one of {allowed}, got {self.image_format!r}")
        object.__setattr__(self, "image_format", found)
        check(self)
        for holds, message in (*_size_rules(self), *_other_rules(self)):
            if not holds:
                raise ArgumentError(f"create: {message}")

    def as_dict(self) -> dict[str, object]:
        """Return the options as plain values, for jobs."""
        return asdict(self)

    def maker(self) -> _core.Maker:
        """Return the native generator of these images; several threads may use it at once."""
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
            alpha=self.alpha,
            bytes=self.bytes,
            bytes_spread=self.bytes_spread,
            dedup_ratio=self.dedup_ratio,
            compress_ratio=self.compress_ratio,
        )


def _size_rules(options: PictureOptions) -> tuple[tuple[bool, str], ...]:
    largest = MAX_JPEG_SIDE if options.image_format == "jpg" else MAX_SIDE
    allowed = f"for {options.image_format} files it is from 1 to {largest}"
    return (
        (_is_integer(options.height) and 1 <= options.height <= largest, f"height is {options.height!r}, {allowed}"),
        (_is_integer(options.width) and 1 <= options.width <= largest, f"width is {options.width!r}, {allowed}"),
        (
            options.height * options.width <= MAX_PIXELS,
            f"height {options.height:,} times width {options.width:,} is {options.height * options.width:,} pixels; "
            f"the maximum is {MAX_PIXELS:,}",
        ),
        (options.bytes_spread == 0 or options.bytes > 0, "a spread of bytes needs a mean: set bytes too"),
    )


def _other_rules(options: PictureOptions) -> tuple[tuple[bool, str], ...]:
    low, high = options.quality
    least, most = options.objects
    return (
        (1 <= low <= high <= 100, f"quality must be from 1 to 100, got {low} to {high}"),
        (1 <= least <= most <= 254, f"objects must be from 1 to 254, got {least} to {most}"),
        (not options.masks or options.content == "shapes", f"masks need content='shapes', got {options.content!r}"),
        (
            not options.alpha or options.image_format != "jpg",
            "alpha needs image_format png or bmp: JPEG files have no transparency",
        ),
        (not options.masks or options.classes <= 255, f"masks hold up to 255 classes, got {options.classes}"),
    )


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def parse_size_distribution(text: str) -> tuple[float, float]:
    """Read `fixed`, `sides:SPREAD` or `bytes:SPREAD`; return the spread of sides and of bytes."""
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
