"""Transforms of torchvision that draw random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pixelmill import fn, math
from pixelmill.plugin.pytorch.torchvision import arguments
from pixelmill.plugin.pytorch.torchvision.arguments import InterpolationMode, Range, Size
from pixelmill.plugin.pytorch.torchvision.transforms import (
    Device,
    Grayscale,
    Images,
    PaddingMode,
    RandomApply,
    Transform,
    padding_border,
)
from pixelmill.types import FLOAT, INT32


class RandomHorizontalFlip(Transform):
    """Mirror a random subset of the images from left to right.

    Args:
        p: The probability.
        device: Accepted for compatibility.
    """

    direction = "horizontal"

    def __init__(self, p: float = 0.5, device: Device = "cpu") -> None:
        super().__init__(device)
        self.p = p

    def apply(self, images: Images) -> Images:
        """Add the flip to a graph."""
        drawn = fn.random.coin_flip(probability=self.p)
        both: dict[str, Any] = {"horizontal": 0, "vertical": 0, self.direction: drawn}
        return images.changed(fn.flip(images.node, **both))


class RandomVerticalFlip(RandomHorizontalFlip):
    """Mirror a random subset of the images from top to bottom.

    Args:
        p: The probability.
        device: Accepted for compatibility.
    """

    direction = "vertical"


class RandomGrayscale(Transform):
    """Convert a random subset of the images to gray; they keep their channels.

    Args:
        p: The probability.
        device: Accepted for compatibility.
    """

    def __init__(self, p: float = 0.1, device: Device = "cpu") -> None:
        super().__init__(device)
        self.p = arguments.probability(p)

    def apply(self, images: Images) -> Images:
        """Add the conversion to a graph."""
        if images.channels == 1:
            return images
        return RandomApply([Grayscale(num_output_channels=3)], self.p).apply(images)


class ColorJitter(Transform):
    """Change brightness, contrast, saturation and hue at random.

    Hue is rotated in YIQ space, so results are close to those of torchvision, which uses HSV, and not equal.

    Args:
        brightness: The largest change of the factor 1, or a range of factors.
        contrast: Likewise.
        saturation: Likewise.
        hue: The largest angle as a fraction of a full turn, up to 0.5, or a range of them.
        device: Accepted for compatibility.
    """

    def __init__(
        self,
        brightness: Range = 0.0,
        contrast: Range = 0.0,
        saturation: Range = 0.0,
        hue: Range = 0.0,
        device: Device = "cpu",
    ) -> None:
        super().__init__(device)
        given = {"brightness": brightness, "contrast": contrast, "saturation": saturation}
        self.factors = {name: arguments.interval(name, value, around=1.0) for name, value in given.items()}
        if hue is None or (isinstance(hue, (int, float)) and hue < 0):
            raise ValueError(f"hue must be a number from 0 to 0.5 or a range, got {hue}")
        low, high = (-hue, hue) if isinstance(hue, (int, float)) else arguments.ascending("hue", hue)
        if low < -0.5 or high > 0.5:
            raise ValueError(f"hue must be between -0.5 and 0.5, got {hue}")
        self.hue = low * 360.0, high * 360.0

    def apply(self, images: Images) -> Images:
        """Add the jitter to a graph."""
        drawn: dict[str, Any] = {
            name: ends[0] if ends[0] == ends[1] else fn.random.uniform(range=list(ends))
            for name, ends in {**self.factors, "hue": self.hue}.items()
        }
        return images.changed(fn.color_twist(images.node, **drawn))


class RandomCrop(Transform):
    """Crop at a random place.

    Args:
        size: Height and width, or one number for both.
        padding: Padding before the crop, as in `Pad`.
        pad_if_needed: Whether to pad images that are too small.
        fill: The value of new pixels, or one for each channel.
        padding_mode: As in `Pad`.
        device: Accepted for compatibility.
    """

    def __init__(
        self,
        size: Size,
        padding: Size | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] | None = 0,
        padding_mode: PaddingMode = "constant",
        device: Device = "cpu",
    ) -> None:
        super().__init__(device)
        self.size = arguments.height_and_width(size)
        if not isinstance(pad_if_needed, bool):
            raise TypeError(f"pad_if_needed must be True or False, got {pad_if_needed!r}")
        if fill is not None and not isinstance(fill, (int, float, list, tuple)):
            raise TypeError(f"fill must be a number or a sequence of numbers, got {fill!r}")
        if isinstance(fill, (list, tuple)) and not fill:
            raise ValueError("fill must not be empty")
        self.padding = (0, 0, 0, 0) if padding is None else arguments.sides(padding)
        self.pad_if_needed, self.fill = pad_if_needed, 0 if fill is None else fill
        pads = pad_if_needed or any(self.padding)
        self.border = padding_border(padding_mode) if padding is not None or pads else "error"

    def apply(self, images: Images) -> Images:
        """Add the crop to a graph."""
        left, top, right, bottom = self.padding
        row = self._start(images.height, before=top, after=bottom, crop=self.size[0])
        column = self._start(images.width, before=left, after=right, crop=self.size[1])
        return images.window(row, column, *self.size, out_of_bounds_policy=self.border, fill_values=self.fill)

    def _start(self, extent: Any, *, before: int, after: int, crop: int) -> Any:
        """Draw the first row or column of the crop; it is negative in the padding."""
        padded, first = extent + (before + after), fn.cast(-before, dtype=INT32)
        if self.pad_if_needed:
            missing = math.max(crop - padded, 0)
            padded, first = padded + 2 * missing, first - missing
        free = fn.cast(math.max(padded - crop, 0) + 1, dtype=FLOAT)
        drawn = math.floor(fn.random.uniform(range=[0.0, 1.0]) * free)
        return first + fn.cast(math.min(drawn, free - 1.0), dtype=INT32)


class RandomResizedCrop(Transform):
    """Crop a random part and resize it.

    Args:
        size: Height and width of the result, or one number for both.
        scale: The range of the area of the part, as a fraction of the image.
        ratio: The range of its width divided by its height.
        interpolation: The filter.
        antialias: Whether to average pixels when an image shrinks.
        device: Accepted for compatibility.
    """

    def __init__(
        self,
        size: Size,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
        device: Device = "cpu",
    ) -> None:
        super().__init__(device)
        self.filter = arguments.interpolation_filter(interpolation)
        self.size, self.antialias = arguments.height_and_width(size), antialias
        self.scale, self.ratio = arguments.ascending("scale", scale), arguments.ascending("ratio", ratio)
        arguments.positive("scale", self.scale)
        arguments.positive("ratio", self.ratio)

    def apply(self, images: Images) -> Images:
        """Add the crop to a graph."""
        made = fn.random_resized_crop(
            images.node,
            size=list(self.size),
            random_area=list(self.scale),
            random_aspect_ratio=list(self.ratio),
            interp_type=self.filter,
            antialias=self.antialias is not False,
            num_attempts=10,
        )
        return images.changed(made)
