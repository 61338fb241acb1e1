"""Pipelines: a graph, the order of its samples, and its batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from pixelmill.graph.branches import do_not_convert
    from pixelmill.graph.nodes import DataNode
    from pixelmill.pipeline.definition import pipeline_def
    from pixelmill.pipeline.execution import Pipeline
    from pixelmill.pipeline.properties import OperatorConcurrency, StreamPolicy

__all__ = ["DataNode", "OperatorConcurrency", "Pipeline", "StreamPolicy", "do_not_convert", "pipeline_def"]
__getattr__ = lazy_exports(
    __name__,
    {
        "DataNode": "pixelmill.graph.nodes",
        "OperatorConcurrency": "properties",
        "Pipeline": "execution",
        "StreamPolicy": "properties",
        "do_not_convert": "pixelmill.graph.branches",
        "pipeline_def": "definition",
    },
)
