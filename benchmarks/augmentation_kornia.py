"""The transforms of `augmentation_cases.py` that Kornia has, for tensors of floats on the CPU.

Kornia computes on floats from 0 to 1 in CHW, so its users convert before; the conversion is not measured. Strengths
that are ranges there are what Albumentations has by default.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import kornia.augmentation as K  # noqa: N812 - its usual name

TRANSFORMS: dict[str, Callable[[], Any]] = {
    "horizontal flip": lambda: K.RandomHorizontalFlip(p=1),
    "vertical flip": lambda: K.RandomVerticalFlip(p=1),
    "rotate90": lambda: K.RandomRotation90((0, 3), p=1),
    "resize to 256": lambda: K.Resize((256, 256)),
    "pad to 640": lambda: K.PadTo((640, 640)),
    "random crop 400": lambda: K.RandomCrop((400, 400), p=1),
    "random resized crop": lambda: K.RandomResizedCrop((224, 224), p=1),
    "rotate": lambda: K.RandomRotation((20.0, 20.0), p=1),
    "shift scale rotate": lambda: K.RandomAffine((20.0, 20.0), translate=(0.1, 0.1), scale=(1.1, 1.1), p=1),
    "affine": lambda: K.RandomAffine((10.0, 10.0), scale=(0.9, 0.9), shear=(5.0, 5.0), p=1),
    "perspective": lambda: K.RandomPerspective(0.1, p=1),
    "elastic": lambda: K.RandomElasticTransform(p=1),
    "thin plate": lambda: K.RandomThinPlateSpline(p=1),
    "color jitter": lambda: K.ColorJitter(0.2, 0.2, 0.2, 0.1, p=1),
    "rgb shift": lambda: K.RandomRGBShift(p=1),
    "gamma": lambda: K.RandomGamma((0.8, 0.8), p=1),
    "posterize": lambda: K.RandomPosterize((4.0, 4.0), p=1),
    "solarize": lambda: K.RandomSolarize(p=1),
    "invert": lambda: K.RandomInvert(p=1),
    "equalize": lambda: K.RandomEqualize(p=1),
    "clahe": lambda: K.RandomClahe(p=1),
    "to gray": lambda: K.RandomGrayscale(p=1),
    "channel shuffle": lambda: K.RandomChannelShuffle(p=1),
    "channel dropout": lambda: K.RandomChannelDropout(p=1),
    "gauss noise": lambda: K.RandomGaussianNoise(std=0.08, p=1),
    "salt and pepper": lambda: K.RandomSaltAndPepperNoise(0.03, p=1),
    "box blur 5": lambda: K.RandomBoxBlur((5, 5), p=1),
    "gaussian blur": lambda: K.RandomGaussianBlur((7, 7), (1.5, 1.5), p=1),
    "median blur 5": lambda: K.RandomMedianBlur((5, 5), p=1),
    "motion blur 7": lambda: K.RandomMotionBlur(7, 30.0, 0.0, p=1),
    "sharpen": lambda: K.RandomSharpness(p=1),
    "random erasing": lambda: K.RandomErasing(p=1),
    "rain": lambda: K.RandomRain(p=1),
    "snow": lambda: K.RandomSnow(p=1),
    "jpeg compression": lambda: K.RandomJPEG((70.0, 70.0), p=1),
}


def batch_of(name: str, images: list[Any]) -> Callable[[], object] | None:
    """Return a function that transforms all images as one batch, in one thread; None if Kornia has no such one."""
    make = TRANSFORMS.get(name)
    if make is None:
        return None
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transform = make()
    batch = torch.stack([torch.from_numpy(image).permute(2, 0, 1).float() / 255 for image in images])

    def run() -> object:
        with torch.inference_mode():
            return transform(batch)

    return run
