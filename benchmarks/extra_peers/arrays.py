"""The graphs for segmentation: images and masks from npy files, the same code for pixelmill and for DALI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workloads import ARRAY_SIZE, BRIGHTNESS, CHANGED, CONTRAST, NOISE, SIGMA

from pixelmill.benchmark.peers import graphs
from pixelmill.benchmark.workload import PeerTask


def read(library: Any, job: PeerTask) -> tuple[Any, Any]:
    """Read images and masks in the same order."""
    numpy, files = library.fn.readers.numpy, job.source.epoch
    how = {"random_shuffle": job.random, "seed": job.seed}
    return numpy(files=files, name="Images", **how), numpy(files=masks(files), name="Masks", **how)


def masks(files: list[str]) -> list[str]:
    """Return the mask files of images."""
    return [name.replace("/images/", "/masks/") for name in files]


def _prepared(library: Any, images: Any, masks: Any) -> tuple[Any, Any]:
    """Resize and flip."""
    fn, types = library.fn, library.types
    size = [ARRAY_SIZE, ARRAY_SIZE]
    images = fn.resize(fn.reshape(images, layout="HWC"), size=size)
    masks = fn.resize(fn.reshape(masks, layout="HWC"), size=size, interp_type=types.INTERP_NN)
    ways = {"horizontal": fn.random.coin_flip(), "vertical": fn.random.coin_flip()}
    return fn.flip(images, **ways), fn.flip(masks, **ways)


def _noisy(library: Any, images: Any) -> Any:
    fn = library.fn
    return images + fn.random.normal(images, stddev=fn.random.uniform(range=NOISE))


def _blurred(library: Any, images: Any) -> Any:
    fn = library.fn
    return fn.gaussian_blur(images, sigma=fn.random.uniform(range=SIGMA))


def _brighter(library: Any, images: Any) -> Any:
    return images * library.fn.random.uniform(range=BRIGHTNESS)


def _contrasted(library: Any, images: Any) -> Any:
    fn = library.fn
    scaled = images * fn.random.uniform(range=CONTRAST)
    return library.math.clamp(scaled, fn.reductions.min(images), fn.reductions.max(images))


def _planes(library: Any, images: Any, masks: Any) -> tuple[Any, Any]:
    transpose = library.fn.transpose
    return transpose(images, perm=[2, 0, 1]), transpose(masks, perm=[2, 0, 1])


def segmentation(library: Any, job: PeerTask, images: Any, masks: Any) -> Any:
    """Augment only the images that are drawn, with conditionals."""
    del job
    fn, types = library.fn, library.types
    images, masks = _prepared(library, images, masks)
    for change in (_noisy, _blurred, _brighter, _contrasted):
        chosen = fn.random.coin_flip(probability=CHANGED, dtype=types.BOOL)
        if chosen:
            images = change(library, images)
    return _planes(library, images, masks)


def segmentation_blended(library: Any, job: PeerTask, images: Any, masks: Any) -> Any:
    """Augment all images and select, as programs did before DALI had conditionals."""
    del job
    fn, types = library.fn, library.types
    images, masks = _prepared(library, images, masks)
    for change in (_noisy, _blurred, _brighter, _contrasted):
        chosen = fn.random.coin_flip(probability=CHANGED, dtype=types.BOOL)
        images = chosen * change(library, images) + (chosen ^ True) * images
    return _planes(library, images, masks)


def batches(library: Any, graph: Any, job: PeerTask) -> Iterator[Any]:
    """Yield the batches of one of these graphs."""

    def define() -> Any:
        return graph(library, job, *read(library, job))

    settings = {"batch_size": job.batch, "num_threads": job.threads, "device_id": None, "seed": job.seed}
    pipe = library.pipeline_def(**settings, enable_conditionals=True)(define)()
    pipe.build()
    return graphs.run(pipe)
