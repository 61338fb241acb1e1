"""Marks the pipeline of a model repository, and stores it: DALI's autoserialization for Triton."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from pixelmill.errors import EngineError

PipelineFunction = Callable[..., Any]


def autoserialize(dali_pipeline: PipelineFunction) -> PipelineFunction:
    """Mark the function that makes the pipeline of a model; a program has one such function.

    Args:
        dali_pipeline: A function decorated with `pipeline_def`.
    """
    if not getattr(dali_pipeline, "_is_pipeline_def", False):
        raise TypeError("Only `@pipeline_def` can be decorated with `@triton.autoserialize`.")
    dali_pipeline._is_autoserialize = True  # type: ignore[attr-defined]
    return dali_pipeline


def invoke_autoserialize(head_module: ModuleType, filename: str | Path) -> None:
    """Serialize the pipeline of the one function in a module, or in its submodules, that is marked.

    Args:
        head_module: The module of the model.
        filename: The file to write, which `Pipeline.deserialize(filename=...)` reads.
    """
    found = _marked(head_module, set())
    if len(found) != 1:
        names = ", ".join(sorted(function.__qualname__ for function in found)) or "none"
        raise EngineError(f"{head_module.__name__}: one function must be marked by @autoserialize, found {names}")
    found.pop()().serialize(filename=str(filename))


def _marked(module: ModuleType, seen: set[str]) -> set[PipelineFunction]:
    seen.add(module.__name__)
    found: set[PipelineFunction] = set()
    inside = f"{module.__name__}."
    for value in vars(module).values():
        if inspect.isfunction(value) and getattr(value, "_is_autoserialize", False):
            found.add(value)
        elif inspect.ismodule(value) and value.__name__ not in seen and value.__name__.startswith(inside):
            found |= _marked(value, seen)
    return found


__all__ = ["autoserialize", "invoke_autoserialize"]
