"""Graphs of golden_runs.py on pixels and numbers; together with golden_readers.py they use every operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill import fn, math, types


@dataclass(frozen=True)
class Data:
    """The inputs of all graphs.

    Attributes:
        classes: Folder of JPEG files of several sizes, in class folders.
        mixed: Folder of files in every encoding that the decoders support.
        arrays: Folder of npy files.
        tfrecord: Folder of TFRecord files.
        recordio: Folder of RecordIO files with their indices.
        tars: Folder of WebDataset shards.
        coco: Folder with the images and annotations.json of a COCO dataset.
    """

    classes: Path
    mixed: Path
    arrays: Path
    tfrecord: Path
    recordio: Path
    tars: Path
    coco: Path


Graph = Callable[[Data], Any]

ANCHORS = [0.1, 0.1, 0.5, 0.6, 0.4, 0.3, 0.9, 0.8, 0.0, 0.0, 1.0, 1.0]


def jpeg_of(data: Data, **options: Any) -> tuple[Any, Any]:
    """Return encoded images and their labels, in random order."""
    encoded, labels = fn.readers.file(file_root=str(data.classes), random_shuffle=True, name="Reader", **options)
    return encoded, labels


def images_of(data: Data, **options: Any) -> Any:
    """Return decoded images, in random order."""
    return fn.decoders.image(jpeg_of(data)[0], **options)


def _array(shape: Sequence[int], dtype: Any = np.uint8, seed: int = 3, layout: str | None = None) -> Any:
    """Return a node with the same seeded arrays in every batch, each sample one row longer than the one before."""
    random = np.random.default_rng(seed)
    sizes = [(shape[0] + place, *shape[1:]) for place in range(5)]
    if np.dtype(dtype).kind == "f":
        batch = [random.random(size).astype(dtype) for size in sizes]
    else:
        batch = [random.integers(0, 120, size).astype(dtype) for size in sizes]
    return fn.external_source(source=lambda: batch, layout=layout)


def _boxes() -> Any:
    random = np.random.default_rng(5)
    corners = [random.random((3, 4)).astype(np.float32) * np.float32(0.5) for _ in range(5)]
    return fn.external_source(source=lambda: [np.c_[c[:, :2], c[:, :2] + c[:, 2:]].astype(np.float32) for c in corners])


def one_of(low: float, high: float) -> Any:
    """Return a number for each sample."""
    return fn.random.uniform(range=[low, high])


def train(data: Data) -> Any:
    encoded, labels = jpeg_of(data)
    images = fn.decoders.image_random_crop(encoded, random_area=[0.1, 1.0])
    images = fn.resize(images, size=[72, 66])
    mirror = fn.random.coin_flip()
    normal = fn.crop_mirror_normalize(images, mirror=mirror, mean=[120.0, 115, 100], std=[58.0, 57, 56])
    return normal, labels


def validation(data: Data) -> Any:
    images = fn.resize(images_of(data), resize_shorter=26)
    halves = fn.crop_mirror_normalize(images, crop=(22, 22), dtype=types.FLOAT16, output_layout="HWC", pad_output=True)
    return halves, fn.shapes(images)


def resized(data: Data) -> Any:
    images = images_of(data)
    return (
        fn.resize(images, size=[17, 31], interp_type=types.INTERP_CUBIC),
        fn.resize(images, resize_longer=33, antialias=False, dtype=types.FLOAT),
        fn.resize(images, resize_x=one_of(10, 30), interp_type=types.INTERP_LANCZOS3),
        fn.resize(
            images, size=[20, 22], roi_start=[0.1, 0.2], roi_end=[0.8, 0.7], roi_relative=True, mode="not_larger"
        ),
        fn.resize(images, resize_x=12, resize_y=15, min_filter=types.INTERP_NN, mag_filter=types.INTERP_TRIANGULAR),
        fn.resize(_array([4, 9, 8, 2], layout="DHWC"), size=[3, 6, 12]),
    )


def resize_relatives(data: Data) -> Any:
    images = images_of(data)
    return (
        fn.resize_crop_mirror(
            images, size=(22, 24), crop=(15, 13), crop_pos_x=one_of(0, 1), mirror=fn.random.coin_flip()
        ),
        fn.random_resized_crop(images, size=(19, 18)),
        fn.tensor_resize(images, scales=[0.6, 1.4], axes=[0, 1]),
        fn.tensor_resize(_array([5, 6], np.float32), sizes=[9, 4], alignment=0.5),
        fn.experimental.tensor_resize(images, scales=[2.0], axes=[1], interp_type=types.INTERP_NN),
    )


def windows(data: Data) -> Any:
    images = images_of(data)
    return (
        fn.crop(images, crop=(12, 14), crop_pos_x=0.3, crop_pos_y=one_of(0, 1)),
        fn.crop(images, crop=(90, 60), out_of_bounds_policy="pad", fill_values=[1.0, 2.0, 3.0]),
        fn.slice(images, rel_start=[0.0, 0.25], rel_end=[0.5, 1.0]),
        fn.slice(images, 3, 9, axes=[1]),
        fn.slice(images, start=[-4, -4], end=[20, 90], out_of_bounds_policy="trim_to_shape"),
        fn.flip(images, horizontal=fn.random.coin_flip(), vertical=1),
        fn.transpose(images, perm=[2, 0, 1]),
        fn.pad(images, axes=[0, 1], fill_value=9),
        fn.pad(images, axis_names="W", align=16),
        fn.flip(fn.crop(fn.transpose(images, perm=[2, 0, 1]), crop=(9, 9)), horizontal=1),
    )


def subscripts(data: Data) -> Any:
    images = images_of(data)
    low = fn.cast(one_of(0, 9), dtype=types.INT32)
    return images[3:9, ::2], images[-1], images[low:, :, 0], images[:, :, ::-1], images[4, 5:6, None]


def casts(data: Data) -> Any:
    encoded, _ = jpeg_of(data)
    images = fn.decoders.image(encoded)
    return (
        fn.cast(images, dtype=types.INT8),
        fn.cast(images, dtype=types.FLOAT16),
        fn.cast_like(images, np.int64(0)),
        fn.one_hot(images[:, :, 0], num_classes=9, axis=0, on_value=3.0),
        fn.lookup_table(images, keys=[1, 200], values=[0.5, 3.0], default_value=-1.0),
        fn.copy(images),
        fn.get_property(encoded, key="source_info"),
    )


def arithmetic(data: Data) -> Any:
    images = images_of(data)
    small = _array([3, 4], np.int16)
    real = fn.cast(images, dtype=types.FLOAT) / 255.0
    mixed = math.sqrt(real) * 2 - math.clamp(real, 0.2, 0.7)
    return (
        mixed,
        (images + 3) * 2 - 7,
        images // 3 % 5,
        (images > 100) | (images < 20),
        -small,
        math.sin(real) + math.tanh(real) * math.atan2(real, 1.5),
        math.min(images, 77) ^ 3,
        small + _array([3, 4], np.float32, 9),
        math.pow(real, 0.3) + one_of(0, 1),
    )


def normalizations(data: Data) -> Any:
    images = images_of(data)
    return (
        fn.normalize(images, mean=100.0, stddev=50.0),
        fn.normalize(images, axes=[0, 1], epsilon=0.5, ddof=1),
        fn.normalize(fn.resize(images, size=[8, 8]), batch=True, axes=[0, 1]),
        fn.normalize(images, shift=120.0, scale=30.0, dtype=types.UINT8),
        fn.crop_mirror_normalize(
            images, crop=(10, 12), mean=[1.0], std=[2.0], scale=3.0, shift=0.5, output_layout="CHW"
        ),
    )


def reductions(data: Data) -> Any:
    images = images_of(data)
    kept = {"axes": [0, 1], "keep_dims": True}
    mean = fn.reductions.mean(images, **kept)
    return (
        fn.reductions.max(images, axes=[0]),
        fn.reductions.min(images, axis_names="C"),
        fn.reductions.sum(images, dtype=types.FLOAT),
        mean,
        fn.reductions.mean_square(images, axes=[1]),
        fn.reductions.rms(images, axes=[2]),
        fn.reductions.std_dev(images, mean, **kept),
        fn.reductions.variance(images, mean, **kept),
    )


def shapes(data: Data) -> Any:
    images = images_of(data)
    return (
        fn.shapes(images),
        fn.reshape(images, shape=[-1, 3]),
        fn.reshape(images, rel_shape=[1, -1], layout="AB", src_dims=[0, 1]),
        fn.reinterpret(images, dtype=types.INT8),
        fn.decoders.raw(fn.reshape(images, shape=[-1]), shape=fn.shapes(images), layout="HWC"),
        fn.squeeze(fn.expand_dims(images, axes=[0, 2]), axes=[0]),
        fn.stack(images, fn.flip(images), axis=1),
        fn.cat(images, fn.flip(images), axis=0),
        *fn.element_extract(fn.stack(images, fn.flip(images)), element_map=[1, 0]),
    )


def constants(data: Data) -> Any:
    images = images_of(data)
    return (
        fn.constant(idata=[3, 4], shape=[2, 1]),
        fn.full(2.5, shape=fn.cast(images.shape()[:2], dtype=types.INT32)),
        fn.full_like(images, 7),
        fn.zeros(shape=[2, 3]),
        fn.zeros_like(images),
        fn.ones(shape=[4], dtype=types.FLOAT),
        fn.ones_like(images, dtype=types.INT16),
    )


def colors(data: Data) -> Any:
    images = images_of(data)
    return (
        fn.hue(images, hue=one_of(-90, 90)),
        fn.saturation(images, saturation=0.4),
        fn.hsv(images, hue=-30.0, value=1.2, saturation=one_of(0, 2)),
        fn.color_twist(images, hue=10.0, saturation=1.5, brightness=0.8, contrast=1.3),
        fn.brightness(images, brightness=1.5, brightness_shift=-0.1),
        fn.contrast(images, contrast=0.7, contrast_center=100.0, dtype=types.FLOAT),
        fn.brightness_contrast(images, brightness=one_of(0.5, 1.5), contrast=0.7, dtype=types.INT16),
        fn.color_space_conversion(images, image_type=types.RGB, output_type=types.YCbCr),
        fn.color_space_conversion(images, image_type=types.RGB, output_type=types.GRAY),
    )


def filters(data: Data) -> Any:
    images = images_of(data)
    kernel = types.Constant(np.array([[0.5, -1.0, 0.25], [1.0, 0.0, 0.5]], np.float32))
    return (
        fn.gaussian_blur(images, sigma=one_of(0.5, 2)),
        fn.gaussian_blur(images, window_size=5, dtype=types.FLOAT),
        fn.laplacian(images, scale=0.25, window_size=5),
        fn.filter(images, kernel, border="clamp"),
        fn.experimental.filter(images, kernel, mode="valid"),
        fn.experimental.median_blur(images, window_size=5),
    )


def effects(data: Data) -> Any:
    images = images_of(data)
    return (
        fn.equalize(images),
        fn.experimental.equalize(images),
        fn.clahe(images, tiles_x=2, tiles_y=3, clip_limit=2.0),
        fn.sphere(images),
        fn.water(images, ampl_x=3.0, ampl_y=3.0, freq_x=0.3, freq_y=0.3, interp_type=types.INTERP_LINEAR),
    )


def noises(data: Data) -> Any:
    images = images_of(data)
    return (
        fn.noise.gaussian(images, stddev=12.0),
        fn.noise.salt_and_pepper(images, prob=0.4),
        fn.noise.shot(images, factor=one_of(5, 20)),
        fn.noise.gaussian(_array([4, 5], np.float32), mean=1.0, stddev=one_of(0, 2)),
    )


def warps(data: Data) -> Any:
    images = images_of(data)
    affine = fn.transforms.rotation(angle=one_of(-40, 40), center=[10.0, 8.0])
    return (
        fn.rotate(images, angle=one_of(-30, 30), fill_value=3),
        fn.rotate(images, angle=40.0, keep_size=True, interp_type=types.INTERP_NN),
        fn.rotate(images, angle=25.0, size=[30, 40], dtype=types.FLOAT),
        fn.crop(fn.rotate(images, angle=one_of(-20, 20)), crop=(12, 10)),
        fn.crop(fn.rotate(fn.resize(images, size=[30, 32]), angle=one_of(-20, 20)), crop=(12, 10)),
        fn.warp_affine(images, matrix=[1.1, 0.2, 1, -0.1, 0.9, 0], fill_value=7),
        fn.warp_affine(images, affine, size=[20, 30], inverse_map=False),
    )


def transforms(data: Data) -> Any:
    turn = fn.transforms.rotation(angle=one_of(0, 90))
    moved = fn.transforms.translation(turn, offset=[3, -4])
    parts = (
        turn,
        moved,
        fn.transforms.scale(scale=[2, 3], center=[1, 1]),
        fn.transforms.shear(shear=[2, 3]),
        fn.transforms.shear(angles=_array_of_two()),
        fn.transforms.crop(from_start=[0, 1], from_end=[2, 3], to_start=[4, 5], to_end=[8, 6]),
    )
    points = fn.coord_transform(_array([3, 2], np.float32), MT=moved)
    flipped = fn.coord_flip(points, layout="xy", flip_x=fn.random.coin_flip(), center_x=0.25)
    plain = fn.coord_transform(_array([3, 3], np.float32), M=2.0, T=[1, 2, 3])
    return *parts, fn.transforms.combine(moved, turn), points, flipped, plain


def _array_of_two() -> Any:
    return fn.random.uniform(range=[-20.0, 20.0], shape=[2])


def pastes(data: Data) -> Any:
    images = images_of(data)
    small = fn.crop(images, crop=(14, 16))
    return (
        fn.erase(images, anchor=[1, 2], shape=[3, 2], fill_value=9),
        fn.erase(
            images, anchor=_array_of_two(), shape=[0.3, 0.4], normalized=True, centered_anchor=True, axis_names="HW"
        ),
        fn.grid_mask(images, tile=8, ratio=0.5, angle=one_of(0, 1), shift_x=2.0),
        fn.paste(images, ratio=one_of(1, 3), fill_value=9, paste_x=0.0, paste_y=1.0),
        fn.multi_paste(small, fn.flip(small), in_anchors=_corners([[1, 2], [0, 3]]), shapes=_corners([[9, 8], [7, 7]])),
    )


def _corners(rows: list[list[int]]) -> Any:
    return types.Constant(np.array(rows, np.int32))


def boxes(data: Data) -> Any:
    found = _boxes()
    labels = fn.ones(shape=fn.cast(found.shape()[:1], dtype=types.INT32))
    cropped = fn.random_bbox_crop(found, labels, bbox_layout="xyXY", scaling=[0.5, 1.0], aspect_ratio=[0.5, 2.0])
    return (
        fn.bb_flip(found, ltrb=True, horizontal=fn.random.coin_flip()),
        fn.bbox_paste(found, ratio=2.0, ltrb=True, paste_x=0.25, paste_y=1.0),
        *_several(fn.bbox_rotate(found, angle=one_of(-40, 40), input_shape=[40, 50], bbox_layout="xyXY")),
        *fn.box_encoder(found, labels, anchors=ANCHORS),
        *fn.box_encoder(found, labels, anchors=ANCHORS, offset=True, means=[0.1] * 4, stds=[0.2] * 4),
        *cropped,
    )


def _several(made: Any) -> Any:
    return made if isinstance(made, (list, tuple)) else [made]


def masks(data: Data) -> Any:
    found = _array([9, 8], np.int32, layout="HW") > 60
    polygons, vertices = np.array([[0, 0, 2], [2, 2, 5]], np.int32), np.eye(5, 2, dtype=np.float32)
    return (
        *fn.segmentation.random_object_bbox(found),
        fn.segmentation.random_mask_pixel(found, foreground=1),
        *fn.segmentation.select_masks(np.array([2]), polygons, vertices),
        fn.roi_random_crop(crop_shape=[5, 6], roi_start=[1, 2], roi_end=[9, 4]),
    )


def draws(data: Data) -> Any:
    images = images_of(data)
    anchors, extents = fn.random_crop_generator(images.shape(), random_area=[0.2, 0.9])
    return (
        fn.random.uniform(range=[-1.0, 4.0], shape=[4]),
        fn.random.uniform(values=[1.0, 5.0, 9.0]),
        fn.random.normal(images[:4, :4, 0], mean=2.0, stddev=3.0),
        fn.random.coin_flip(shape=[9], probability=0.3),
        fn.random.beta(alpha=2.0, beta=0.5, shape=[3]),
        fn.random.choice([3, 1, 4], shape=[9], p=[0.2, 0.5, 0.3]),
        anchors,
        extents,
    )


GRAPHS: tuple[Graph, ...] = (
    train,
    validation,
    resized,
    resize_relatives,
    windows,
    subscripts,
    casts,
    arithmetic,
    normalizations,
    reductions,
    shapes,
    constants,
    colors,
    filters,
    effects,
    noises,
    warps,
    transforms,
    pastes,
    boxes,
    masks,
    draws,
)
