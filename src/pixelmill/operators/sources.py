"""Data from the user's own program: external sources and Python functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar, cast

from pixelmill.errors import ArgumentError, ArgumentTypeError
from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Anything, Range, Tensor, operator
from pixelmill.steps.batch import callback
from pixelmill.steps.sources import BatchSource, ExternalInput
from pixelmill.types import DALIDataType

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ExternalSource(BatchSource):
    """An `external_source`: the pipeline asks it for batches, or is fed."""

    source: Callable[..., object] | Iterable[object] | None
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
    parallel: bool = False
    ahead: int = 1


@operator(
    "external_source",
    dali=BEFORE,
    outputs=None,
    leading=("source", "num_outputs"),
    ignored=("blocking", "cuda_stream", "use_copy_kernel"),
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
    parallel: bool = False,
    prefetch_queue_depth: Annotated[int, Range(1)] = 1,
) -> Tensor | tuple[Tensor, ...]:
    """Take data from a callable, an iterable, or `Pipeline.feed_input`.

    Args:
        source: A callable, an iterable, or a generator function; None to use `feed_input` or `run(name=…)`.
        num_outputs: The number of values that one call of the source returns; the result is then a list of nodes.
        cycle: What to do when an iterable ends: `"no"` stops, `"quiet"` (or True) starts over, `"raise"` ends the epoch
            and starts over after `reset`.
        batch: Whether the source returns whole batches (the default) or single samples.
        batch_info: Whether to call a source of batches with a BatchInfo instead of the index of the batch.
        layout: The layout of the data, such as `"HWC"`: one string, or one per output.
        dtype: The expected element type, checked when data arrives: one, or one per output.
        ndim: The expected number of axes, checked when data arrives: one, or one per output.
        repeat_last: Whether to reuse the last batch that was fed if there is no newer one.
        no_copy: Whether to read the arrays in place; they must not be modified until their batch is complete.
        parallel: Whether worker processes run the source, as many as `py_num_workers` of the pipeline says. The source
            must be a callable that takes one argument, or with `batch=True` an iterable, which one worker runs.
        prefetch_queue_depth: With `parallel`, how many batches the workers make ahead.
    """
    count = num_outputs or 1
    kind, wants = _kind_of(source)
    per_sample = batch is False
    if parallel:
        _check_parallel(kind, wants=wants, per_sample=per_sample, no_copy=no_copy)
    if cycle not in (None, "no", False) and kind in ("callable", "generator"):
        raise ArgumentError(f"cycle: a {kind} cannot start over; pass an iterable or a generator function")
    if repeat_last and source is not None:
        raise ArgumentError("repeat_last is for data passed to feed_input, not for a source")
    external = ExternalSource(
        source,
        outputs=count,
        several=num_outputs is not None,
        cycle={True: "quiet", "quiet": "quiet", "raise": "raise"}.get(cycle or "no"),
        per_sample=per_sample,
        makes_iterators=kind == "generator function",
        is_callable=kind == "callable",
        wants_argument=wants,
        wants_info=batch_info,
        dtypes=_for_each("dtype", dtype, count),
        ndims=_for_each("ndim", ndim, count),
        repeat_last=repeat_last,
        copies=not no_copy and not parallel,
        layouts=output_layouts_of(layout, count),
        parallel=parallel,
        ahead=prefetch_queue_depth,
    )
    values = tuple(ExternalInput(source=external, output=i).value(external.layouts[i]) for i in range(count))
    return values if external.several else values[0]


def _kind_of(source: object) -> tuple[str, bool]:
    """Return the kind of a source, and whether it takes the index of the batch or sample as an argument."""
    if source is None:
        return "none", False
    if _is_generator_function(source):
        return "generator function", False
    if isinstance(source, Iterable):
        return ("generator" if inspect.isgenerator(source) else "iterable"), False
    if callable(source):
        return "callable", _wants_argument(source)
    raise ArgumentTypeError(f"source must be callable, iterable or a generator function, got {source!r}")


def _check_parallel(kind: str, *, wants: bool, per_sample: bool, no_copy: bool | None) -> None:
    """Refuse what worker processes cannot run, with errors of the types that DALI raises."""
    if kind == "none":
        raise ArgumentError("parallel=True needs a source")
    if kind == "generator":
        raise TypeError("external_source: a generator cannot be passed to a worker process; pass its function")
    if kind == "callable" and not wants:
        raise TypeError(
            "external_source: with parallel=True, the source must accept exactly one argument: a SampleInfo, or with "
            "batch=True a BatchInfo or the index of the batch"
        )
    if kind != "callable" and per_sample:
        what = "a generator function" if kind == "generator function" else "an iterable"
        raise TypeError(f"external_source: with parallel=True, {what} must return batches; use batch=True")
    if no_copy is False:
        raise ArgumentError("no_copy cannot be False with parallel=True")


def _is_generator_function(source: object) -> bool:
    if isinstance(source, functools.partial):
        return _is_generator_function(source.func)
    return inspect.isgeneratorfunction(source) or inspect.isgeneratorfunction(vars(type(source)).get("__call__"))


def _wants_argument(source: Callable[..., object]) -> bool:
    try:
        parameters = list(inspect.signature(source).parameters.values())
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(parameters) > 1 or len(positional) < len(parameters):
        raise ArgumentTypeError("source must take no argument, or one: the batch or sample to produce")
    return bool(positional)


def output_layouts_of(layout: str | Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Return the layout of each output: one string for all, or a list that may omit the last ones."""
    if layout is None or isinstance(layout, str):
        return (layout or "",) * count
    if len(layout) > count or not all(isinstance(names, str) for names in layout):
        raise ArgumentError(f"layout must be a string, or one per output ({count}), got {layout!r}")
    return (*layout, *[""] * (count - len(layout)))


def _for_each(name: str, value: T | Sequence[T] | None, count: int) -> tuple[T | None, ...]:
    if value is None or not isinstance(value, (list, tuple)):
        return (cast("T | None", value),) * count
    if len(value) == 1:
        return tuple(value) * count
    if len(value) != count:
        raise ArgumentError(f"{name}: {len(value)} given for {count} outputs")
    return tuple(value)


class Guessed(tuple[str, ...]):
    """Layouts of outputs that apply if the number of axes matches and are ignored otherwise."""

    __slots__ = ()


@operator("python_function", outputs=None, leading=("function", "num_outputs"), dali=None)
def python_function(
    *inputs: Tensor,
    function: Anything,
    num_outputs: int = 1,
    batch_processing: bool = False,
    output_layouts: Anything | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Call a Python function that takes and returns NumPy arrays.

    Inside a branch of a conditional, it is called only for the samples that take the branch.

    Args:
        inputs: The inputs of the function.
        function: The function.
        num_outputs: The number of arrays it returns.
        batch_processing: Whether to call it once per batch, with lists of samples, instead of once per sample.
        output_layouts: The layouts of the outputs: one string, or one per output.
    """
    if not callable(function):
        raise ArgumentError(f"function must be callable, got {function!r}")
    layouts = output_layouts_of(output_layouts, num_outputs)
    exact = not isinstance(output_layouts, Guessed)
    results = callback(function, *inputs, layouts=layouts, batch=batch_processing, whole=False, exact=exact)
    return results[0] if num_outputs == 1 else results
