"""Whole programs on the DALI engine: samples, order and random choices of the native one, pixels within a tolerance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from both_engines import ENGINES, agree, compare, files, made, taken
from dali_runs import noise

import pixelmill
from pixelmill import fn, math, ops, tfrecord, types
from pixelmill.auto_aug import auto_augment, rand_augment, trivial_augment
from pixelmill.formats import example
from pixelmill.formats.tfrecord import RecordWriter
from pixelmill.pipeline import Pipeline

__all__ = ["files"]

LEVEL = 1  # of images that are decoded, resized or turned once
SEVERAL = 3  # of images that this is done to several times
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
STEP = 1.01 / min(STD)  # what a level becomes when it is normalised


def pictures(paths, **options):
    encoded, labels = fn.readers.file(files=paths, random_shuffle=True, name="Reader", **options)
    return fn.decoders.image(encoded, device="mixed"), labels


def random_crop(paths):
    """The way most networks for classification are trained."""
    images, labels = pictures(paths)
    images = fn.random_resized_crop(images, size=(48, 56))
    return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), mean=MEAN, std=STD), labels


def decoded_crop(paths):
    encoded, labels = fn.readers.file(files=paths, random_shuffle=True)
    images = fn.resize(fn.decoders.image_random_crop(encoded, device="mixed"), size=(48, 56))
    return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), mean=MEAN, std=STD), labels.gpu()


def validation(paths):
    images, labels = pictures(paths)
    images = fn.resize(images, resize_shorter=60)
    return fn.crop_mirror_normalize(images, crop=(48, 48), mean=MEAN, std=STD), labels


def largest_square(paths):
    """What ingest does to photographs."""
    encoded, place = fn.readers.file(files=paths)
    shape = fn.peek_image_shape(encoded)
    side = math.min(shape[0], shape[1])
    return fn.resize(fn.decoders.image_crop(encoded, crop_h=side, crop_w=side), size=(40, 40)), place


@pytest.mark.parametrize("graph", [random_crop, decoded_crop, validation, largest_square])
def test_classification(graph, files):
    compare(graph, files, batches=5, level=LEVEL, real=STEP)


class FedByHand(Pipeline):
    """NVIDIA's tutorial of 2019 about external sources."""

    def __init__(self, paths, engine):
        super().__init__(4, 2, 0, seed=12, engine=engine, decode_scaling=False)
        self.paths = paths
        self.turn = 0
        self.input, self.input_label = ops.ExternalSource(), ops.ExternalSource()
        self.decode = ops.nvJPEGDecoder(device="mixed", output_type=types.RGB)
        self.res = ops.Resize(device="gpu", resize_x=64, resize_y=48, interp_type=types.INTERP_TRIANGULAR)

    def define_graph(self):
        self.jpegs, self.labels = self.input(), self.input_label()
        return self.res(self.decode(self.jpegs)), self.labels

    def iter_setup(self):
        numbers = [(4 * self.turn + place) % len(self.paths) for place in range(4)]
        self.feed_input(self.jpegs, [np.fromfile(self.paths[number], np.uint8) for number in numbers])
        self.feed_input(self.labels, [np.array([number], np.uint8) for number in numbers])
        self.turn += 1


