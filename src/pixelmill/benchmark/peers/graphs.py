"""The graphs of pixelmill and of DALI: the same code for both, since pixelmill has DALI's API."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pixelmill.benchmark.workload import AREA, ATTEMPTS, RAND_AUGMENT, RATIO, Batch, PeerTask

# Either of two libraries runs these graphs, so their modules and nodes have no common type.
Library = Any
Node = Any
Pipe = Any
OptionValue = Any
Graph = Callable[[Library, PeerTask, Node], Node]
_WINDOWS = {"random_area": AREA, "random_aspect_ratio": RATIO, "num_attempts": ATTEMPTS}


def train(library: Library, job: PeerTask, encoded: Node) -> Node:
    """Decode, then crop and resize a random window."""
    return _mirrored(library, job, _window(library, job, encoded))


def train_window(library: Library, job: PeerTask, encoded: Node) -> Node:
    """Decode a random window only."""
    return _mirrored(library, job, _decoded_window(library, job, encoded))


def rand_augment(library: Library, job: PeerTask, encoded: Node) -> Node:
    """Decode, crop and resize a random window, then augment it."""
    return _augmented(library, job, _window(library, job, encoded))


def rand_augment_window(library: Library, job: PeerTask, encoded: Node) -> Node:
    """Decode a random window only, then augment it."""
    return _augmented(library, job, _decoded_window(library, job, encoded))


def val(library: Library, job: PeerTask, encoded: Node) -> Node:
    """Decode, resize, then crop the center while normalizing."""
    images = library.fn.resize(_decoded(library, job, encoded), resize_shorter=job.shorter)
    return _normalized(library, job, images, crop=(job.size, job.size))


def val_joint(library: Library, job: PeerTask, encoded: Node) -> Node:
    """Decode, then resize the center only."""
    images = _decoded(library, job, encoded)
    images = library.fn.resize_crop_mirror(images, resize_shorter=job.shorter, crop=(job.size, job.size))
    return _normalized(library, job, images)


def val_window(library: Library, job: PeerTask, encoded: Node) -> Node:
    """Decode only the center: the square that becomes the crop after resizing."""
    fn, types = library.fn, library.types
    shape = fn.peek_image_shape(encoded, dtype=types.INT32)
    height, width = shape[0], shape[1]
    shorter = fn.reductions.min(shape[:2])
    side = fn.cast(shorter * (job.size / job.shorter), dtype=types.INT32)
    start = fn.stack((height - side) // 2, (width - side) // 2)
    images = fn.decoders.image_slice(
        encoded, start=start, shape=fn.stack(side, side), axis_names="HW", **_decoding(library, job)
    )
    return _normalized(library, job, fn.resize(images, size=job.size))


def resize(library: Library, job: PeerTask, encoded: Node) -> Node:
    """Decode and resize."""
    return library.fn.resize(_decoded(library, job, encoded), size=job.size)


def read(library: Library, job: PeerTask, encoded: Node) -> Node:
    """Read only."""
    del library, job
    return encoded


def _decoding(library: Library, job: PeerTask) -> dict[str, OptionValue]:
    return {"output_type": library.types.RGB, "device": "mixed" if job.device == "gpu" else "cpu"}


def _decoded(library: Library, job: PeerTask, encoded: Node) -> Node:
    if not job.source.is_array:
        return library.fn.decoders.image(encoded, **_decoding(library, job))
    return encoded.gpu() if job.device == "gpu" else encoded


def _window(library: Library, job: PeerTask, encoded: Node) -> Node:
    return library.fn.random_resized_crop(_decoded(library, job, encoded), size=job.size, **_WINDOWS)


def _decoded_window(library: Library, job: PeerTask, encoded: Node) -> Node:
    images = library.fn.decoders.image_random_crop(encoded, **_decoding(library, job), **_WINDOWS)
    return library.fn.resize(images, size=job.size)


def _augmented(library: Library, job: PeerTask, images: Node) -> Node:
    return _mirrored(library, job, library.auto_aug.rand_augment.rand_augment(images, **RAND_AUGMENT))


def _mirrored(library: Library, job: PeerTask, images: Node) -> Node:
    return _normalized(library, job, images, mirror=library.fn.random.coin_flip(probability=0.5))


def _normalized(library: Library, job: PeerTask, images: Node, **options: OptionValue) -> Node:
    kinds = {"dtype": library.types.FLOAT, "output_layout": "CHW"}
    return library.fn.crop_mirror_normalize(images, mean=job.mean, std=job.std, **kinds, **options)


def _reading(job: PeerTask) -> dict[str, OptionValue]:
    """Return the options of all readers. Mapped files would be read on access, and here nothing accesses them."""
    return {"random_shuffle": job.random, "dont_use_mmap": job.kind == "read", "name": "Reader"}


def _from_files(library: Library, job: PeerTask) -> Node:
    return library.fn.readers.file(files=job.source.epoch, **_reading(job))[0]


def _from_tfrecords(library: Library, job: PeerTask) -> Node:
    tfrecord, source = importlib.import_module(f"{library.__name__}.tfrecord"), job.source
    values = library.fn.readers.tfrecord(
        path=source.epoch,
        index_path=source.indexes * source.repeats or None,
        features={source.feature: tfrecord.FixedLenFeature((), tfrecord.string, "")},
        **_reading(job),
    )
    data = values[source.feature]
    is_image = source.is_array and job.kind != "read"
    return library.fn.reshape(data, shape=source.shape, layout="HWC") if is_image else data


def _from_recordio(library: Library, job: PeerTask) -> Node:
    return library.fn.readers.mxnet(path=job.source.epoch, index_path=job.source.indexes or None, **_reading(job))[0]


def _from_archives(library: Library, job: PeerTask) -> Node:
    files = {"paths": job.source.epoch, "index_paths": job.source.indexes * job.source.repeats or None}
    found = library.fn.readers.webdataset(**files, ext=[job.source.extensions], **_reading(job))
    return found[0] if isinstance(found, (list, tuple)) else found


def _from_packs(library: Library, job: PeerTask) -> Node:
    return library.fn.readers.pack(path=job.source.epoch, columns=["image"], **_reading(job))["image"]


def _from_arrays(library: Library, job: PeerTask) -> Node:
    fn, source = library.fn, job.source
    values = fn.readers.numpy(files=source.epoch, **_reading(job))
    if not source.is_array or job.kind == "read":
        return values
    if len(source.shape) == 2:
        return fn.expand_dims(fn.reshape(values, layout="HW"), axes=[2], new_axis_names="C")
    return fn.reshape(values, layout="HWC")


_READERS = {
    "files": _from_files,
    "tfrecord": _from_tfrecords,
    "recordio": _from_recordio,
    "webdataset": _from_archives,
    "npy": _from_arrays,
    "pack": _from_packs,
}


def pipeline(library: Library, graph: Graph, job: PeerTask, **options: OptionValue) -> Pipe:
    """Build the pipeline of a graph.

    Args:
        library: Has `fn`, `types`, `math`, `auto_aug` and `pipeline_def`.
        graph: One of the above.
        job: What to do.
        options: For the pipeline.
    """

    def define() -> Node:
        return graph(library, job, _READERS[job.source.container](library, job))

    settings = {"batch_size": job.batch, "num_threads": job.threads, "device_id": None, "seed": job.seed, **options}
    if job.kind == "rand_augment":
        settings["enable_conditionals"] = True
    pipe = library.pipeline_def(**settings)(define)()
    pipe.build()
    return pipe


def batch_of(outputs: Sequence[Batch]) -> Batch:
    """Return a batch as a training program takes it: tensors, or lists of samples that differ in shape."""
    parts = [part.as_tensor() if part.is_dense_tensor() else part for part in outputs]
    return parts[0] if len(parts) == 1 else parts


def run(pipe: Pipe) -> Iterator[Batch]:
    """Yield the batches of a pipeline."""
    while True:
        yield batch_of(pipe.run())
