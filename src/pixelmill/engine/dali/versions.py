"""DALI itself, and what differs between its versions 1.50 to 2.4."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from pixelmill.errors import MissingDependency

# Names that operators had in older versions, where the newer one is missing.
OLDER_NAMES = {
    "equalize": "experimental.equalize",
    "filter": "experimental.filter",
    "tensor_resize": "experimental.tensor_resize",
}
# Names that meant another operator before a version, and what today's was called then: the older decoders know nothing
# of orientation.
OTHERS_BEFORE = {
    name: ((2, 2), f"experimental.{name}")
    for name in ("decoders.image", "decoders.image_crop", "decoders.image_slice", "decoders.image_random_crop")
}
# Operators whose results were wrong before a version; they run natively then.
RIGHT_SINCE = {
    "tensor_resize": (2, 2),  # constant scales were those of the first sample alone
    "experimental.tensor_resize": (2, 2),
}
# The executor that lets outputs live on, and goes on behind an error: an argument of Pipeline by these names.
DYNAMIC = ("exec_dynamic", "experimental_exec_dynamic")


@lru_cache(1)
def dali() -> ModuleType:
    """Import DALI, or raise MissingDependency."""
    with quiet():
        try:
            module = import_module("nvidia.dali")
            for part in ("fn", "types", "math"):
                import_module(f"nvidia.dali.{part}")
        except ImportError as error:
            raise MissingDependency("nvidia.dali", "gpu") from error
    return module


@contextmanager
def quiet() -> Iterator[None]:
    """Keep back what DALI warns of: that names are old which it still has."""
    with warnings.catch_warnings(record=True):  # DALI sets filters of its own, so that ignoring is not enough
        yield


@lru_cache(1)
def version() -> tuple[int, ...]:
    """Give the first two numbers of the version."""
    return tuple(map(int, dali().__version__.split(".")[:2]))


def writes(operation: str) -> bool:
    """Tell whether nodes of this DALI know one of Python's operators, by the name it has in Python's own module."""
    return hasattr(import_module("nvidia.dali.data_node").DataNode, f"__{operation.strip('_')}__")


@lru_cache(256)
def function(name: str) -> Callable[..., Any] | None:
    """Find a function of `nvidia.dali.fn` by its name here; None where this DALI has none, or a wrong one."""
    if version() < RIGHT_SINCE.get(name, (0, 0)):
        return None
    since, older = OTHERS_BEFORE.get(name, ((0, 0), ""))
    for known in (older,) if version() < since else (name, OLDER_NAMES.get(name, name)):
        found: Any = dali().fn
        for part in known.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return cast("Callable[..., Any]", found)
    return None


def new_pipeline(*, batch_size: int, threads: int, device_id: int | None) -> Any:
    """Make an empty pipeline. Batches are begun when they are fed, as many at a time as there are."""
    pipeline = dali().Pipeline
    known = inspect.signature(pipeline.__init__).parameters
    dynamic = next((name for name in DYNAMIC if name in known), None)
    options: dict[str, Any] = {} if dynamic is None else {dynamic: True}
    return pipeline(
        batch_size=batch_size,
        num_threads=threads,
        device_id=device_id,
        prefetch_queue_depth=1,
        seed=0,
        **options,
    )
