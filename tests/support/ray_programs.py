"""What tests/ray runs on a cluster, and on this machine to compare."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill import Loader, Pipeline, fn, pipeline_def

NAMES = ["images", "labels", "draws"]


@pipeline_def(batch_size=6, num_threads=1, device_id=None, seed=3)
def train(folder: str) -> Any:
    encoded, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=64)  # six of them are above 64 KiB
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels, fn.random.uniform(range=[0, 1])


def per_row() -> Pipeline:
    pipe = Pipeline(batch_size=4, num_threads=1, device_id=None, seed=9)
    with pipe:
        images: Any = fn.decoders.image(fn.external_source(name="image"))
        pipe.set_outputs(fn.random_resized_crop(images, size=16), fn.random.uniform(range=[0, 1]))
    return pipe


def digest(batches: Iterable[dict[str, Any]], after: Callable[[int], object] = lambda number: None) -> list[str]:
    """Return a digest of each batch: numbers of samples and all pixels."""
    found = []
    for number, batch in enumerate(batches):
        values = [np.ascontiguousarray(value).tobytes() for value in batch.values()]
        found.append(hashlib.blake2b(b"".join(values), digest_size=8).hexdigest())
        after(number)
    return found


def two_epochs(loader: Loader, after: Callable[[int], object] = lambda number: None) -> list[str]:
    return digest(loader, after) + digest(loader)


def by_number(rows: Iterable[dict[str, Any]], name: str) -> dict[str, str]:
    """Return a digest of a column for each sample."""
    values = {str(row["number"]): row[name] for row in rows}
    arrays = {
        number: np.asarray(value, np.float32 if isinstance(value, float) else None) for number, value in values.items()
    }
    return {number: hashlib.blake2b(array.tobytes()).hexdigest() for number, array in arrays.items()}


def sources(folder: Path) -> dict[str, str]:
    """Return the datasets that `read_dataset` is tried with."""
    return {
        "folder": str(folder / "files"),
        "tfrecord": str(folder / "tfrecord" / "*.tfrecord"),
        "tar": str(folder / "tar"),
    }
