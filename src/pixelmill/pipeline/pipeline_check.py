"""What is not a pipeline where one is needed, and what to write instead."""

from __future__ import annotations

import os

from pixelmill.errors import ArgumentTypeError
from pixelmill.pipeline.execution import Pipeline


def check_pipeline(name: str, value: object) -> None:
    """Raise ArgumentTypeError for a value that is not a pipeline.

    Args:
        name: What needs it, for the message.
        value: The value.
    """
    if isinstance(value, Pipeline):
        return
    if isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        raise ArgumentTypeError(
            f"{name} takes a pipeline, got the path {path!r}; batches of a dataset: pixelmill.ImageLoader({path!r})"
        )
    own = getattr(value, "__name__", type(value).__name__)
    if getattr(value, "_is_pipeline_def", False):
        raise ArgumentTypeError(f"{name} takes a pipeline, and {own} is the function that makes one: pass {own}()")
    if isinstance(value, type) and issubclass(value, Pipeline):
        raise ArgumentTypeError(f"{name} takes a pipeline, got the class {own}; pass {own}(...)")
    if callable(value):
        raise ArgumentTypeError(f"{name} takes a pipeline, got {own}; decorate it with @pipeline_def and pass {own}()")
    raise ArgumentTypeError(f"{name} takes a pipeline, got {value!r}")
