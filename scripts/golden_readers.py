"""Graphs of golden_runs.py with readers, codecs, batch operators, branches and augmentation policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from golden_graphs import Data, images_of, jpeg_of, one_of

import pixelmill
import pixelmill.tfrecord as tfr
from pixelmill import fn, types
from pixelmill.auto_aug import auto_augment, rand_augment, trivial_augment
from pixelmill.mixing import cutmix, mixup


def decoders(data: Data) -> Any:
    encoded, _ = jpeg_of(data)
    return (
        fn.decoders.image(encoded, output_type=types.GRAY),
        fn.decoders.image(encoded, output_type=types.YCbCr),
        fn.decoders.image(encoded, output_type=types.BGR, dtype=types.FLOAT),
        fn.decoders.image_crop(encoded, crop=(16, 18), crop_pos_x=one_of(0, 1)),
        fn.decoders.image_slice(encoded, start=[3, 2], shape=[18, 19]),
        fn.decoders.image_slice(encoded, rel_start=[0.1, 0.2], rel_end=[0.9, 0.5], axis_names="HW"),
        fn.decoders.image_random_crop(encoded),
        fn.peek_image_shape(encoded),
    )


def encodings(data: Data) -> Any:
    encoded, _ = fn.readers.file(files=sorted(map(str, data.mixed.iterdir())), name="Reader")
    return (
        fn.decoders.image(encoded),
        fn.decoders.image(encoded, output_type=types.ANY_DATA),
        fn.decoders.image(encoded, output_type=types.GRAY, dtype=types.UINT16),
        fn.peek_image_shape(encoded),
    )


def encoders(data: Data) -> Any:
    images = images_of(data)
    return (
        fn.encoders.image(images, format="jpeg", quality=70),
        fn.encoders.image(images, format="png"),
        fn.jpeg_compression_distortion(images, quality=fn.cast(one_of(20, 90), dtype=types.INT32)),
    )


def batches(data: Data) -> Any:
    encoded, labels = jpeg_of(data)
    images = fn.resize(fn.decoders.image(encoded), size=[16, 16])
    order = fn.batch_permutation()
    halved = fn.python_function(images, function=lambda array: array // 2)
    whole = fn.python_function(images, function=lambda arrays: [array[::-1] for array in arrays], batch_processing=True)
    passed = fn.dl_tensor_python_function(images, function=lambda given: given)
    return fn.permute_batch(images, indices=order), order, halved, whole, passed, labels


def mixes(data: Data) -> Any:
    encoded, labels = jpeg_of(data)
    images = fn.resize(fn.decoders.image(encoded), size=[16, 16])
    return *mixup(images, labels, num_classes=4), *cutmix(images, labels, num_classes=4)


def augmented(data: Data) -> Any:
    images = fn.resize(images_of(data), size=[28, 28])
    shape = [28, 28]
    return (
        auto_augment.auto_augment(images, shape=shape),
        rand_augment.rand_augment(images, n=2, m=9, shape=shape),
        trivial_augment.trivial_augment_wide(images, shape=shape),
    )


def branches(data: Data) -> Any:
    @pixelmill.pipeline_def(enable_conditionals=True)
    def graph() -> Any:
        images = fn.resize(images_of(data), size=[18, 18])
        if fn.random.coin_flip(probability=0.4):
            spread = fn.normalize(images, batch=True, axes=[0, 1], scale=40.0, shift=120.0, dtype=types.UINT8)
            images = fn.rotate(spread, angle=30.0, keep_size=True)
            changed = fn.random.uniform(range=[0.0, 1.0])
        else:
            images = fn.flip(images)
            changed = types.Constant(np.float32(-1))
        return images, changed

    return graph


def file_reader(data: Data) -> Any:
    encoded, labels = fn.readers.file(file_root=str(data.classes), num_shards=2, shard_id=1, stick_to_shard=True)
    return encoded, labels, fn.get_property(encoded, key="source_info")


def numpy_reader(data: Data) -> Any:
    files = sorted(map(str, data.arrays.glob("*.npy")))
    whole = fn.readers.numpy(files=files, name="Reader")
    part = fn.readers.numpy(files=files, roi_start=[1, 0], rel_roi_end=[0.9, 0.5], roi_axes=[0, 1])
    padded = fn.readers.numpy(files=files, roi_start=[-1], roi_shape=[9], roi_axes=[0], out_of_bounds_policy="pad")
    names = fn.readers.file(files=files)[0]
    return whole, part, padded, fn.decoders.numpy(names)


def tfrecord_reader(data: Data) -> Any:
    features = {
        "image/encoded": tfr.FixedLenFeature((), tfr.string, ""),
        "image/class/label": tfr.FixedLenFeature([1], tfr.int64, -1),
        "image/object/bbox/xmin": tfr.VarLenFeature(tfr.float32, 0.0),
    }
    found = fn.readers.tfrecord(path=_files(data.tfrecord, "*.tfrecord*"), features=features, random_shuffle=True)
    return fn.decoders.image(found["image/encoded"]), found["image/class/label"], found["image/object/bbox/xmin"]


def recordio_reader(data: Data) -> Any:
    encoded, labels = fn.readers.mxnet(path=_files(data.recordio, "*.rec"), index_path=_files(data.recordio, "*.idx"))
    return fn.decoders.image(encoded), labels


def webdataset_reader(data: Data) -> Any:
    encoded, classes = fn.readers.webdataset(paths=_files(data.tars, "*.tar"), ext=["jpg", "cls"], random_shuffle=True)
    return fn.decoders.image(encoded), classes


def coco_reader(data: Data) -> Any:
    where = {"file_root": str(data.coco), "annotations_file": str(data.coco / "annotations.json")}
    polygons = fn.readers.coco(**where, polygon_masks=True, image_ids=True, ratio=True, ltrb=True)
    pixels = fn.readers.coco(**where, pixelwise_masks=True)
    return *polygons[1:], *pixels[1:], fn.decoders.image(polygons[0])


def read_files(data: Data) -> Any:
    names = [np.frombuffer(str(path).encode(), np.uint8) for path in sorted(data.mixed.iterdir())[:5]]
    return fn.io.file.read(fn.external_source(source=lambda: names))


def _files(folder: Path, pattern: str) -> list[str]:
    return sorted(str(path) for path in folder.rglob(pattern))


GRAPHS = (
    decoders,
    encodings,
    encoders,
    batches,
    mixes,
    augmented,
    branches,
    file_reader,
    numpy_reader,
    tfrecord_reader,
    recordio_reader,
    webdataset_reader,
    coco_reader,
    read_files,
)
