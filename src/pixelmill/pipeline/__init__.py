"""Pipelines: a graph, the order of its samples, and the batches that come out."""

from pixelmill.branches import do_not_convert
from pixelmill.graph import DataNode
from pixelmill.pipeline.definition import pipeline_def
from pixelmill.pipeline.execution import Pipeline

__all__ = ["DataNode", "Pipeline", "do_not_convert", "pipeline_def"]
