"""The programs for pixelmill and for DALI: the same lines for both, as pixelmill promises."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from workloads import AREA, ATTEMPTS, MEAN, RAND_AUGMENT, RATIO, SHORTER, SIZE, STD, Job

from peers import arrays

Graph = Callable[..., Any]


def train(library: Any, encoded: Any) -> Any:
    """Decode, then cut out and resize a random window."""
    fn = library.fn
    return _normalised(library, _window(library, encoded), mirror=fn.random.coin_flip(probability=0.5))


def train_window(library: Any, encoded: Any) -> Any:
    """Decode a random window only."""
    fn = library.fn
    return _normalised(library, _decoded_window(library, encoded), mirror=fn.random.coin_flip(probability=0.5))


def rand_augment(library: Any, encoded: Any) -> Any:
    """Decode, cut out and resize a random window, then augment it."""
    return _augmented(library, _window(library, encoded))


def rand_augment_window(library: Any, encoded: Any) -> Any:
    """Decode a random window only, then augment it."""
    return _augmented(library, _decoded_window(library, encoded))


def val(library: Any, encoded: Any) -> Any:
    """Decode, resize, then cut out the centre while normalising."""
    fn, types = library.fn, library.types
    images = fn.decoders.image(encoded, output_type=types.RGB)
    images = fn.resize(images, resize_shorter=SHORTER)
    return _normalised(library, images, crop=(SIZE, SIZE))


def val_joint(library: Any, encoded: Any) -> Any:
    """Decode, then resize the centre only."""
    fn, types = library.fn, library.types
    images = fn.decoders.image(encoded, output_type=types.RGB)
    images = fn.resize_crop_mirror(images, resize_shorter=SHORTER, crop=(SIZE, SIZE))
    return _normalised(library, images)


def val_window(library: Any, encoded: Any) -> Any:
    """Decode the centre only: a square as large as the crop is before resizing."""
    fn, types = library.fn, library.types
    shape = fn.peek_image_shape(encoded, dtype=types.INT32)
    height, width = shape[0], shape[1]
    shorter = fn.reductions.min(shape[:2])
    side = fn.cast(shorter * (SIZE / SHORTER), dtype=types.INT32)
    start = fn.stack((height - side) // 2, (width - side) // 2)
    images = fn.decoders.image_slice(
        encoded, start=start, shape=fn.stack(side, side), axis_names="HW", output_type=types.RGB
    )
    return _normalised(library, fn.resize(images, size=SIZE))


def resize(library: Any, encoded: Any) -> Any:
    """Decode and resize."""
    fn, types = library.fn, library.types
    return fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=SIZE)


def _window(library: Any, encoded: Any) -> Any:
    fn, types = library.fn, library.types
    images = fn.decoders.image(encoded, output_type=types.RGB)
    return fn.random_resized_crop(images, size=SIZE, random_area=AREA, random_aspect_ratio=RATIO, num_attempts=ATTEMPTS)


def _decoded_window(library: Any, encoded: Any) -> Any:
    fn, types = library.fn, library.types
    images = fn.decoders.image_random_crop(
        encoded, output_type=types.RGB, random_area=AREA, random_aspect_ratio=RATIO, num_attempts=ATTEMPTS
    )
    return fn.resize(images, size=SIZE)


def _augmented(library: Any, images: Any) -> Any:
    images = library.auto_aug.rand_augment.rand_augment(images, **RAND_AUGMENT)
    return _normalised(library, images, mirror=library.fn.random.coin_flip(probability=0.5))


def _normalised(library: Any, images: Any, **options: Any) -> Any:
    kinds = {"dtype": library.types.FLOAT, "output_layout": "CHW"}
    return library.fn.crop_mirror_normalize(images, mean=MEAN, std=STD, **kinds, **options)


def _from_records(library: Any, job: Job) -> Any:
    words = importlib.import_module(f"{library.__name__}.tfrecord")
    values = library.fn.readers.tfrecord(
        path=job.epoch,
        index_path=[f"{path}.idx" for path in job.epoch],
        features={
            "image/encoded": words.FixedLenFeature((), words.string, ""),
            "image/class/label": words.FixedLenFeature([1], words.int64, -1),
        },
        random_shuffle=job.random,
        name="Reader",
    )
    return values["image/encoded"]


def run(library: Any, graph: Graph, job: Job, **options: Any) -> Iterator[Any]:
    """Give the batches of a graph.

    Args:
        library: Has `fn`, `types`, `math`, `auto_aug` and `pipeline_def`.
        graph: One of the above, or of those in arrays.
        job: What to do.
        options: For the pipeline.
    """
    fn = library.fn

    def define() -> Any:
        if job.kind == "segmentation":
            return graph(library, *arrays.read(library, job))
        if job.container == "tfrecord":
            return graph(library, _from_records(library, job))
        encoded, _ = fn.readers.file(files=job.epoch, random_shuffle=job.random, name="Reader")
        return graph(library, encoded)

    settings = {"batch_size": job.batch, "num_threads": job.threads, "device_id": None, "seed": job.seed}
    if job.kind in ("rand_augment", "segmentation"):
        settings["enable_conditionals"] = True
    pipe = library.pipeline_def(**settings, **options)(define)()
    pipe.build()
    while True:
        parts = [part.as_tensor() for part in pipe.run()]
        yield parts[0] if len(parts) == 1 else parts
