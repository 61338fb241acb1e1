"""Data that the user's own program makes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Anything, Tensor, operator
from pixelmill.steps.batch import callback
from pixelmill.steps.sources import BatchSource, ExternalInput
from pixelmill.types import DALIDataType


@dataclass(frozen=True, eq=False)
class ExternalSource(BatchSource):
    """Where an `external_source` gets its batches; the pipeline asks it, or is fed."""

    source: Callable[..., Any] | Iterable[Any] | None
    outputs: int
    several: bool
    cycle: str | None
    per_sample: bool
    makes_iterators: bool
    is_callable: bool
    wants_argument: bool
    wants_info: bool
    dtypes: tuple[DALIDataType | None, ...]
    ndims: tuple[int | None, ...]
    repeat_last: bool
    copies: bool
    layouts: tuple[str, ...]


@operator(
    "external_source",
    dali=BEFORE,
    outputs=None,
    leading=("source", "num_outputs"),
    ignored=("parallel", "blocking", "prefetch_queue_depth", "cuda_stream", "use_copy_kernel"),
)
def external_source(
    *,
    source: Anything | None = None,
    num_outputs: int | None = None,
    cycle: Literal["no", "quiet", "raise", False, True] | None = None,
    batch: bool | None = None,
    batch_info: bool = False,
    layout: Anything | None = None,
    dtype: Anything | None = None,
    ndim: Anything | None = None,
    repeat_last: bool = False,
    no_copy: bool | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Take data from a callable, an iterable, or `Pipeline.feed_input`.

    Args:
        source: A callable, an iterable, or a generator function; None to be fed by `feed_input` or `run(name=…)`.
        num_outputs: How many values one call of the source gives; then a list of nodes is returned.
        cycle: What to do when an iterable ends: `"no"` stops, `"quiet"` (or True) begins again, `"raise"` stops the
            epoch and begins again after `reset`.
        batch: Whether the source makes whole batches (default) or single samples.
        batch_info: Hand a callable that makes batches a BatchInfo instead of the number of the batch.
        layout: Names of the axes, such as `"HWC"`; one string or one for each output.
        dtype: Type of the elements, checked when data arrives; one or one for each output.
        ndim: Number of axes, checked when data arrives; one or one for each output.
        repeat_last: Use the last batch that was fed again when no newer one is there.
        no_copy: Read the arrays where they are; whoever gave them does not change them until their batch is there.
    """
    count = num_outputs or 1
    kind, wants = _kind_of(source)
    if cycle not in (None, "no", False) and kind in ("callable", "generator"):
        raise ArgumentError(f"cycle: a {kind} cannot begin again; give an iterable or a generator function")
    if repeat_last and source is not None:
        raise ArgumentError("repeat_last is for data that is fed, not for a source")
    external = ExternalSource(
        source,
        outputs=count,
        several=num_outputs is not None,
        cycle={True: "quiet", "quiet": "quiet", "raise": "raise"}.get(cycle or "no"),
        per_sample=batch is False,
        makes_iterators=kind == "generator function",
        is_callable=kind == "callable",
        wants_argument=wants,
        wants_info=batch_info,
        dtypes=_for_each("dtype", dtype, count),
        ndims=_for_each("ndim", ndim, count),
        repeat_last=repeat_last,
        copies=not no_copy,
        layouts=output_layouts_of(layout, count),
    )
    values = tuple(ExternalInput(source=external, output=i).value(external.layouts[i]) for i in range(count))
    return values if external.several else values[0]


def _kind_of(source: Any) -> tuple[str, bool]:
    """Tell what a source is, and whether it wants to be told which batch or sample it makes."""
    if source is None:
        return "none", False
    if _is_generator_function(source):
        return "generator function", False
    if isinstance(source, Iterable):
        return ("generator" if inspect.isgenerator(source) else "iterable"), False
    if callable(source):
        return "callable", _wants_argument(source)
    raise ArgumentError(f"source must be a callable or an iterable, got {source!r}")


def _is_generator_function(source: Any) -> bool:
    if isinstance(source, functools.partial):
        return _is_generator_function(source.func)
    return inspect.isgeneratorfunction(source) or inspect.isgeneratorfunction(vars(type(source)).get("__call__"))


def _wants_argument(source: Callable[..., Any]) -> bool:
    try:
        parameters = list(inspect.signature(source).parameters.values())
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(parameters) > 1 or len(positional) < len(parameters):
        raise ArgumentError("source takes no argument, or one that says which batch or sample it is")
    return bool(positional)


def output_layouts_of(layout: Any, count: int) -> tuple[str, ...]:
    """Give the layout of each output: one string for all, or a list that may leave the last ones out."""
    if layout is None or isinstance(layout, str):
        return (layout or "",) * count
    if len(layout) > count or not all(isinstance(names, str) for names in layout):
        raise ArgumentError(f"layout must be a string, or one for each of {count} outputs, got {layout!r}")
    return (*layout, *[""] * (count - len(layout)))


def _for_each(name: str, value: Any, count: int) -> tuple[Any, ...]:
    if value is None or not isinstance(value, (list, tuple)):
        return (value,) * count
    if len(value) == 1:
        return tuple(value) * count
    if len(value) != count:
        raise ArgumentError(f"{name}: {len(value)} given for {count} outputs")
    return tuple(value)


class Guessed(tuple[str, ...]):
    """Layouts of results that count where they fit, and are no error where they do not."""

    __slots__ = ()


@operator("python_function", outputs=None, leading=("function", "num_outputs"), dali=None)
def python_function(
    *inputs: Tensor,
    function: Anything,
    num_outputs: int = 1,
    batch_processing: bool = False,
    output_layouts: Anything | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Call a Python function in the middle of a graph. It gets and gives NumPy arrays.

    In a branch of a condition it is called for the samples that take the branch.

    Args:
        inputs: What the function is called with.
        function: The function.
        num_outputs: How many arrays it gives.
        batch_processing: Call it once with lists of samples, instead of for every sample.
        output_layouts: Names of the axes of the results; one string or one for each of them.
    """
    if not callable(function):
        raise ArgumentError(f"function must be callable, got {function!r}")
    layouts = output_layouts_of(output_layouts, num_outputs)
    exact = not isinstance(output_layouts, Guessed)
    results = callback(function, *inputs, layouts=layouts, batch=batch_processing, whole=False, exact=exact)
    return results[0] if num_outputs == 1 else results
