"""What every operator means: one entry for each operator of the registry.

An entry is a graph for either package, the same thing for one sample in NumPy, and the kind of inputs both take. An
operator whose meaning needs more than a few lines of NumPy has no reference here but tests of its own.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy_operators
from encoded_images import pillow
from numpy_operators import SEED, centred, resized, round_half_up, saturated, twisted, window
from PIL import Image


@dataclass(frozen=True)
class Entry:
    """One operator.

    Attributes:
        graph: Makes the node, or several, from the package and the nodes of the inputs.
        reference: Does the same with the arrays of one sample; draws take the number of the sample as well. None where
            DALI, or another test module, has to say what is right.
        inputs: `images`, `masks`, `boxes`, `files`, `mask_files`, `arrays` (as files), `shapes`, `paths`, or `names`
            (as bytes).
        draws: Whether the result is random, so that DALI's is another one.
        alone: Whether a sample depends on itself alone, and not on its batch.
        empty: Whether images without pixels are allowed.
        level: What whole numbers may differ by from the reference; from DALI, the declaration tells.
        real: What floats may differ by.
        unlike_dali: Why DALI's results are others, where they are.
    """

    graph: Callable[..., Any]
    reference: Callable[..., Any] | None = None
    inputs: str = "pictures"
    draws: bool = False
    alone: bool = True
    empty: bool = True
    level: int = 0
    real: float = 0.0
    unlike_dali: str = ""


# Where objects are looked for: corners of boxes.
ANCHORS = [0.1, 0.1, 0.5, 0.6, 0.4, 0.3, 0.9, 0.8, 0.0, 0.0, 1.0, 1.0]

# A mean for each channel.
HUNDREDS = np.full(3, 100, np.float32)

# Two masks of one polygon each: rows of a mask, its first vertex, and the vertex after its last.
POLYGONS = np.array([[0, 0, 2], [2, 2, 5]])
VERTICES = np.eye(5, 2, dtype=np.float32)


# A map of the result to the source that is not affine, and places of a result of 4 x 6 pixels, by column and row.
PERSPECTIVE = [1.1, 0.1, -0.7, 0.05, 0.9, 0.4, 0.002, -0.003, 1.0]
PLACES = np.stack(np.meshgrid(np.linspace(-1, 9, 6), np.linspace(-0.5, 7, 4))).astype(np.float32)


NOT_DALIS = "DALI has no such operator"


ENTRIES = {
    # Readers and sources
    "readers.file": Entry(
        lambda m, path: m.fn.readers.file(files=path)[0], lambda path: np.fromfile(path, np.uint8), "paths"
    ),
    "external_source": Entry(lambda m, x: x, lambda x: x),
    "python_function": Entry(lambda m, x: m.fn.python_function(x, function=lambda a: a // 2), lambda x: x // 2),
    "dl_tensor_python_function": Entry(
        lambda m, x: m.fn.dl_tensor_python_function(x, function=lambda given: given), lambda x: x, empty=False
    ),
    # Decoders
    "decoders.image": Entry(lambda m, f: m.fn.decoders.image(f), pillow, "files"),
    "decoders.image_crop": Entry(
        lambda m, f: m.fn.decoders.image_crop(f, crop=(9, 8)), lambda f: centred(pillow(f), 9, 8), "files"
    ),
    "decoders.image_slice": Entry(
        lambda m, f: m.fn.decoders.image_slice(f, start=[3, 2], shape=[8, 9]),
        lambda f: window(pillow(f), (2, 3), (9, 8)),
        "files",
    ),
    "decoders.image_random_crop": Entry(
        lambda m, f: m.fn.decoders.image_random_crop(f, seed=SEED),
        lambda i, f: window(pillow(f), *numpy_operators.drawn_window(i, pillow(f).shape)),
        "files",
        draws=True,
    ),
    "peek_image_shape": Entry(
        lambda m, f: m.fn.peek_image_shape(f), lambda f: np.array(pillow(f).shape, np.int64), "files"
    ),
    "decoders.mask": Entry(
        lambda m, f: m.fn.decoders.mask(f),
        lambda f: np.asarray(Image.open(io.BytesIO(f)), np.uint16)[:, :, None],
        "mask_files",
        unlike_dali=NOT_DALIS,
    ),
    "decoders.numpy": Entry(lambda m, f: m.fn.decoders.numpy(f), lambda f: np.load(io.BytesIO(f)), "arrays"),
    "io.file.read": Entry(lambda m, f: m.fn.io.file.read(f), lambda f: np.fromfile(bytes(f), np.uint8), "names"),
    "encoders.image": Entry(
        lambda m, x: m.fn.decoders.image(m.fn.encoders.image(x, format="png")),
        lambda x: x,
        empty=False,
        unlike_dali=NOT_DALIS,
    ),
    # Windows and mirrors
    "crop": Entry(
        lambda m, x: m.fn.crop(x, crop=(1, 1), crop_pos_x=0.3), lambda x: centred(x, 1, 1, x_=0.3), empty=False
    ),
    "slice": Entry(
        lambda m, x: m.fn.slice(x, rel_start=[0.0, 0.25], rel_end=[0.5, 1.0]),
        lambda x: x[round_half_up(0.25 * x.shape[0]) :, : round_half_up(0.5 * x.shape[1])],
    ),
    "flip": Entry(lambda m, x: m.fn.flip(x, horizontal=1, vertical=1), lambda x: x[::-1, ::-1]),
    "pad": Entry(
        lambda m, x: m.fn.pad(x, axes=[0, 1], shape=[33, 1], fill_value=9),
        lambda x: np.pad(x, [(0, max(0, 33 - len(x))), (0, max(0, 1 - x.shape[1])), (0, 0)], constant_values=9),
    ),
    "transpose": Entry(lambda m, x: m.fn.transpose(x, perm=[2, 0, 1]), lambda x: x.transpose(2, 0, 1)),
    # Elements
    "cast": Entry(lambda m, x: m.fn.cast(x, dtype=m.types.INT8), lambda x: saturated(x.astype(float), np.int8)),
    "crop_mirror_normalize": Entry(
        lambda m, x: m.fn.crop_mirror_normalize(x, mirror=1, mean=[10, 20, 30], std=[4, 5, 6]),
        lambda x: numpy_operators.normalized(x[:, ::-1], [10, 20, 30], [4, 5, 6]),
        real=1e-4,
    ),
    # Resampling
    "resize": Entry(
        lambda m, x: m.fn.resize(x, size=(9, 11)), lambda x: saturated(resized(x, (9, 11))), empty=False, level=1
    ),
    "resize_crop_mirror": Entry(
        lambda m, x: m.fn.resize_crop_mirror(x, size=(12, 14), crop=(6, 5), crop_pos_x=0, crop_pos_y=0, mirror=1),
        lambda x: saturated(resized(x, (12, 14))[:6, :5][:, ::-1]),
        empty=False,
        level=1,
    ),
    "random_resized_crop": Entry(
        lambda m, x: m.fn.random_resized_crop(x, size=(7, 8), seed=SEED),
        lambda i, x: numpy_operators.random_part(i, x, (7, 8)),
        draws=True,
        empty=False,
        level=1,
    ),
    # Colors
    "hue": Entry(lambda m, x: m.fn.hue(x, hue=60.0), lambda x: twisted(x, hue=60.0), level=1),
    "saturation": Entry(lambda m, x: m.fn.saturation(x, saturation=0.4), lambda x: twisted(x, saturation=0.4), level=1),
    "hsv": Entry(
        lambda m, x: m.fn.hsv(x, hue=-30.0, value=1.2), lambda x: twisted(x, -30.0, contrast=1, brightness=1.2), level=1
    ),
    "color_twist": Entry(
        lambda m, x: m.fn.color_twist(x, hue=10.0, saturation=1.5, brightness=0.8, contrast=1.3),
        lambda x: twisted(x, 10.0, 1.5, 0.8, 1.3),
        level=1,
    ),
    "color_space_conversion": Entry(
        lambda m, x: m.fn.color_space_conversion(x, image_type=m.types.RGB, output_type=m.types.YCbCr),
        lambda x: saturated(x @ numpy_operators.YCBCR.T + [16, 128, 128]),
        level=1,
    ),
    # Filters and effects
    "gaussian_blur": Entry(
        lambda m, x: m.fn.gaussian_blur(x, sigma=1.5),
        lambda x: saturated(numpy_operators.correlated(x, numpy_operators.bell(1.5))),
        level=1,
    ),
    "laplacian": Entry(
        lambda m, x: m.fn.laplacian(x, scale=0.25),
        lambda x: saturated(numpy_operators.correlated(x, np.array([[2, 0, 2], [0, -8, 0], [2, 0, 2]]) / 4)),
        level=1,
    ),
    "filter": Entry(
        lambda m, x: m.fn.filter(x, m.types.Constant(np.float32([[0.5, -1.0, 0.25], [1.0, 0.0, 0.5]])), border="clamp"),
        lambda x: saturated(numpy_operators.correlated(x, np.array([[0.5, -1.0, 0.25], [1.0, 0.0, 0.5]]), "edge")),
        level=1,
    ),
    "experimental.median_blur": Entry(
        lambda m, x: m.fn.experimental.median_blur(x, window_size=5),
        lambda x: numpy_operators.median(x, 5),
        unlike_dali="DALI has it for GPUs only",
    ),
    "experimental.dilate": Entry(
        lambda m, x: m.fn.experimental.dilate(x, mask_size=[3, 5]),
        lambda x: numpy_operators.extreme(x, np.max, 3, 5),
        unlike_dali="DALI has it for GPUs only",
    ),
    "experimental.erode": Entry(
        lambda m, x: m.fn.experimental.erode(x, mask_size=[3, 5]),
        lambda x: numpy_operators.extreme(x, np.min, 3, 5),
        unlike_dali="DALI has it for GPUs only",
    ),
    "experimental.remap": Entry(
        lambda m, x: m.fn.experimental.remap(x, m.types.Constant(PLACES[0]), m.types.Constant(PLACES[1])),
        lambda x: saturated(numpy_operators.at_places(x, *(PLACES - 0.5))),
        unlike_dali="DALI has it for GPUs only",
        empty=False,
        level=1,
    ),
    "experimental.warp_perspective": Entry(
        lambda m, x: m.fn.experimental.warp_perspective(x, matrix=PERSPECTIVE, size=[9, 12]),
        lambda x: saturated(numpy_operators.at_places(x, *numpy_operators.projected(PERSPECTIVE, 9, 12))),
        empty=False,
        level=1,
    ),
    # Sequences: here the rows of images are the frames
    "sequence_rearrange": Entry(
        lambda m, x: m.fn.sequence_rearrange(m.fn.reshape(x, layout="FWC"), new_order=[0, 0]),
        lambda x: x[[0, 0]],
        empty=False,
    ),
    "per_frame": Entry(lambda m, x: m.fn.per_frame(x, replace=True), lambda x: x),
    "equalize": Entry(lambda m, x: m.fn.equalize(x), numpy_operators.equalized, level=1),
    "sphere": Entry(lambda m, x: m.fn.sphere(x), numpy_operators.on_a_ball),
    "water": Entry(
        lambda m, x: m.fn.water(x, ampl_x=3.0, ampl_y=3.0, freq_x=0.3, freq_y=0.3),
        lambda x: numpy_operators.under_water(x, 3.0, 0.3),
    ),
    "noise.gaussian": Entry(
        lambda m, x: m.fn.noise.gaussian(x, stddev=12.0, seed=SEED),
        lambda i, x: numpy_operators.noisy(i, x, 12.0),
        draws=True,
        level=1,
    ),
    "noise.salt_and_pepper": Entry(
        lambda m, x: m.fn.noise.salt_and_pepper(x, prob=0.4, seed=SEED),
        lambda i, x: numpy_operators.salted(i, x, 0.4),
        draws=True,
    ),
    # Geometry
    "rotate": Entry(lambda m, x: m.fn.rotate(x, angle=90.0), np.rot90),
    "warp_affine": Entry(
        lambda m, x: m.fn.warp_affine(x, matrix=[1, 0, 1, 0, 1, 0], fill_value=7),
        lambda x: np.pad(x[:, 1:], [(0, 0), (0, min(1, x.shape[1])), (0, 0)], constant_values=7),
    ),
    "tensor_resize": Entry(
        lambda m, x: m.fn.tensor_resize(x, scales=[2.0], axes=[1], interp_type=m.types.INTERP_NN),
        lambda x: np.repeat(x, 2, axis=1),
        empty=False,
    ),
    "coord_transform": Entry(
        lambda m, x: m.fn.coord_transform(x, M=2.0, T=[1, 2, 3]), lambda x: x * np.float32(2) + np.float32([1, 2, 3])
    ),
    "erase": Entry(
        lambda m, x: m.fn.erase(x, anchor=[1, 2], shape=[3, 2], fill_value=9),
        lambda x: numpy_operators.blotted(x, slice(1, 4), slice(2, 4)),
    ),
    "grid_mask": Entry(
        lambda m, x: m.fn.grid_mask(x, tile=4, ratio=0.5),
        lambda x: np.where(np.any(np.indices(x.shape[:2]) % 4 >= 2, axis=0)[..., None], x, 0).astype(np.uint8),
    ),
    "paste": Entry(
        lambda m, x: m.fn.paste(x, ratio=2.0, fill_value=9, paste_x=0.0, paste_y=1.0),
        lambda x: np.pad(x, [(len(x), 0), (0, x.shape[1]), (0, 0)], constant_values=9),
    ),
    "multi_paste": Entry(
        lambda m, x: m.fn.multi_paste(m.fn.crop(x, crop=(1, 1)), m.fn.crop(x, crop=(1, 1), crop_pos_y=1.0)),
        lambda x: centred(x, 1, 1, y=1.0),
        empty=False,
    ),
    # Draws
    "random_crop_generator": Entry(
        lambda m, s: m.fn.random_crop_generator(s, seed=SEED),
        lambda i, s: numpy_operators.drawn_window(i, s),
        "shapes",
        draws=True,
    ),
    "random.uniform": Entry(
        lambda m, s: m.fn.random.uniform(seed=SEED), lambda i, s: numpy_operators.drawn_uniform(i), "shapes", draws=True
    ),
    "random.normal": Entry(
        lambda m, s: m.fn.random.normal(shape=[5], seed=SEED),
        lambda i, s: numpy_operators.drawn_normals(i, 5),
        "shapes",
        draws=True,
        real=1e-5,
    ),
    "random.coin_flip": Entry(
        lambda m, s: m.fn.random.coin_flip(shape=[9], probability=0.3, seed=SEED),
        lambda i, s: numpy_operators.drawn_coins(i, 9, 0.3),
        "shapes",
        draws=True,
    ),
    "random.beta": Entry(lambda m, s: m.fn.random.beta(alpha=2.0, beta=0.5, seed=SEED), None, "shapes", draws=True),
    "random.choice": Entry(
        lambda m, s: m.fn.random.choice([3, 1, 4], shape=[9], seed=SEED),
        lambda i, s: numpy_operators.drawn_choices(i, [3, 1, 4], 9),
        "shapes",
        draws=True,
    ),
    # Shapes
    "shapes": Entry(lambda m, x: m.fn.shapes(x), lambda x: np.array(x.shape, np.int64)),
    "reshape": Entry(lambda m, x: m.fn.reshape(x, shape=[-1]), lambda x: x.reshape(-1)),
    "reinterpret": Entry(lambda m, x: m.fn.reinterpret(x, dtype=m.types.INT8), lambda x: x.view(np.int8)),
    "decoders.raw": Entry(
        lambda m, x: m.fn.decoders.raw(m.fn.reshape(x, shape=[-1]), shape=m.fn.shapes(x), layout="HWC"),
        lambda x: x,
        empty=False,
        unlike_dali="DALI has nothing like it",
    ),
    "expand_dims": Entry(lambda m, x: m.fn.expand_dims(x, axes=[0]), lambda x: x[None]),
    "squeeze": Entry(lambda m, x: m.fn.squeeze(m.fn.expand_dims(x, axes=[1]), axes=[1]), lambda x: x),
    "stack": Entry(lambda m, x: m.fn.stack(x, m.fn.flip(x), axis=1), lambda x: np.stack([x, x[:, ::-1]], axis=1)),
    "cat": Entry(
        lambda m, x: m.fn.cat(x, m.fn.flip(x), axis=0), lambda x: np.concatenate([x, x[:, ::-1]]), empty=False
    ),
    "copy": Entry(lambda m, x: m.fn.copy(x), lambda x: x),
    "element_extract": Entry(
        lambda m, x: m.fn.element_extract(m.fn.stack(x, m.fn.flip(x)), element_map=[1]), lambda x: x[:, ::-1]
    ),
    # Constants
    "constant": Entry(lambda m, x: m.fn.constant(idata=[3, 4], shape=[2, 1]), lambda x: np.array([[3], [4]], np.int32)),
    "full": Entry(lambda m, x: m.fn.full(2.5, shape=[2, 3]), lambda x: np.full((2, 3), 2.5, np.float32)),
    "full_like": Entry(lambda m, x: m.fn.full_like(x, 7), lambda x: np.full_like(x, 7)),
    "zeros": Entry(lambda m, x: m.fn.zeros(shape=[2, 3]), lambda x: np.zeros((2, 3), np.int32)),
    "zeros_like": Entry(lambda m, x: m.fn.zeros_like(x), lambda x: np.zeros_like(x)),
    "ones": Entry(lambda m, x: m.fn.ones(shape=[4], dtype=m.types.FLOAT), lambda x: np.ones(4, np.float32)),
    "ones_like": Entry(lambda m, x: m.fn.ones_like(x, dtype=m.types.INT16), lambda x: np.ones_like(x, np.int16)),
    # Elements
    "cast_like": Entry(lambda m, x: m.fn.cast_like(x, np.float32(0)), lambda x: x.astype(np.float32)),
    "one_hot": Entry(
        lambda m, x: m.fn.one_hot(x, num_classes=9), lambda x: (x[..., None] == np.arange(9)).astype(np.float32)
    ),
    "lookup_table": Entry(
        lambda m, x: m.fn.lookup_table(x, keys=[1, 200], values=[0.5, 3.0], default_value=-1.0),
        lambda x: np.select([x == 1, x == 200], [np.float32(0.5), np.float32(3)], np.float32(-1)),
    ),
    "brightness": Entry(
        lambda m, x: m.fn.brightness(x, brightness=1.5, brightness_shift=-0.1),
        lambda x: saturated(1.5 * x - 0.1 * 255),
        level=1,
    ),
    "contrast": Entry(
        lambda m, x: m.fn.contrast(x, contrast=0.7, contrast_center=100.0),
        lambda x: saturated(100 + 0.7 * (x - 100.0)),
        level=1,
    ),
    "brightness_contrast": Entry(
        lambda m, x: m.fn.brightness_contrast(x, brightness=1.2, contrast=0.7, contrast_center=100.0),
        lambda x: saturated(1.2 * (100 + 0.7 * (x - 100.0))),
        level=1,
    ),
    "normalize": Entry(
        lambda m, x: m.fn.normalize(x, mean=100.0, stddev=50.0),
        lambda x: ((x - 100.0) / 50).astype(np.float32),
        real=1e-5,
    ),
    # Reductions
    "reductions.max": Entry(
        lambda m, x: m.fn.reductions.max(x, axes=[0, 1]), lambda x: x.max(axis=(0, 1)), empty=False
    ),
    "reductions.min": Entry(lambda m, x: m.fn.reductions.min(x, axes=[2]), lambda x: x.min(axis=2)),
    "reductions.sum": Entry(lambda m, x: m.fn.reductions.sum(x, axes=[0]), lambda x: x.sum(axis=0, dtype=np.uint64)),
    "reductions.mean": Entry(
        lambda m, x: m.fn.reductions.mean(x, axes=[0, 1]),
        lambda x: np.float32(x.mean(axis=(0, 1))),
        empty=False,
        real=1e-3,
    ),
    "reductions.mean_square": Entry(
        lambda m, x: m.fn.reductions.mean_square(x, axes=[0, 1]),
        lambda x: np.float32((x.astype(float) ** 2).mean(axis=(0, 1))),
        empty=False,
        real=0.1,
    ),
    "reductions.rms": Entry(
        lambda m, x: m.fn.reductions.rms(x, axes=[0, 1]),
        lambda x: np.float32(np.sqrt((x.astype(float) ** 2).mean(axis=(0, 1)))),
        empty=False,
        real=1e-2,
    ),
    "reductions.variance": Entry(
        lambda m, x: m.fn.reductions.variance(x, HUNDREDS, axes=[0, 1]),
        lambda x: np.float32(((x - 100.0) ** 2).mean(axis=(0, 1))),
        empty=False,
        real=0.1,
    ),
    "reductions.std_dev": Entry(
        lambda m, x: m.fn.reductions.std_dev(x, HUNDREDS, axes=[0, 1]),
        lambda x: np.float32(np.sqrt(((x - 100.0) ** 2).mean(axis=(0, 1)))),
        empty=False,
        real=1e-2,
    ),
    # Other names
    "experimental.equalize": Entry(lambda m, x: m.fn.experimental.equalize(x), numpy_operators.equalized, level=1),
    "experimental.filter": Entry(
        lambda m, x: m.fn.experimental.filter(x, m.types.Constant(np.float32([[0.5, 0.5]])), border="clamp"),
        lambda x: saturated(numpy_operators.correlated(x, np.array([[0.5, 0.5]]), "edge")),
        level=1,
    ),
    "experimental.tensor_resize": Entry(
        lambda m, x: m.fn.experimental.tensor_resize(x, scales=[2.0], axes=[1], interp_type=m.types.INTERP_NN),
        lambda x: np.repeat(x, 2, axis=1),
        empty=False,
    ),
    # What no few lines of NumPy say
    "clahe": Entry(lambda m, x: m.fn.clahe(x, tiles_x=2, tiles_y=2, clip_limit=2.0), empty=False, level=1),
    "jpeg_compression_distortion": Entry(
        lambda m, x: m.fn.jpeg_compression_distortion(x, quality=60), empty=False, level=1
    ),
    "jitter": Entry(
        lambda m, x: m.fn.jitter(x, nDegree=5, seed=SEED),
        draws=True,
        empty=False,
        unlike_dali="DALI has it for GPUs only",
    ),
    "noise.shot": Entry(lambda m, x: m.fn.noise.shot(x, factor=9.0, seed=SEED), draws=True),
    # Batches
    "permute_batch": Entry(
        lambda m, x: m.fn.permute_batch(x, indices=m.fn.batch_permutation(seed=SEED)), draws=True, alone=False
    ),
    "batch_permutation": Entry(lambda m, x: m.fn.batch_permutation(seed=SEED), draws=True, alone=False),
    "get_property": Entry(lambda m, x: m.fn.get_property(x, key="layout"), lambda x: np.frombuffer(b"HWC", np.uint8)),
    # Boxes and points
    "bb_flip": Entry(lambda m, b: m.fn.bb_flip(b), numpy_operators.mirrored_boxes, "boxes", real=1e-6),
    "bbox_paste": Entry(
        lambda m, b: m.fn.bbox_paste(b, ratio=2.0, paste_x=0.25, paste_y=1.0),
        lambda b: numpy_operators.pasted_boxes(b, 2.0, 0.25, 1.0),
        "boxes",
        real=1e-6,
    ),
    "bbox_rotate": Entry(
        lambda m, b: m.fn.bbox_rotate(b, angle=30.0, input_shape=[40, 50], bbox_layout="xyWH"), None, "boxes", real=1e-4
    ),
    "box_encoder": Entry(
        lambda m, b: m.fn.box_encoder(
            b, m.fn.ones(shape=m.fn.cast(b.shape()[:1], dtype=m.types.INT32)), anchors=ANCHORS
        ),
        None,
        "boxes",
        real=1e-5,
    ),
    "random_bbox_crop": Entry(
        lambda m, b: m.fn.random_bbox_crop(
            b, bbox_layout="xyWH", scaling=[0.5, 1.0], aspect_ratio=[0.5, 2.0], seed=SEED
        ),
        None,
        "boxes",
        draws=True,
    ),
    "roi_random_crop": Entry(
        lambda m, s: m.fn.roi_random_crop(crop_shape=[5, 6], roi_start=[1, 2], roi_end=[9, 4], seed=SEED),
        None,
        "shapes",
        draws=True,
    ),
    "coord_flip": Entry(
        lambda m, b: m.fn.coord_flip(m.fn.reshape(b, shape=[-1, 2]), layout="xy", flip_y=1),
        lambda b: 1 - b.reshape(-1, 2),
        "boxes",
        real=1e-6,
        empty=False,
    ),
    "transforms.translation": Entry(
        lambda m, s: m.fn.transforms.translation(offset=[3, -4]),
        lambda s: np.float32([[1, 0, 3], [0, 1, -4]]),
        "shapes",
    ),
    "transforms.scale": Entry(
        lambda m, s: m.fn.transforms.scale(scale=[2, 3], center=[1, 1]),
        lambda s: np.float32([[2, 0, -1], [0, 3, -2]]),
        "shapes",
    ),
    "transforms.rotation": Entry(
        lambda m, s: m.fn.transforms.rotation(angle=40.0), lambda s: numpy_operators.turn(40.0), "shapes", real=1e-6
    ),
    "transforms.shear": Entry(
        lambda m, s: m.fn.transforms.shear(shear=[2, 3]), lambda s: np.float32([[1, 2, 0], [3, 1, 0]]), "shapes"
    ),
    "transforms.crop": Entry(
        lambda m, s: m.fn.transforms.crop(from_start=[0, 1], from_end=[2, 3], to_start=[4, 5], to_end=[8, 6]),
        lambda s: np.float32([[2, 0, 4], [0, 0.5, 4.5]]),
        "shapes",
    ),
    "transforms.combine": Entry(
        lambda m, s: m.fn.transforms.combine(
            m.fn.transforms.translation(offset=[3, -4]), m.fn.transforms.scale(scale=[2, 3])
        ),
        lambda s: np.float32([[2, 0, 6], [0, 3, -12]]),
        "shapes",
    ),
    # Masks
    "segmentation.random_object_bbox": Entry(
        lambda m, x: m.fn.segmentation.random_object_bbox(x, seed=SEED), None, "masks", draws=True
    ),
    "segmentation.random_mask_pixel": Entry(
        lambda m, x: m.fn.segmentation.random_mask_pixel(x, foreground=1, seed=SEED), None, "masks", draws=True
    ),
    "segmentation.select_masks": Entry(
        lambda m, s: m.fn.segmentation.select_masks(np.array([2]), POLYGONS, VERTICES),
        lambda s: (np.int32([[2, 0, 3]]), VERTICES[2:]),
        "shapes",
    ),
}
