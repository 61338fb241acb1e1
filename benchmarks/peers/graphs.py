"""The programs for pixelmill and for DALI: the same lines for both, as pixelmill promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from workloads import AREA, ATTEMPTS, MEAN, RATIO, SHORTER, SIZE, STD, Job

Graph = Callable[[Any, Any, Any], Any]


def train(fn: Any, types: Any, encoded: Any) -> Any:
    """Decode, then cut out and resize a random window."""
    images = fn.decoders.image(encoded, output_type=types.RGB)
    images = fn.random_resized_crop(
        images, size=SIZE, random_area=AREA, random_aspect_ratio=RATIO, num_attempts=ATTEMPTS
    )
    return _normalised(fn, types, images, mirror=fn.random.coin_flip(probability=0.5))


def train_window(fn: Any, types: Any, encoded: Any) -> Any:
    """Decode a random window only."""
    images = fn.decoders.image_random_crop(
        encoded, output_type=types.RGB, random_area=AREA, random_aspect_ratio=RATIO, num_attempts=ATTEMPTS
    )
    images = fn.resize(images, size=SIZE)
    return _normalised(fn, types, images, mirror=fn.random.coin_flip(probability=0.5))


def val(fn: Any, types: Any, encoded: Any) -> Any:
    """Decode, resize, then cut out the centre while normalising."""
    images = fn.decoders.image(encoded, output_type=types.RGB)
    images = fn.resize(images, resize_shorter=SHORTER)
    return _normalised(fn, types, images, crop=(SIZE, SIZE))


def val_joint(fn: Any, types: Any, encoded: Any) -> Any:
    """Decode, then resize the centre only."""
    images = fn.decoders.image(encoded, output_type=types.RGB)
    images = fn.resize_crop_mirror(images, resize_shorter=SHORTER, crop=(SIZE, SIZE))
    return _normalised(fn, types, images)


def val_window(fn: Any, types: Any, encoded: Any) -> Any:
    """Decode the centre only: a square as large as the crop is before resizing."""
    shape = fn.peek_image_shape(encoded, dtype=types.INT32)
    height, width = shape[0], shape[1]
    shorter = fn.reductions.min(shape[:2])
    side = fn.cast(shorter * (SIZE / SHORTER), dtype=types.INT32)
    start = fn.stack((height - side) // 2, (width - side) // 2)
    images = fn.decoders.image_slice(
        encoded, start=start, shape=fn.stack(side, side), axis_names="HW", output_type=types.RGB
    )
    return _normalised(fn, types, fn.resize(images, size=SIZE))


def resize(fn: Any, types: Any, encoded: Any) -> Any:
    """Decode and resize."""
    return fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=SIZE)


def _normalised(fn: Any, types: Any, images: Any, **options: Any) -> Any:
    return fn.crop_mirror_normalize(images, mean=MEAN, std=STD, dtype=types.FLOAT, output_layout="CHW", **options)


def run(library: Any, graph: Graph, job: Job, **options: Any) -> Iterator[Any]:
    """Give the batches of a graph.

    Args:
        library: Has `fn`, `types` and `pipeline_def`.
        graph: One of the above.
        job: What to do.
        options: For the pipeline.
    """
    fn, types = library.fn, library.types

    def define() -> Any:
        encoded, _ = fn.readers.file(files=job.epoch, random_shuffle=job.random, name="Reader")
        return graph(fn, types, encoded)

    settings = {"batch_size": job.batch, "num_threads": job.threads, "device_id": None, "seed": job.seed}
    pipe = library.pipeline_def(**settings, **options)(define)()
    pipe.build()
    while True:
        (images,) = pipe.run()
        yield images.as_tensor()
