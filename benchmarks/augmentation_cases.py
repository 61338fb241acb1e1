"""Transforms that recipes and Albumentations share, with parameters that ask both for the same work.

Sizes, strengths, windows, numbers of copies and of holes, and the number of draws per pixel are equal. Where both have
a default of their own that users keep (elastic, thin plate, weather), each runs its default: the algorithms differ.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import albumentations as A  # noqa: N812 - its usual name

__all__ = ["SIDE", "TRANSFORMS", "A", "Pixels"]

SIDE = 512
Pixels = np.ndarray[Any, Any]

TURN = cv2.getRotationMatrix2D((SIDE / 2, SIDE / 2), 20, 1.1)
PERSPECTIVE = cv2.getPerspectiveTransform(
    np.array([[20, 30], [490, 10], [500, 490], [5, 505]], np.float32),
    np.array([[0, 0], [512, 0], [512, 512], [0, 512]], np.float32),
)

TABLE: Pixels = (255 * (np.arange(256) / 255) ** 0.8).astype(np.uint8)
KERNEL: Pixels = np.array([[-0.3, -0.3, -0.3], [-0.3, 3.4, -0.3], [-0.3, -0.3, -0.3]], np.float32)

# Our step, their transform, and OpenCV where one call does the same.
TRANSFORMS: dict[str, tuple[dict[str, Any], Callable[[], Any], Callable[[Pixels], object] | None]] = {
    "horizontal flip": (
        {"flip": {"horizontal": 1, "p": 1}},
        lambda: A.HorizontalFlip(p=1),
        lambda image: cv2.flip(image, 1),
    ),
    "vertical flip": ({"flip": {"vertical": 1, "p": 1}}, lambda: A.VerticalFlip(p=1), lambda image: cv2.flip(image, 0)),
    "transpose": ({"transpose": {}}, lambda: A.Transpose(p=1), lambda image: cv2.transpose(image)),
    "rotate90": (
        {"rotate90": {"times": {"integers": [0, 3]}}},
        lambda: A.RandomRotate90(p=1),
        lambda image: cv2.rotate(image, cv2.ROTATE_90_COUNTERCLOCKWISE),
    ),
    "resize to 256": (
        {"resize": {"size": [256, 256], "p": 1}},
        lambda: A.Resize(256, 256, p=1),
        lambda image: cv2.resize(image, (256, 256)),
    ),
    "letterbox to 640": (
        {"letterbox": {"size": [640, 416]}},
        lambda: A.Compose([A.LongestMaxSize(max_size_hw=(640, 416)), A.PadIfNeeded(640, 416, fill=114)]),
        None,
    ),
    "pad to 640": ({"pad": {"size": [640, 640]}}, lambda: A.PadIfNeeded(640, 640, p=1), None),
    "random crop 400": (
        {"crop": {"size": [400, 400], "y": {"uniform": [0, 1]}, "x": {"uniform": [0, 1]}, "p": 1}},
        lambda: A.RandomCrop(400, 400, p=1),
        None,
    ),
    "random resized crop": (
        {"random_resized_crop": {"size": [224, 224]}},
        lambda: A.RandomResizedCrop((224, 224), p=1),
        None,
    ),
    "rotate": (
        {"rotate": {"angle": {"uniform": [-45, 45]}, "p": 1}},
        lambda: A.Rotate(45, p=1),
        lambda image: cv2.warpAffine(image, TURN, (SIDE, SIDE)),
    ),
    "shift scale rotate": (
        {"shift_scale_rotate": {"angle": 20, "scale": 1.1, "shift_x": 0.05}},
        lambda: A.ShiftScaleRotate((0.05, 0.05), (0.1, 0.1), (20, 20), p=1),
        lambda image: cv2.warpAffine(image, TURN, (SIDE, SIDE)),
    ),
    "affine": (
        {"affine": {"angle": 20, "scale": 1.1, "shear_x": 5}},
        lambda: A.Affine(rotate=(20, 20), scale=1.1, shear={"x": (5, 5), "y": (0, 0)}, p=1),
        lambda image: cv2.warpAffine(image, TURN, (SIDE, SIDE)),
    ),
    "perspective": (
        {"perspective": {"strength": 0.07}},
        lambda: A.Perspective(p=1),
        lambda image: cv2.warpPerspective(image, PERSPECTIVE, (SIDE, SIDE)),
    ),
    "elastic": ({"elastic": {}}, lambda: A.ElasticTransform(p=1), None),
    "grid distortion": ({"grid_distortion": {}}, lambda: A.GridDistortion(p=1), None),
    "optical distortion": ({"optical_distortion": {}}, lambda: A.OpticalDistortion(p=1), None),
    "thin plate": ({"thin_plate": {}}, lambda: A.ThinPlateSpline(p=1), None),
    "brightness contrast": (
        {"brightness_contrast": {"brightness_shift": 0.1, "contrast": 1.2}},
        lambda: A.RandomBrightnessContrast(p=1),
        lambda image: cv2.convertScaleAbs(image, alpha=1.2, beta=25),
    ),
    "color jitter": (
        {"color_jitter": {"brightness": 1.1, "contrast": 0.9, "saturation": 1.2, "hue": 20}},
        lambda: A.ColorJitter(p=1),
        None,
    ),
    "hue saturation value": (
        {"hsv": {"hue": 10, "saturation": 1.2, "value": 0.9}},
        lambda: A.HueSaturationValue(p=1),
        None,
    ),
    "rgb shift": ({"rgb_shift": {"shift": [20, -10, 5]}}, lambda: A.RGBShift(p=1), None),
    "gamma": ({"gamma": {"gamma": 0.8}}, lambda: A.RandomGamma(p=1), lambda image: cv2.LUT(image, TABLE)),
    "posterize": ({"posterize": {"bits": 4}}, lambda: A.Posterize(4, p=1), lambda image: cv2.LUT(image, TABLE)),
    "solarize": ({"solarize": {}}, lambda: A.Solarize(p=1), lambda image: cv2.LUT(image, TABLE)),
    "invert": ({"invert": {}}, lambda: A.InvertImg(p=1), lambda image: cv2.bitwise_not(image)),
    "tone curve": ({"tone_curve": {}}, lambda: A.RandomToneCurve(p=1), lambda image: cv2.LUT(image, TABLE)),
    "equalize": ({"equalize": {}}, lambda: A.Equalize(p=1), None),
    "clahe": (
        {"clahe": {"tiles_x": 8, "tiles_y": 8, "clip_limit": 2.0}},
        lambda: A.CLAHE((2, 2), p=1),
        None,
    ),
    "to gray": ({"to_gray": {}}, lambda: A.ToGray(p=1), None),
    "sepia": ({"sepia": {}}, lambda: A.ToSepia(p=1), None),
    "channel shuffle": ({"channel_shuffle": {}}, lambda: A.ChannelShuffle(p=1), None),
    "channel dropout": ({"channel_dropout": {}}, lambda: A.ChannelDropout(p=1), None),
    "pca lighting": ({"pca_lighting": {"alpha": [0.1, 0.1, 0.1]}}, lambda: A.FancyPCA(p=1), None),
    "gauss noise": ({"noise.gaussian": {"stddev": 20}}, lambda: A.GaussNoise(p=1), None),
    "iso noise": ({"noise.iso": {}}, lambda: A.ISONoise(p=1), None),
    "speckle noise": (
        {"noise.speckle": {"stddev": 0.1}},
        lambda: A.MultiplicativeNoise(elementwise=True, p=1),
        None,
    ),
    "salt and pepper": ({"noise.salt_and_pepper": {"prob": 0.03}}, lambda: A.SaltAndPepper(p=1), None),
    "shot noise": ({"noise.shot": {"factor": 5}}, lambda: A.ShotNoise(p=1), None),
    "box blur 5": ({"box_blur": {"size": 5}}, lambda: A.Blur((5, 5), p=1), lambda image: cv2.blur(image, (5, 5))),
    "gaussian blur": (
        {"gaussian_blur": {"sigma": 1.5}},
        lambda: A.GaussianBlur((11, 11), (1.5, 1.5), p=1),
        lambda image: cv2.GaussianBlur(image, (11, 11), 1.5),
    ),
    "median blur 5": (
        {"median_blur": {"window_size": 5}},
        lambda: A.MedianBlur((5, 5), p=1),
        lambda image: cv2.medianBlur(image, 5),
    ),
    "motion blur 7": ({"motion_blur": {"size": 7, "angle": 30}}, lambda: A.MotionBlur((7, 7), p=1), None),
    "defocus": ({"defocus": {"radius": 3}}, lambda: A.Defocus((3, 3), p=1), None),
    "zoom blur": ({"zoom_blur": {"factor": 1.15}}, lambda: A.ZoomBlur((1.15, 1.15), (0.02, 0.02), p=1), None),
    "glass blur": ({"glass_blur": {}}, lambda: A.GlassBlur(iterations=1, p=1), None),
    "superpixels": ({"superpixels": {}}, lambda: A.Superpixels((0.1, 0.1), (100, 100), p=1), None),
    "sharpen": ({"sharpen": {}}, lambda: A.Sharpen(p=1), lambda image: cv2.filter2D(image, -1, KERNEL)),
    "emboss": ({"emboss": {}}, lambda: A.Emboss(p=1), lambda image: cv2.filter2D(image, -1, KERNEL)),
    "jpeg compression": (
        {"jpeg_compression_distortion": {"quality": 70}},
        lambda: A.ImageCompression(quality_range=(70, 70), p=1),
        None,
    ),
    "webp compression": (
        {"webp_compression_distortion": {"quality": 70}},
        lambda: A.ImageCompression("webp", quality_range=(70, 70), p=1),
        None,
    ),
    "downscale": ({"downscale": {"scale": 0.25}}, lambda: A.Downscale(p=1), None),
    "coarse dropout": (
        {"coarse_dropout": {"holes": [8], "height": [0.1, 0.2], "width": [0.1, 0.2]}},
        lambda: A.CoarseDropout((8, 8), p=1),
        None,
    ),
    "random erasing": ({"random_erasing": {}}, lambda: A.Erasing(p=1), None),
    "grid dropout": ({"grid_mask": {"tile": 64}}, lambda: A.GridDropout(unit_size_range=(64, 65), p=1), None),
    "rain": ({"rain": {}}, lambda: A.RandomRain(p=1), None),
    "snow": ({"snow": {}}, lambda: A.RandomSnow(p=1), None),
    "fog": ({"fog": {}}, lambda: A.RandomFog(p=1), None),
    "sun flare": ({"sun_flare": {}}, lambda: A.RandomSunFlare(p=1), None),
    "shadow": ({"shadow": {}}, lambda: A.RandomShadow(p=1), None),
    "spatter": ({"spatter": {}}, lambda: A.Spatter(p=1), None),
}
