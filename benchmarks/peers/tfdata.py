"""tf.data: a parallel map of TensorFlow's own operators."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import log
from typing import Any

from workloads import AREA, ATTEMPTS, MEAN, RATIO, SHORTER, SIZE, STD, Job, Kind, Pictures

Load = Callable[[Any], Any]

# Whether JPEG is decoded as exactly as everybody else does, and whether resizing averages what it leaves out.
VARIANTS = {
    "exact, antialias": ("INTEGER_ACCURATE", True),
    "exact, no antialias": ("INTEGER_ACCURATE", False),
    "fast DCT, antialias": ("INTEGER_FAST", True),
    "fast DCT, no antialias": ("INTEGER_FAST", False),
}


def variants(kind: Kind, pictures: Pictures) -> tuple[str, ...]:
    """List the ways to do a kind of work; the fastest counts."""
    return () if kind in ("rand_augment", "segmentation") else tuple(VARIANTS)


def batches(job: Job) -> Iterator[Any]:
    """Make batches."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import tensorflow as tf

    tf.config.threading.set_inter_op_parallelism_threads(job.threads)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.random.set_seed(job.seed)
    data = tf.data.Dataset.from_tensor_slices(job.epoch)
    if job.random:
        data = data.shuffle(len(job.epoch))
    # More calls than threads: a thread that has finished one finds another.
    data = data.repeat().map(_loader(tf, job), num_parallel_calls=2 * job.threads, deterministic=not job.random)
    data = data.batch(job.batch, drop_remainder=True).prefetch(2)
    options = tf.data.Options()
    options.threading.private_threadpool_size = job.threads
    options.threading.max_intra_op_parallelism = 1
    options.autotune.enabled = False
    options.experimental_optimization.map_and_batch_fusion = True
    options.deterministic = not job.random
    return iter(data.with_options(options))


def _loader(tf: Any, job: Job) -> Load:
    method, antialias = VARIANTS[job.variant]
    mean, scale = tf.constant(MEAN), 1 / tf.constant(STD)

    def resized(image: Any) -> Any:
        return tf.image.resize(image, [SIZE, SIZE], method="bilinear", antialias=antialias)

    def window(data: Any, bounds: Any) -> Any:
        return resized(tf.io.decode_and_crop_jpeg(data, bounds, channels=3, dct_method=method))

    def planes(image: Any) -> Any:
        return tf.transpose((image - mean) * scale, [2, 0, 1])

    def train(path: Any) -> Any:
        data = tf.io.read_file(path)
        image = window(data, random_window(tf, tf.image.extract_jpeg_shape(data)))
        return planes(tf.image.random_flip_left_right(image))

    def val(path: Any) -> Any:
        data = tf.io.read_file(path)
        return planes(window(data, centre_window(tf, tf.image.extract_jpeg_shape(data))))

    def resize(path: Any) -> Any:
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, dct_method=method)
        return tf.cast(resized(image) + 0.5, tf.uint8)

    return {"train": train, "val": val, "resize": resize}[job.kind]


def random_window(tf: Any, shape: Any) -> Any:
    """Draw y, x, height and width as the others do.

    TensorFlow's own sample_distorted_bounding_box draws the side uniformly instead of the area, which gives smaller
    windows: less work.
    """
    size = tf.cast(shape[:2], tf.float32)
    area = tf.random.uniform([ATTEMPTS], *AREA) * size[0] * size[1]
    ratio = tf.exp(tf.random.uniform([ATTEMPTS], log(RATIO[0]), log(RATIO[1])))
    sizes = tf.round(tf.sqrt(tf.stack([area / ratio, area * ratio], axis=1)))
    fits = tf.concat([tf.reduce_all(sizes <= size, axis=1), [True]], axis=0)
    chosen = tf.concat([sizes, size[None]], axis=0)[tf.argmax(fits)]
    start = tf.floor(tf.random.uniform([2]) * (size - chosen + 1))
    return tf.cast(tf.concat([start, chosen], axis=0), tf.int32)


def centre_window(tf: Any, shape: Any) -> Any:
    """Give the square that the centre crop shows; resizing it alone is what TensorFlow's own models do."""
    size = tf.cast(shape[:2], tf.float32)
    side = tf.reduce_min(size) * (SIZE / SHORTER)
    start = (size - side) / 2
    return tf.cast(tf.round(tf.stack([start[0], start[1], side, side])), tf.int32)
