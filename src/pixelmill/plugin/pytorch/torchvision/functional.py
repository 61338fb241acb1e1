"""Transforms of torchvision as functions of a PIL image or a tensor."""

from __future__ import annotations

import operator
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from pixelmill.plugin.pytorch.torchvision.arguments import InterpolationMode, Range, Size, positive
from pixelmill.plugin.pytorch.torchvision.compose import Compose, Picture, picture
from pixelmill.plugin.pytorch.torchvision.random_transforms import RandomHorizontalFlip, RandomVerticalFlip
from pixelmill.plugin.pytorch.torchvision.transforms import (
    CenterCrop,
    GaussianBlur,
    Grayscale,
    Images,
    Normalize,
    Pad,
    PaddingMode,
    Resize,
    Transform,
)
from pixelmill.types import Array


def _once(inpt: Picture, *transforms: Transform) -> Any:
    if not isinstance(inpt, (Image.Image, torch.Tensor)):
        raise TypeError(f"the input must be a PIL image or a tensor, got {type(inpt)}")
    if isinstance(inpt, torch.Tensor) and inpt.ndim < 3:
        raise TypeError(f"a tensor must be CHW or NCHW, got {inpt.ndim} axes")
    return Compose(transforms, num_threads=1)(inpt)


def center_crop(inpt: Picture, output_size: Size, device: object = "cpu") -> Any:
    """Crop the center; see `CenterCrop`."""
    return _once(inpt, CenterCrop(output_size))


def resize(
    inpt: Picture,
    size: Size | None,
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
    device: object = "cpu",
) -> Any:
    """Resize an image; see `Resize`."""
    return _once(inpt, Resize(size, interpolation, max_size, antialias))


def horizontal_flip(inpt: Picture, device: object = "cpu") -> Any:
    """Mirror an image from left to right."""
    return _once(inpt, RandomHorizontalFlip(p=1.0))


def vertical_flip(inpt: Picture, device: object = "cpu") -> Any:
    """Mirror an image from top to bottom."""
    return _once(inpt, RandomVerticalFlip(p=1.0))


def gaussian_blur(inpt: Picture, kernel_size: Size, sigma: Range = (0.1, 2.0), device: object = "cpu") -> Any:
    """Blur an image; see `GaussianBlur`."""
    return _once(inpt, GaussianBlur(kernel_size, sigma))


def to_grayscale(inpt: Picture, num_output_channels: int = 1, device: object = "cpu") -> Any:
    """Convert an image to gray; see `Grayscale`."""
    return _once(inpt, Grayscale(num_output_channels))


rgb_to_grayscale = to_grayscale


def normalize(
    input_data: torch.Tensor, mean: npt.ArrayLike, std: npt.ArrayLike, inplace: bool = False, device: object = "cpu"
) -> Any:
    """Subtract a mean and divide by a standard deviation; see `Normalize`."""
    transform = Normalize(mean, std, inplace)
    if not isinstance(input_data, torch.Tensor):
        raise TypeError(f"normalize takes tensors, got {type(input_data)}")
    return _once(input_data, transform)


def pad(
    inpt: Picture,
    padding: Size,
    fill: float = 0,
    padding_mode: PaddingMode = "constant",
    device: object = "cpu",
) -> Any:
    """Pad an image; see `Pad`."""
    return _once(inpt, Pad(padding, fill, padding_mode))


class _Window(Transform):
    """A part of an image, padded with 0 where it exceeds the image."""

    def __init__(self, inpt: Picture, *bounds: float) -> None:
        super().__init__()
        if isinstance(inpt, Image.Image):
            top, left, height, width = bounds
            top, bottom, left, right = (round(edge) for edge in (top, top + height, left, left + width))
            self.bounds = (top, left, bottom - top, right - left)
        else:
            top, left, height, width = (operator.index(cast("int", edge)) for edge in bounds)
            self.bounds = (top, left, height, width)
        positive("height and width", self.bounds[2:])

    def apply(self, images: Images) -> Images:
        return images.window(*self.bounds, out_of_bounds_policy="pad")


def crop(inpt: Picture, top: float, left: float, height: float, width: float, device: object = "cpu") -> Any:
    """Return a part of an image, padded with 0 where it exceeds the image."""
    return _once(inpt, _Window(inpt, top, left, height, width))


def resized_crop(
    inpt: Picture,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Size,
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    antialias: bool = True,
    device: object = "cpu",
) -> Any:
    """Return a part of an image, resized; see `Resize`."""
    return _once(inpt, _Window(inpt, top, left, height, width), Resize(size, interpolation, None, antialias))


def get_size(inpt: Picture) -> list[int]:
    """Return height and width."""
    return get_dimensions(inpt)[1:]


def get_image_size(inpt: Picture) -> list[int]:
    """Return width and height."""
    return get_size(inpt)[::-1]


def get_dimensions(inpt: Picture) -> list[int]:
    """Return the number of channels, height and width."""
    if isinstance(inpt, Image.Image):
        return [len(inpt.getbands()), inpt.height, inpt.width]
    shape = getattr(inpt, "shape", None)
    if shape is None or len(shape) < 2:
        raise TypeError(f"expected a PIL image or a tensor with two axes or more, got {type(inpt)}")
    return [1, *shape] if len(shape) == 2 else list(shape[-3:])


def pil_to_tensor(inpt: Image.Image) -> torch.Tensor:
    """Return a PIL image as a tensor CHW of the same values."""
    if not isinstance(inpt, Image.Image):
        raise TypeError(f"expected a PIL image, got {type(inpt)}")
    kinds: dict[str, npt.DTypeLike] = {"I": np.int32, "I;16": np.int16, "F": np.float32}
    array: Array = np.array(inpt, dtype=kinds.get(inpt.mode, np.uint8))
    return _chw(array * 255 if inpt.mode == "1" else array)


def to_tensor(inpt: Image.Image | Array) -> torch.Tensor:
    """Return a PIL image or an array HWC as a tensor CHW; uint8 becomes float from 0 to 1."""
    if not isinstance(inpt, (Image.Image, np.ndarray)):
        raise TypeError(f"expected a PIL image or an array, got {type(inpt)}")
    tensor = pil_to_tensor(inpt) if isinstance(inpt, Image.Image) else _chw(inpt)
    return tensor.float().div(255.0) if tensor.dtype == torch.uint8 else tensor


def _chw(array: Array) -> torch.Tensor:
    whole = array if array.ndim == 3 else array[:, :, None]
    return torch.from_numpy(np.array(whole.transpose(2, 0, 1), order="C"))


_DTYPES = (torch.uint8, torch.int8, torch.uint16, torch.int16, torch.float32)


def to_pil_image(inpt: torch.Tensor, mode: str | None = None, input_layout: str = "CHW") -> Image.Image:
    """Return a tensor as a PIL image; floats from 0 to 1 become uint8.

    Args:
        inpt: The tensor.
        mode: The mode of the image; by default L, RGB or RGBA by the number of channels.
        input_layout: CHW or HWC.
    """
    if not isinstance(inpt, torch.Tensor):
        raise TypeError(f"expected a tensor, got {type(inpt)}")
    if inpt.ndim != 3:
        raise ValueError(f"expected a tensor with three axes, got {tuple(inpt.shape)}")
    if inpt.dtype not in _DTYPES:
        raise TypeError(f"tensors of type {inpt.dtype} cannot become PIL images")
    array = inpt.detach().cpu().numpy()
    return picture(array if input_layout == "HWC" else array.transpose(1, 2, 0), mode)
