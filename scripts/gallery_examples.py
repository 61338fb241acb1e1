"""The examples of the gallery: for each operator, arguments that show well what it does."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from gallery_chart import HEIGHT, WIDTH, Pixels
from PIL import Image

import pixelmill.experimental.dynamic as pmd
from pixelmill import Pipeline, fn, mixing, types
from pixelmill.auto_aug import auto_augment, rand_augment, trivial_augment


@dataclass(frozen=True)
class Example:
    """How an operator is shown.

    Attributes:
        text: The arguments, as in the source code.
        make: Returns the image after the operator, from the image before it.
    """

    text: str
    make: Callable[[Pixels], Any]


@dataclass(frozen=True)
class Extra:
    """An entry that is not an operator.

    Attributes:
        text: The call, as in the source code.
        summary: What it does.
        make: Returns all images to show.
    """

    text: str
    summary: str
    make: Callable[[Pixels], list[Any]]


# Operators without a visible effect, by family and by name; a test requires every operator to be here or shown.
HIDDEN_FAMILIES = {"encoders", "io", "random", "readers", "reductions"}
HIDDEN = {
    *(
        "batch_permutation",
        "cast",
        "cast_like",
        "constant",
        "copy",
        "dl_tensor_python_function",
        "element_extract",
        "expand_dims",
    ),
    *("external_source", "full", "full_like", "get_property", "one_hot", "ones", "ones_like", "peek_image_shape"),
    *("permute_batch", "python_function", "reinterpret", "reshape", "decoders.mask", "decoders.numpy", "decoders.raw"),
    *("shapes", "per_frame", "sequence_rearrange", "squeeze", "stack", "zeros", "zeros_like"),
}


def _called(name: str) -> Any:
    place: Any = pmd
    for part in name.split("."):
        place = getattr(place, part)
    return place


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(str, value))})" if len(value) > 1 else str(value[0])
    return value.name if hasattr(value, "name") else str(value)


def _jpeg(image: Pixels) -> bytes:
    stored = io.BytesIO()
    Image.fromarray(image).save(stored, "JPEG", quality=92)
    return stored.getvalue()


def _small(image: Pixels) -> Any:
    return pmd.tensor(image[20:130, 10:150], layout="HWC")


def _with(name: str, first: Callable[[Pixels], Any] | None = None, **arguments: Any) -> tuple[str, Example]:
    """Return the example of an operator that takes an image and constants, with a fixed seed."""
    text = ", ".join(f"{key}={_shown(value)}" for key, value in arguments.items())

    def make(image: Pixels) -> Any:
        data = pmd.tensor(image, layout="HWC") if first is None else first(image)
        return np.asarray(_called(name)(data, rng=pmd.RNG(5), **arguments))

    return name, Example(text, make)


def _whirl(image: Pixels) -> Any:
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    across, down = x - WIDTH / 2, y - HEIGHT / 2
    turn = np.maximum(0, 1 - np.hypot(across, down) / 80) * 2
    mapx = across * np.cos(turn) - down * np.sin(turn) + WIDTH / 2
    mapy = across * np.sin(turn) + down * np.cos(turn) + HEIGHT / 2
    return np.asarray(pmd.experimental.remap(pmd.tensor(image, layout="HWC"), mapx, mapy))


def _filter(image: Pixels) -> Any:
    kernel = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], np.float32)
    return np.asarray(pmd.filter(pmd.tensor(image, layout="HWC"), kernel))


def _cat(image: Pixels) -> Any:
    return np.asarray(pmd.cat(image, np.ascontiguousarray(image[:, ::-1]), axis=1))


def _lookup(image: Pixels) -> Any:
    values = [value // 64 * 85 for value in range(256)]
    return np.asarray(pmd.lookup_table(image, keys=list(range(256)), values=values, dtype=types.UINT8))


def _mosaic(image: Pixels) -> Any:
    half = np.array([[0, 0], [0, WIDTH // 2], [HEIGHT // 2, 0], [HEIGHT // 2, WIDTH // 2]])
    starts = np.array([[10, 80], [40, 0], [60, 90], [75, 20]])
    parts = {"in_anchors": starts, "out_anchors": half, "shapes": np.full((4, 2), (HEIGHT // 2, WIDTH // 2))}
    arguments = {key: pmd.batch([value.astype(np.int32)]) for key, value in parts.items()}
    ids = pmd.batch([np.zeros(4, np.int32)])
    made = pmd.multi_paste(pmd.batch([image], layout="HWC"), in_ids=ids, output_size=[HEIGHT, WIDTH], **arguments)
    return np.asarray(made.tensors[0])


EXAMPLES: dict[str, Example] = dict(
    (
        _with("box_blur", size=9),
        _with("channel_dropout", drop=[0, 0, 1]),
        _with("channel_shuffle", order=[2, 0, 1]),
        _with("coarse_dropout", holes=[6]),
        _with("color_jitter", brightness=1.2, contrast=1.3, saturation=1.6, hue=20),
        _with("defocus", radius=4.0),
        _with("downscale", scale=0.2),
        _with("emboss", alpha=0.8, strength=1.0),
        _with("fog", density=0.7),
        _with("gamma", gamma=0.5),
        _with("glass_blur", sigma=1.0, distance=4),
        _with("invert"),
        _with("motion_blur", size=17, angle=30),
        _with("noise.iso", luma=0.2, color=0.08),
        _with("noise.speckle", stddev=0.3),
        _with("pca_lighting", alpha=[0.5, -1.0, 2.0]),
        _with("posterize", bits=2),
        _with("rain", amount=0.5),
        _with("random_erasing", area=[0.1, 0.2]),
        _with("rgb_shift", shift=[40, -20, 0]),
        _with("sepia"),
        _with("shadow"),
        _with("sharpen", alpha=0.6),
        _with("snow", amount=0.5),
        _with("solarize", threshold=128),
        _with("spatter"),
        _with("sun_flare", x=0.3, y=0.25, radius=0.35),
        _with("superpixels", segments=200, probability=0.6),
        _with("to_gray"),
        _with("tone_curve", low=0.05, high=0.95),
        _with("zoom_blur", factor=1.3),
        _with("brightness", brightness=1.5),
        _with("brightness_contrast", brightness=0.8, contrast=1.6),
        ("cat", Example("mirrored, axis=1", _cat)),
        _with("clahe", tiles_x=4, tiles_y=4, clip_limit=4.0),
        _with("color_space_conversion", image_type=types.RGB, output_type=types.GRAY),
        _with("color_twist", brightness=1.1, contrast=1.2, hue=-40, saturation=1.5),
        _with("contrast", contrast=1.8),
        _with("crop", crop=[90, 110], crop_pos_x=0.25, crop_pos_y=0.6),
        _with("crop_mirror_normalize", crop=[130, 150], mirror=1, mean=[128], std=[64]),
        _with("decoders.image", _jpeg),
        _with("decoders.image_crop", _jpeg, crop=[90, 110]),
        _with("decoders.image_random_crop", _jpeg),
        _with("decoders.image_slice", _jpeg, start=[80, 20], end=[190, 110]),
        _with("equalize"),
        _with("erase", anchor=[50, 60], shape=[50, 70], fill_value=90),
        _with("experimental.dilate", mask_size=[7, 7]),
        _with("experimental.erode", mask_size=[7, 7]),
        _with("experimental.median_blur", window_size=[7, 7]),
        ("experimental.remap", Example("mapx, mapy: a whirl", _whirl)),
        _with("experimental.warp_perspective", matrix=[1, 0, 0, 0, 1, 0, 0, 0.004, 0.7]),
        ("filter", Example("[[0, -1, 0], [-1, 5, -1], [0, -1, 0]]", _filter)),
        _with("flip", horizontal=1),
        _with("gaussian_blur", sigma=3.0),
        _with("grid_mask", tile=30, ratio=0.4, angle=0.3),
        _with("hsv", hue=40, saturation=1.4, value=0.9),
        _with("hue", hue=90),
        _with("jitter", nDegree=7),
        _with("jpeg_compression_distortion", quality=4),
        _with("laplacian", window_size=5, smoothing_size=5, dtype=types.FLOAT),
        ("lookup_table", Example("keys=range(256), values=[v // 64 * 85 ...]", _lookup)),
        ("multi_paste", Example("in_ids, in_anchors, shapes, out_anchors", _mosaic)),
        _with("noise.gaussian", stddev=30.0),
        _with("noise.salt_and_pepper", prob=0.1),
        _with("noise.shot", factor=10.0),
        _with("normalize", axes=[0, 1]),
        _with("pad", _small, axes=[0, 1], shape=[150, 200], fill_value=60),
        _with("paste", ratio=1.5, paste_x=0.2, paste_y=0.7, fill_value=[40, 60, 110]),
        _with("random_resized_crop", size=[150, 150]),
        _with("resize", size=[75, 200]),
        _with("resize_crop_mirror", resize_shorter=120, crop=[100, 110], mirror=1),
        _with("rotate", angle=15, keep_size=True, fill_value=0),
        _with("saturation", saturation=0.3),
        _with("slice", start=[80, 20], end=[190, 110]),
        _with("sphere", interp_type=types.INTERP_LINEAR),
        _with("tensor_resize", scales=[0.5, 0.8, 1]),
        _with("transpose", perm=[1, 0, 2]),
        _with("warp_affine", matrix=[0.9, 0.3, -30, -0.1, 1.1, 10], fill_value=0),
        _with("webp_compression_distortion", quality=2),
        _with("water", ampl_x=6.0, ampl_y=6.0, interp_type=types.INTERP_LINEAR),
    )
)


def _augmented(scheme: Callable[[Any], Any], seed: int, image: Pixels) -> list[Any]:
    """Return an image, and three random results of an augmentation scheme."""
    pipe = Pipeline(3, 1, None, seed)
    with pipe:
        pipe.set_outputs(scheme(fn.external_source(source=[[image] * 3], layout="HWC")))
    (batch,) = pipe.run()
    return [image, *(np.array(batch.at(place)) for place in range(3))]


def _mixed(mix: Callable[..., Any], image: Pixels) -> list[Any]:
    """Return two images, and the result for each."""
    night = 255 - image[:, ::-1]
    pipe = Pipeline(2, 1, None, 4)
    with pipe:
        images = fn.external_source(source=[[image, night]], layout="HWC")
        labels = fn.external_source(source=[[np.array([0], np.int32), np.array([1], np.int32)]])
        pipe.set_outputs(mix(images, labels, alpha=4.0, num_classes=2)[0])
    (batch,) = pipe.run()
    return [image, night, *(np.array(batch.at(place)) for place in range(2))]


EXTRAS = {
    "auto_augment": Extra(
        "auto_aug.auto_augment.auto_augment(images)",
        "Apply one of the 25 sub-policies that AutoAugment found for ImageNet.",
        partial(_augmented, auto_augment.auto_augment, 7),
    ),
    "rand_augment": Extra(
        "auto_aug.rand_augment.rand_augment(images, n=2, m=17)",
        "Apply `n` of 14 augmentations, drawn for each sample, with magnitude `m`.",
        partial(_augmented, partial(rand_augment.rand_augment, n=2, m=17), 8),
    ),
    "trivial_augment_wide": Extra(
        "auto_aug.trivial_augment.trivial_augment_wide(images)",
        "Apply one of 14 augmentations with a random magnitude.",
        partial(_augmented, trivial_augment.trivial_augment_wide, 8),
    ),
    "mixup": Extra(
        "mixing.mixup(images, labels, alpha=4.0, num_classes=2)",
        "Blend each image with another one of its batch, and their labels accordingly.",
        partial(_mixed, mixing.mixup),
    ),
    "cutmix": Extra(
        "mixing.cutmix(images, labels, alpha=4.0, num_classes=2)",
        "Paste a window of another image of the batch into each image, and mix the labels by area.",
        partial(_mixed, mixing.cutmix),
    ),
}
