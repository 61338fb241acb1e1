"""Transforms of torchvision that run as one pipeline. Needs PyTorch and Pillow."""

from pixelmill.plugin.pytorch.torchvision.arguments import InterpolationMode
from pixelmill.plugin.pytorch.torchvision.compose import Compose, PILToTensor, ToPILImage, ToPureTensor
from pixelmill.plugin.pytorch.torchvision.random_transforms import (
    ColorJitter,
    RandomCrop,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
)
from pixelmill.plugin.pytorch.torchvision.transforms import (
    CenterCrop,
    GaussianBlur,
    Grayscale,
    Normalize,
    Pad,
    RandomApply,
    Resize,
)

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "GaussianBlur",
    "Grayscale",
    "InterpolationMode",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomApply",
    "RandomCrop",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "ToPILImage",
    "ToPureTensor",
]
