"""Image data for deep-learning training, from nothing to batches.

Batches for training:

    from pixelmill import ImageLoader

    for images, labels in ImageLoader("photos", size=224, batch_size=64, train=True):
        ...

The same as a pipeline of one's own:

    from pixelmill import fn, pipeline_def

    @pipeline_def(batch_size=64, num_threads=4)
    def train(folder):
        jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=True)
        return fn.random_resized_crop(fn.decoders.image(jpegs), size=224), labels
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pixelmill import fn, math, ops, types
    from pixelmill.augmentation import augment
    from pixelmill.benchmark import bench
    from pixelmill.codecs import ImageInfo, decode_image, encode_jpeg, encode_png, image_info, imread, imwrite
    from pixelmill.conversion import convert
    from pixelmill.errors import ArgumentError, DataError, EngineError, Event, MissingDependency, PixelmillError
    from pixelmill.graph.branches import apply_with_probability, one_of
    from pixelmill.graph.nodes import DataNode
    from pixelmill.image_loader import ImageDataset, ImageLoader, ImageSample, ImageTransform, open_dataset
    from pixelmill.inspect.index_files import index
    from pixelmill.inspect.info import info
    from pixelmill.inspect.preview import preview
    from pixelmill.inspect.verify import verify
    from pixelmill.operators.subscripts import newaxis
    from pixelmill.pipeline import Pipeline, pipeline_def
    from pixelmill.pipeline.loader import Loader

__version__ = "0.1.0"

# Where names come from. They are imported when they are asked for, so that small commands start quickly.
_LATER = {
    "ArgumentError": "errors",
    "DataError": "errors",
    "DataNode": "graph.nodes",
    "EngineError": "errors",
    "Event": "errors",
    "ImageDataset": "image_loader",
    "ImageInfo": "codecs",
    "ImageLoader": "image_loader",
    "ImageSample": "image_loader",
    "ImageTransform": "image_loader",
    "Loader": "pipeline.loader",
    "MissingDependency": "errors",
    "Pipeline": "pipeline",
    "PixelmillError": "errors",
    "apply_with_probability": "graph.branches",
    "augment": "augmentation",
    "bench": "benchmark",
    "convert": "conversion",
    "decode_image": "codecs",
    "encode_jpeg": "codecs",
    "encode_png": "codecs",
    "image_info": "codecs",
    "imread": "codecs",
    "imwrite": "codecs",
    "index": "inspect.index_files",
    "info": "inspect.info",
    "newaxis": "operators.subscripts",
    "one_of": "graph.branches",
    "open_dataset": "image_loader",
    "OperatorConcurrency": "pipeline",
    "StreamPolicy": "pipeline",
    "pipeline_def": "pipeline",
    "preview": "inspect.preview",
    "verify": "inspect.verify",
}

__all__ = [
    "ArgumentError",
    "DataError",
    "DataNode",
    "EngineError",
    "Event",
    "ImageDataset",
    "ImageInfo",
    "ImageLoader",
    "ImageSample",
    "ImageTransform",
    "Loader",
    "MissingDependency",
    "OperatorConcurrency",
    "Pipeline",
    "PixelmillError",
    "StreamPolicy",
    "apply_with_probability",
    "augment",
    "bench",
    "convert",
    "decode_image",
    "encode_jpeg",
    "encode_png",
    "fn",
    "image_info",
    "imread",
    "imwrite",
    "index",
    "info",
    "math",
    "newaxis",
    "one_of",
    "open_dataset",
    "ops",
    "pipeline_def",
    "preview",
    "types",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        found = getattr(importlib.import_module(f"pixelmill.{_LATER[name]}"), name)
    elif name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        found = _module(name)
    globals()[name] = found
    return found


def _module(name: str) -> Any:
    """Import a module of the package that is asked for as an attribute, such as `pixelmill.fn`."""
    try:
        return importlib.import_module(f"pixelmill.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"pixelmill.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
