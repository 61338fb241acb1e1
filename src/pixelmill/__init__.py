"""Image data for deep-learning training, from nothing to batches.

A pipeline for training:

    from pixelmill import fn, pipeline_def

    @pipeline_def(batch_size=64, num_threads=4)
    def train(folder):
        jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=True)
        return fn.random_resized_crop(fn.decoders.image(jpegs), size=224), labels
"""

from pixelmill import fn, math, ops, types
from pixelmill.branches import apply_with_probability, one_of
from pixelmill.errors import ArgumentError, DataError, EngineError, Event, MissingDependency, PixelmillError
from pixelmill.graph import DataNode
from pixelmill.loader import Loader
from pixelmill.operators.subscripts import newaxis
from pixelmill.pipeline import Pipeline, pipeline_def

__version__ = "0.1.0"

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
    "fn",
    "math",
    "newaxis",
    "one_of",
    "ops",
    "pipeline_def",
    "types",
]
