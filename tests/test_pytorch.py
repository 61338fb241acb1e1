"""Iterators for PyTorch: DALI's contract, its measured epochs, and what is promised beyond them."""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import subprocess
import sys
import warnings
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from pixelmill import DataError, EngineError, Pipeline, fn, pipeline_def
from pixelmill.errors import ArgumentError
from pixelmill.plugin.base_iterator import LastBatchPolicy
from pixelmill.plugin.pytorch import (
    DALIClassificationIterator,
    DALIGenericIterator,
    DALIRaggedIterator,
    feed_ndarray,
    to_torch_type,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nvidia.dali.fn as dali_fn
    import nvidia.dali.plugin.pytorch as dali_pytorch
    from nvidia.dali import pipeline_def as dali_pipeline_def

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL
BOTH = [False, True]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Seven pictures; number n is n * 30 bright and has the label n."""
    folder = tmp_path_factory.mktemp("pictures")
    paths = [folder / f"{number}.jpg" for number in range(1, 8)]
    for number, path in enumerate(paths, 1):
        Image.fromarray(np.full((20 + number, 30, 3), number * 30, np.uint8)).save(path)
    return [str(path) for path in paths]


def damaged(files: list[str], tmp_path: Path, number: int) -> list[str]:
    """Give the same files, of which one is cut off in the middle of its header."""
    path = tmp_path / f"{number}.jpg"
    path.write_bytes(Path(files[number - 1]).read_bytes()[:300])
    return [*files[: number - 1], str(path), *files[number:]]


def label_graph(fn, files, **options):
    _, labels = fn.readers.file(files=files, labels=list(range(1, len(files) + 1)), name="Reader", **options)
    return labels


def labels_only(files: list[str], *, batch_size: int = 3, **options) -> Pipeline:
    return pipeline_def(batch_size=batch_size, num_threads=2)(label_graph)(fn, files, **options)


def dali_labels(files: list[str], *, batch_size: int = 3, **options):
    make = dali_pipeline_def(batch_size=batch_size, num_threads=1, device_id=None)(label_graph)
    return make(dali_fn, files, **options)


@pipeline_def(batch_size=3, num_threads=2, seed=5)
def pictures(files, **options):
    encoded, labels = fn.readers.file(files=files, labels=list(range(1, len(files) + 1)), name="Reader", **options)
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=(8, 8))
    return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip()), labels


def options_of(**reader):
    """`pictures` cannot take **options, as no graph function can."""
    return reader


def make_pictures(files, *, reader=None, **options) -> Pipeline:
    make = pipeline_def(**{"batch_size": 3, "num_threads": 2, "seed": 5, **options})(picture_graph)
    return make(files, reader or {})


def picture_graph(files, reader):
    encoded, labels = fn.readers.file(files=files, labels=list(range(1, len(files) + 1)), name="Reader", **reader)
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=(8, 8))
    return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip()), labels
