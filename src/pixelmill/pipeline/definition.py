"""Pipelines from functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, overload

from pixelmill.errors import MissingGraphError, UnknownNameError
from pixelmill.graph.conversion import convert
from pixelmill.pipeline.execution import Pipeline


@overload
def pipeline_def(
    function: Callable[..., object], *, enable_conditionals: bool = False, **defaults: Any
) -> Callable[..., Pipeline]: ...
@overload
def pipeline_def(
    function: None = None, *, enable_conditionals: bool = False, **defaults: Any
) -> Callable[[Callable[..., object]], Callable[..., Pipeline]]: ...
def pipeline_def(
    function: Callable[..., object] | None = None, *, enable_conditionals: bool = False, **defaults: Any
) -> Callable[..., object]:
    """Turn a function that builds a graph into one that creates pipelines.

    Args:
        function: The function. The new function takes its arguments and those of `Pipeline`.
        enable_conditionals: Let `if`, `and`, `or` and `not` in the function work on nodes, sample by sample.
        defaults: Arguments of `Pipeline`, which a call may override.
    """
    known = set(inspect.signature(Pipeline.__init__).parameters) - {"self"}
    unknown = sorted(set(defaults) - known)
    if unknown:
        raise UnknownNameError(f"pipeline_def: Pipeline has no argument {unknown[0]!r}")

    def decorate(graph: Callable[..., object]) -> Callable[..., Pipeline]:
        own = inspect.signature(graph).parameters
        build = convert(graph) if enable_conditionals else graph
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in own.values()):
            raise TypeError(f"pipeline_def: {graph.__name__} takes **{list(own)[-1]}; name its arguments instead")

        @functools.wraps(graph)
        def create(*args: object, **kwargs: Any) -> Pipeline:
            mine = {key: value for key, value in kwargs.items() if key in own}
            options = {key: value for key, value in kwargs.items() if key not in own}
            wrong = sorted(set(options) - known)
            if wrong:
                raise UnknownNameError(
                    f"{graph.__name__}: got an unexpected argument {wrong[0]!r}, and Pipeline has none of this name"
                )
            pipe = Pipeline(**{**defaults, **options})
            with pipe:
                outputs = build(*args, **mine)
            if outputs is None:
                raise MissingGraphError(f"{graph.__name__}: the function must return the outputs of the pipeline")
            pipe.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else (outputs,)))
            return pipe

        create._is_pipeline_def = True  # type: ignore[attr-defined]
        return create

    return decorate if function is None else decorate(function)
