"""Transforms of torchvision as operators of a pipeline, for `Compose`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from pixelmill import fn, math
from pixelmill.graph.branches import apply_with_probability
from pixelmill.graph.nodes import DataNode
from pixelmill.plugin.pytorch.torchvision import arguments
from pixelmill.plugin.pytorch.torchvision.arguments import InterpolationMode, Range, Size
from pixelmill.types import FLOAT, GRAY, INT32, INT64, RGB, Constant

Device = Literal["cpu", "gpu"]
PaddingMode = Literal["constant", "edge", "reflect", "symmetric"]

# How `slice` continues an image for each padding mode.
BORDERS = {"constant": "pad", "edge": "clamp", "reflect": "reflect_101", "symmetric": "reflect_1001"}


@dataclass(frozen=True)
class Images:
    """Images in a pipeline.

    Attributes:
        node: The images.
        layout: HWC or CHW.
        channels: The number of channels.
    """

    node: Any
    layout: str
    channels: int

    @property
    def height(self) -> Any:
        """The height of each image, as int32."""
        return fn.cast(self.node.shape()[self.layout.index("H")], dtype=INT32)

    @property
    def width(self) -> Any:
        """The width of each image, as int32."""
        return fn.cast(self.node.shape()[self.layout.index("W")], dtype=INT32)

    def changed(self, node: Any, channels: int | None = None) -> Images:
        """Return other images of the same layout."""
        return Images(node, self.layout, channels or self.channels)

    def window(self, top: Any, left: Any, height: Any, width: Any, **options: Any) -> Images:
        """Return a part of each image."""
        corner, size = (
            fn.stack(*(fn.cast(value, dtype=INT64) for value in pair)) for pair in ((top, left), (height, width))
        )
        return self.changed(fn.slice(self.node, corner, size, axis_names="HW", **options))


class Transform(ABC):
    """A transform. It runs inside of `Compose` only.

    Args:
        device: Accepted for compatibility: `Compose` runs on the CPU.
    """

    def __init__(self, device: Device = "cpu") -> None:
        self.device = device

    @abstractmethod
    def apply(self, images: Images) -> Images:
        """Add the operators of the transform to a graph."""

    def __call__(self, data_input: object) -> NoReturn:
        raise RuntimeError(f"{type(self).__name__} cannot be called: use it in Compose, or the function of its name")


class CenterCrop(Transform):
    """Crop the center; images that are too small are padded with 0.

    Args:
        size: Height and width, or one number for both.
        device: Accepted for compatibility.
    """

    def __init__(self, size: Size, device: Device = "cpu") -> None:
        super().__init__(device)
        self.size = arguments.height_and_width(size)

    def apply(self, images: Images) -> Images:
        """Add the crop to a graph."""
        height, width = self.size
        top, left = _centered(images.height - height), _centered(images.width - width)
        return images.window(top, left, height, width, out_of_bounds_policy="pad")


def _centered(slack: DataNode) -> DataNode:
    """Return half of the slack: rounded to even if positive, as Python rounds, and away from 0 if negative."""
    half = slack // 2  # integers are divided towards 0
    odd_half, odd = half - 2 * (half // 2), slack - 2 * half
    return math.max(half + odd_half * odd, 0) + math.min((slack - 1) // 2, 0)


class Resize(Transform):
    """Resize images.

    Args:
        size: Height and width; one number for the shorter side; None to resize the longer side to `max_size`.
        interpolation: The filter.
        max_size: The largest length of the longer side, if `size` is one number or None.
        antialias: Whether to average pixels when an image shrinks.
        device: Accepted for compatibility.
    """

    def __init__(
        self,
        size: Size | None,
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
        device: Device = "cpu",
    ) -> None:
        super().__init__(device)
        self.filter = arguments.interpolation_filter(interpolation)
        self.size, self.max_size, self.antialias = size, max_size, antialias
        if size is None and max_size is None:
            raise ValueError("max_size must be given if size is None")
        if max_size is not None and max_size < 0:
            raise ValueError(f"max_size must not be negative, got {max_size}")
        if size is not None:
            if not isinstance(size, (int, list, tuple)):
                raise ValueError(f"size must be None, an integer or two of them, got {size!r}")
            shorter = min(arguments.height_and_width(size))
            if max_size is not None and ((not isinstance(size, int) and len(size) == 2) or shorter > max_size):
                raise ValueError(f"max_size applies to one number that is not larger, got {size} and {max_size}")

    def apply(self, images: Images) -> Images:
        """Add the resize to a graph."""
        if isinstance(self.size, (list, tuple)) and len(self.size) == 2:
            size: Any = list(self.size)
        else:
            sides = [fn.cast(side, dtype=FLOAT) for side in (images.height, images.width)]
            size = fn.stack(*self._target(*sides))
        antialias = self.antialias is not False
        return images.changed(fn.resize(images.node, size=size, interp_type=self.filter, antialias=antialias))

    def _target(self, height: Any, width: Any) -> tuple[Any, Any]:
        if self.size is not None:
            wanted = float(self.size if isinstance(self.size, int) else self.size[0])
            shorter = math.min(height, width)
            height, width = math.floor(wanted * height / shorter), math.floor(wanted * width / shorter)
        if self.max_size is not None:
            # Without a size, the longer side becomes `max_size`; with one, it does so only if it is longer.
            longer = math.max(height, width)
            limit = float(self.max_size) if self.size is None else math.min(longer, float(self.max_size))
            height, width = math.floor(limit * height / longer), math.floor(limit * width / longer)
        return height, width


class Pad(Transform):
    """Pad images.

    Args:
        padding: Pixels for all sides; left and right, top and bottom; or left, top, right and bottom.
        fill: The value of new pixels, or one for each channel.
        padding_mode: `"constant"`, `"edge"`, `"reflect"` (without the edge) or `"symmetric"` (with it).
        device: Accepted for compatibility.
    """

    def __init__(
        self, padding: Size, fill: Any = 0, padding_mode: PaddingMode = "constant", device: Device = "cpu"
    ) -> None:
        super().__init__(device)
        self.border = padding_border(padding_mode)
        self.padding, self.fill = arguments.sides(padding), fill

    def apply(self, images: Images) -> Images:
        """Add the padding to a graph."""
        left, top, right, bottom = self.padding
        height, width = images.height + (top + bottom), images.width + (left + right)
        return images.window(-top, -left, height, width, out_of_bounds_policy=self.border, fill_values=self.fill)


def padding_border(padding_mode: str) -> str:
    """Return the policy of `slice` for a padding mode."""
    if padding_mode not in BORDERS:
        raise ValueError(f"padding_mode must be one of {', '.join(BORDERS)}, got {padding_mode!r}")
    return BORDERS[padding_mode]


class Normalize(Transform):
    """Subtract a mean and divide by a standard deviation, for each channel.

    Args:
        mean: The means.
        std: The standard deviations.
        inplace: Must be False.
        device: Accepted for compatibility.
    """

    def __init__(self, mean: npt.ArrayLike, std: npt.ArrayLike, inplace: bool = False, device: Device = "cpu") -> None:
        super().__init__(device)
        if any(np.ndim(values) == 0 for values in (mean, std)):
            raise TypeError("mean and std must be sequences, one number for each channel")
        self.mean, self.std = np.asarray(mean, np.float32), np.asarray(std, np.float32)
        if (self.std == 0).any():
            raise ValueError("std must not be 0")
        if inplace:
            raise NotImplementedError("inplace is not supported")

    def apply(self, images: Images) -> Images:
        """Add the normalization to a graph."""
        shape = [1 if axis != "C" else -1 for axis in images.layout]
        mean, std = (Constant(values.reshape(shape)) for values in (self.mean, self.std))
        return images.changed(fn.normalize(images.node, mean=mean, stddev=std))


class GaussianBlur(Transform):
    """Blur images.

    Args:
        kernel_size: The size of the filter, odd: one number, or height and width.
        sigma: The standard deviation, or a range to draw it from.
        device: Accepted for compatibility.
        seed: Seed of the draw.
    """

    def __init__(self, kernel_size: Size, sigma: Range = (0.1, 2.0), device: Device = "cpu", seed: int = -1) -> None:
        super().__init__(device)
        sizes = [kernel_size] if isinstance(kernel_size, int) else kernel_size
        if not isinstance(sizes, Sequence) or any(not isinstance(size, int) or size % 2 == 0 for size in sizes):
            raise ValueError(f"kernel_size must be one or two odd numbers, got {kernel_size}")
        arguments.positive("kernel_size", sizes)
        arguments.positive("sigma", sigma)
        self.kernel_size, self.seed = list(sizes), seed
        self.sigma = (float(sigma),) * 2 if isinstance(sigma, (int, float)) else arguments.ascending("sigma", sigma)

    def apply(self, images: Images) -> Images:
        """Add the blur to a graph."""
        low, high = self.sigma
        sigma = low if low == high else fn.random.uniform(range=[low, high], seed=self.seed)
        window = self.kernel_size if len(self.kernel_size) > 1 else self.kernel_size[0]
        return images.changed(fn.gaussian_blur(images.node, window_size=window, sigma=sigma))


class Grayscale(Transform):
    """Convert images to gray.

    Args:
        num_output_channels: 1, or 3 equal channels.
        device: Accepted for compatibility.
    """

    def __init__(self, num_output_channels: int = 1, device: Device = "cpu") -> None:
        super().__init__(device)
        if num_output_channels not in (1, 3):
            raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}")
        self.num_output_channels = num_output_channels

    def apply(self, images: Images) -> Images:
        """Add the conversion to a graph."""
        node, wanted = images.node, self.num_output_channels
        if wanted == 1 and images.channels == 3:
            return images.changed(fn.color_space_conversion(node, image_type=RGB, output_type=GRAY), 1)
        if images.channels == 1:
            return images if wanted == 1 else images.changed(fn.cat(node, node, node, axis_name="C"), 3)
        return images.changed(fn.hsv(node, saturation=0.0))


class RandomApply(Transform):
    """Apply transforms to a random subset of the images. They must not change the type of an image.

    Args:
        op_list: The transforms.
        p: The probability.
        device: Accepted for compatibility.
    """

    def __init__(self, op_list: Sequence[Transform], p: float = 0.5, device: Device = "cpu") -> None:
        super().__init__(device)
        self.p, self.op_list = arguments.probability(p), list(op_list)

    def apply(self, images: Images) -> Images:
        """Add the transforms to a graph, in a branch."""

        def all_of(node: Any) -> Any:
            changed = images.changed(node)
            for transform in self.op_list:
                changed = transform.apply(changed)
            return changed.node

        return images.changed(apply_with_probability(self.p, all_of, images.node))
