"""tf.data: a parallel map of TensorFlow's own operators."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from math import log
from typing import Any

from pixelmill.benchmark.workload import AREA, ATTEMPTS, RATIO, Batch, Kind, PeerTask, Source

# TensorFlow has no types.
TensorFlow = Any
Tensor = Any
TensorDataset = Any
TensorDatasetOptions = Any
Load = Callable[[Tensor], Tensor]

# Record files that are read in turns, and the size of the shuffle buffer in records.
_OPEN_FILES, _SHUFFLED = 16, 1024

# Whether JPEG is decoded as exactly as by the others, and whether resizing averages over what it skips.
VARIANTS = {
    "exact, antialias": ("INTEGER_ACCURATE", True),
    "exact, no antialias": ("INTEGER_ACCURATE", False),
    "fast DCT, antialias": ("INTEGER_FAST", True),
    "fast DCT, no antialias": ("INTEGER_FAST", False),
}


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the ways to do a kind of work; the fastest counts."""
    able = kind in ("train", "val", "resize", "read") and source.container in ("files", "tfrecord")
    return tuple(VARIANTS) if able else ()


def fastest(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the variants that may be the fastest: the last leaves out what the others do."""
    return variants(kind, source)[-1:]


def batches(job: PeerTask) -> Iterator[Batch]:
    """Make batches."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    tf: TensorFlow = importlib.import_module("tensorflow")

    tf.config.threading.set_inter_op_parallelism_threads(job.threads)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.random.set_seed(job.seed)
    data = _encoded(tf, job)
    # More calls than threads: a thread that has finished one finds another.
    data = data.map(_loader(tf, job), num_parallel_calls=2 * job.threads, deterministic=not job.random)
    data = data.batch(job.batch, drop_remainder=True).prefetch(2)
    return iter(data.with_options(_options(tf, job)))


def _options(tf: TensorFlow, job: PeerTask) -> TensorDatasetOptions:
    """Return options by which a dataset uses the threads of the task and no others."""
    options = tf.data.Options()
    options.threading.private_threadpool_size = job.threads
    options.threading.max_intra_op_parallelism = 1
    options.autotune.enabled = False
    options.experimental_optimization.map_and_batch_fusion = True
    options.deterministic = not job.random
    return options


def _encoded(tf: TensorFlow, job: PeerTask) -> TensorDataset:
    """Return an endless dataset of paths or records."""
    epoch = job.source.epoch
    if job.source.container == "files":
        data = tf.data.Dataset.from_tensor_slices(epoch)
        return (data.shuffle(len(epoch)) if job.random else data).repeat()
    if not job.random:
        return tf.data.TFRecordDataset(epoch).repeat()
    files = tf.data.Dataset.from_tensor_slices(epoch).shuffle(len(epoch)).repeat()
    return files.interleave(tf.data.TFRecordDataset, cycle_length=_OPEN_FILES, deterministic=False).shuffle(_SHUFFLED)


def _loader(tf: TensorFlow, job: PeerTask) -> Load:
    """Make the function for one path or record."""
    work, source = _work(tf, job), job.source
    if source.container == "files":
        return lambda path: work(tf.io.read_file(path))
    feature = {source.feature: tf.io.FixedLenFeature((), tf.string)}

    def load(record: Tensor) -> Tensor:
        data = tf.io.parse_single_example(record, feature)[source.feature]
        return work(tf.reshape(tf.io.decode_raw(data, tf.uint8), source.shape) if source.is_array else data)

    return load


def _work(tf: TensorFlow, job: PeerTask) -> Load:
    """Make the function for the bytes of a file, or for pixels."""
    method, antialias = VARIANTS[job.variant]
    mean, scale, is_jpeg = tf.constant(job.mean), 1 / tf.constant(job.std), job.source.content == "jpeg"

    def shape(data: Tensor) -> Tensor:
        return tf.image.extract_jpeg_shape(data) if is_jpeg else tf.shape(data)

    def decoded(data: Tensor) -> Tensor:
        if is_jpeg or job.source.is_array:
            return data
        return tf.io.decode_image(data, channels=3, expand_animations=False)

    def resized(image: Tensor) -> Tensor:
        return tf.image.resize(image, [job.size, job.size], method="bilinear", antialias=antialias)

    def window(data: Tensor, bounds: Tensor) -> Tensor:
        if is_jpeg:
            return resized(tf.io.decode_and_crop_jpeg(data, bounds, channels=3, dct_method=method))
        return resized(tf.image.crop_to_bounding_box(data, *tf.unstack(bounds)))

    def planes(image: Tensor) -> Tensor:
        return tf.transpose((image - mean) * scale, [2, 0, 1])

    def train(data: Tensor) -> Tensor:
        data = decoded(data)
        return planes(tf.image.random_flip_left_right(window(data, random_window(tf, shape(data)))))

    def val(data: Tensor) -> Tensor:
        data = decoded(data)
        return planes(window(data, center_window(tf, shape(data), job.size / job.shorter)))

    def resize(data: Tensor) -> Tensor:
        image = tf.io.decode_jpeg(data, channels=3, dct_method=method) if is_jpeg else decoded(data)
        return tf.cast(resized(image) + 0.5, tf.uint8)

    return {"train": train, "val": val, "resize": resize, "read": lambda data: data}[job.kind]


def random_window(tf: TensorFlow, shape: Tensor) -> Tensor:
    """Draw y, x, height and width as the others do.

    TensorFlow's own sample_distorted_bounding_box draws the side uniformly instead of the area, which yields smaller
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


def center_window(tf: TensorFlow, shape: Tensor, fraction: float) -> Tensor:
    """Return the square that the center crop shows; resizing it alone is what TensorFlow's own models do."""
    size = tf.cast(shape[:2], tf.float32)
    side = tf.reduce_min(size) * fraction
    start = (size - side) / 2
    return tf.cast(tf.round(tf.stack([start[0], start[1], side, side])), tf.int32)