def test_external_source(files):
    native, dali = (taken(FedByHand(files, engine), 6) for engine in ENGINES)
    agree(dali, native, level=LEVEL)


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    """Write ten images and their masks as npy files."""
    folder = tmp_path_factory.mktemp("arrays")
    for number in range(10):
        shape = (50 + number, 70 - number)
        np.save(folder / f"image{number}.npy", noise((*shape, 3), seed=number))
        np.save(folder / f"mask{number}.npy", noise((*shape, 1), seed=number) // 128)
    return [[str(folder / f"{kind}{number}.npy") for number in range(10)] for kind in ("image", "mask")]


def nails(arrays, conditionals):
    """Segmentation of nails, with the changes of its images chosen by arithmetic, or by conditionals."""
    readers = [fn.readers.numpy(files=names, random_shuffle=True, seed=3) for names in arrays]
    image, mask = (fn.cast(reader.gpu(), dtype=types.FLOAT) for reader in readers)
    image, mask = fn.resize(image, size=[48, 56]), fn.resize(mask, size=[48, 56])
    ways = {"horizontal": fn.random.coin_flip(), "vertical": fn.random.coin_flip()}
    image, mask = fn.flip(image, **ways), fn.flip(mask, **ways)
    changes = [
        lambda x: x + fn.random.normal(x, stddev=fn.random.uniform(range=(0.0, 20.0))),
        lambda x: fn.gaussian_blur(x, sigma=fn.random.uniform(range=(0.5, 1.5))),
        lambda x: x * fn.random.uniform(range=(0.7, 1.3)),
        lambda x: math.clamp(x * fn.random.uniform(range=(0.65, 1.5)), fn.reductions.min(x), fn.reductions.max(x)),
    ]
    for change in changes:
        chosen = fn.cast(fn.random.coin_flip(probability=0.4), dtype=types.BOOL)
        if conditionals:
            if chosen:
                image = change(image)
        else:
            image = chosen * change(image) + (chosen ^ True) * image
    return fn.transpose(image, perm=[2, 0, 1]), fn.transpose(mask, perm=[2, 0, 1])


@pytest.mark.parametrize("conditionals", [False, True])
def test_segmentation(conditionals, arrays):
    compare(nails, arrays, conditionals, batches=5, real=5e-3)


@pytest.fixture(scope="module")
def records(tmp_path_factory, files):
    """Write the images as records with boxes, as the DGX example has them."""
    path = tmp_path_factory.mktemp("records") / "train.tfrecord"
    with path.open("wb") as stream, RecordWriter(stream) as writer:
        for number, name in enumerate(files):
            features = {
                "image/encoded": example.bytes_feature(Path(name).read_bytes()),
                "image/class/label": example.int64_feature([number]),
                "image/class/text": example.bytes_feature(f"class {number}"),
                "image/object/bbox/xmin": example.float_feature([0.1 * k for k in range(number % 3)]),
            }
            writer.write(example.encode(features))
    return str(path)


def tfdali(path):
    """The augmentation of TFRecords of the DGX example, in the older spelling of DALI."""
    words = tfrecord
    features = {
        "image/encoded": words.FixedLenFeature((), words.string, ""),
        "image/class/label": words.FixedLenFeature([1], words.int64, -1),
        "image/class/text": words.FixedLenFeature([], words.string, ""),
        "image/object/bbox/xmin": words.VarLenFeature(words.float32, 0.0),
    }
    values = ops.TFRecordReader(path=path, features=features)()
    images = ops.ImageDecoder(device="mixed", output_type=types.RGB)(values["image/encoded"])
    images = ops.Resize(device="gpu", resize_x=64.0, resize_y=64.0)(images)
    images = ops.Flip(device="gpu", horizontal=0)(images, vertical=ops.CoinFlip(probability=0.3)())
    images = ops.Rotate(device="gpu", interp_type=types.INTERP_NN)(images, angle=ops.Uniform(range=(-7.0, 7.0))())
    uniform = ops.Uniform(range=(0.0, 1.0))
    normalise = ops.CropMirrorNormalize(
        device="gpu", output_dtype=types.FLOAT, crop=(64, 64), image_type=types.RGB, mean=MEAN, std=STD
    )
    mirror = ops.CoinFlip(probability=0.5)()
    images = normalise(images, crop_pos_x=uniform(), crop_pos_y=uniform(), mirror=mirror)
    return images, *(values[name] for name in list(features)[1:])


def test_records(records):
    compare(tfdali, records, batches=4, real=STEP)


# Chains of operators whose differences of one level grow


@pytest.mark.parametrize(
    "augment",
    [
        lambda x: rand_augment.rand_augment(x, n=2, m=9),
        auto_augment.auto_augment,
        trivial_augment.trivial_augment_wide,
    ],
    ids=["rand_augment", "auto_augment", "trivial_augment_wide"],
)
def test_automatic_augmentation_makes_the_same_choices(augment, files):
    """A posterized image differs by a whole step of its levels where the other is a level apart, so few pixels do."""

    def graph():
        images, labels = pictures(files)
        return augment(fn.resize(images, size=(48, 56))), labels

    native, dali = (taken(made(graph, engine), 6) for engine in ENGINES)
    for (images, labels), (others, other_labels) in zip(native, dali, strict=True):
        np.testing.assert_array_equal(labels, other_labels)
        for one, other in zip(images, others, strict=True):
            apart = np.abs(one.astype(int) - other.astype(int))
            assert apart.mean() < 0.5 and np.mean(apart > SEVERAL) < 0.02


def test_detection(files):
    """Boxes follow the windows that are drawn for them."""
    boxes = np.array([[0.1, 0.1, 0.5, 0.6], [0.4, 0.3, 0.9, 0.8]], np.float32)

    def graph():
        images, labels = pictures(files)
        given = types.Constant(boxes)
        start, extent, kept, classes = fn.random_bbox_crop(
            given,
            types.Constant(np.array([1, 2], np.int32)),
            bbox_layout="xyXY",
            thresholds=[0.1, 0.5],
            aspect_ratio=[0.5, 2.0],
            scaling=[0.4, 1.0],
        )
        images = fn.resize(fn.slice(images, start, extent), size=(40, 40))
        chosen = fn.random.coin_flip()
        images, kept = fn.flip(images, horizontal=chosen), fn.bb_flip(kept, horizontal=chosen, ltrb=True)
        return fn.color_twist(images, hue=fn.random.uniform(range=(-20.0, 20.0))), kept, classes, labels

    compare(graph, level=SEVERAL, real=1e-6)


def test_noise_and_what_follows_it(files, caplog):
    def graph():
        images, labels = pictures(files)
        images = fn.noise.shot(fn.resize(images, size=(32, 32)), factor=9.0)
        images = fn.noise.salt_and_pepper(images, prob=0.1)
        if fn.random.coin_flip():
            images = fn.flip(images)
        return fn.cast(fn.python_function(images, function=lambda x: x // 2), dtype=types.FLOAT), labels

    with caplog.at_level("INFO", "pixelmill"):
        pipe = made(graph, "dali")
        pipe.build()
    (note,) = [record.getMessage() for record in caplog.records if "natively" in record.getMessage()]
    assert "noise.shot (after DALI)" in note and "python_function (after DALI)" in note and "resize" not in note
    native = taken(made(graph, "native"), 3)
    for (images, labels), (others, other_labels) in zip(taken(pipe, 3), native, strict=True):
        np.testing.assert_array_equal(labels, other_labels)
        # Grains of light are as many as the level says, and a level more may be a grain more.
        assert np.mean([np.mean(np.abs(a - b) > 1) for a, b in zip(images, others, strict=True)]) < 0.05


def test_shapes_and_arithmetic_of_images(files):
    def graph():
        images, _ = pictures(files)
        small = fn.resize(images, resize_shorter=40)
        shape = small.shape()
        part = small[2:20, 5:-3, 0]
        mean = fn.reductions.mean(small, axes=[0, 1])
        window = fn.slice(small, start=[0, 0], shape=fn.cast(shape[:2] // 2, dtype=types.INT32), axes=[0, 1])
        return shape, images.shape(), part, small * 2 - 7, -part, mean, window, fn.stack(part, part)

    compare(graph, real=1.0, level=2)


def test_layouts_that_are_told_when_data_is_fed():
    results = []
    for engine in ENGINES:
        pipe = pixelmill.Pipeline(2, 2, None, seed=1, engine=engine)
        with pipe:
            pipe.set_outputs(fn.resize(fn.external_source(name="x"), size=(6, 7)))
        pipe.feed_input("x", [noise((3, 12, 14)), noise((3, 11, 9))], layout="CHW")
        (batch,) = pipe.run()
        assert batch.layout() == "CHW"
        results.append(batch.as_array().astype(int))
    assert np.abs(results[0] - results[1]).max() <= LEVEL
