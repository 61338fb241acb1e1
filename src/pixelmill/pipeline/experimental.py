"""DALI's experimental `pipeline_def`, which adds debug mode."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from pixelmill.errors import ArgumentError
from pixelmill.pipeline.debug import DebugPipeline
from pixelmill.pipeline.definition import pipeline_def as _pipeline_def


def pipeline_def(function: Callable[..., Any] | None = None, *, debug: bool = False, **options: Any) -> Any:
    """Turn a function that defines a graph into one that makes pipelines.

    Args:
        function: The function.
        debug: Whether to run the function for every batch, with values in place of nodes: `print` shows them, and
            `get()` returns a batch. A call of the new function may override it. It cannot be combined with
            conditionals.
        options: As for `pixelmill.pipeline_def`.
    """

    def decorate(graph: Callable[..., Any]) -> Callable[..., Any]:
        usual = _pipeline_def(graph, **options)
        own = set(inspect.signature(graph).parameters)

        @functools.wraps(graph)
        def create(*args: Any, **kwargs: Any) -> Any:
            debugged = debug if "debug" in own else kwargs.pop("debug", debug)
            if not debugged:
                return usual(*args, **kwargs)
            if options.get("enable_conditionals"):
                raise ArgumentError("pipeline_def: debug mode cannot be combined with enable_conditionals")
            mine = {key: value for key, value in kwargs.items() if key in own}
            others = {key: value for key, value in kwargs.items() if key not in own}
            call = functools.partial(graph, *args, **mine)
            settings = {key: value for key, value in options.items() if key != "enable_conditionals"}
            return DebugPipeline(call, **{**settings, **others})

        create._is_pipeline_def = True  # type: ignore[attr-defined]
        return create

    return decorate if function is None else decorate(function)


__all__ = ["pipeline_def"]
