"""Image data for deep-learning training, from nothing to batches.

A pipeline for training:

    from pixelmill import fn, pipeline_def

    @pipeline_def(batch_size=64, num_threads=4)
    def train(folder):
        jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=True)
        return fn.random_resized_crop(fn.decoders.image(jpegs), size=224), labels
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pixelmill import fn, math, ops, types
from pixelmill.branches import apply_with_probability, one_of
from pixelmill.errors import ArgumentError, DataError, EngineError, Event, MissingDependency, PixelmillError
from pixelmill.graph import DataNode
from pixelmill.loader import Loader
from pixelmill.operators.subscripts import newaxis
from pixelmill.pipeline import Pipeline, pipeline_def

if TYPE_CHECKING:
    from pixelmill.augmentation import augment
    from pixelmill.conversion import convert
    from pixelmill.formats.registry import open_dataset
    from pixelmill.inspect.index_files import index
    from pixelmill.inspect.info import info
    from pixelmill.inspect.verify import verify

__version__ = "0.1.0"

# What stands above `import pixelmill` and is imported when it is asked for.
_LATER = {
    "augment": "pixelmill.augmentation",
    "convert": "pixelmill.conversion",
    "index": "pixelmill.inspect.index_files",
    "info": "pixelmill.inspect.info",
    "open_dataset": "pixelmill.formats.registry",
    "verify": "pixelmill.inspect.verify",
}

__all__ = [
    "ArgumentError",
    "DataError",
    "DataNode",
    "EngineError",
    "Event",
    "Loader",
    "MissingDependency",
    "Pipeline",
    "PixelmillError",
    "apply_with_probability",
    "augment",
    "convert",
    "fn",
    "index",
    "info",
    "math",
    "newaxis",
    "one_of",
    "open_dataset",
    "ops",
    "pipeline_def",
    "types",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
