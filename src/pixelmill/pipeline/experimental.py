"""DALI's experimental `pipeline_def`, which adds debug mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pixelmill.errors import ArgumentError
from pixelmill.pipeline.definition import pipeline_def as _pipeline_def


def pipeline_def(function: Callable[..., Any] | None = None, *, debug: bool = False, **options: Any) -> Any:
    """Turn a function that defines a graph into one that makes pipelines.

    Args:
        function: The function.
        debug: Must be False: values exist only when a pipeline runs. `pixelmill.experimental.dynamic` computes each
            value at once.
        options: As for `pixelmill.pipeline_def`.
    """
    if debug:
        raise ArgumentError(
            "pipeline_def: there is no debug mode; to look at values, return them as outputs, or write the function "
            "with pixelmill.experimental.dynamic, which computes each value at once"
        )
    return _pipeline_def(function, **options)


__all__ = ["pipeline_def"]
