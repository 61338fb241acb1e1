"""Access to DALI, what it looks like from here, and the differences between its versions 1.50 to 2.4."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Protocol, cast

from pixelmill.engine.barriers import Data
from pixelmill.errors import MissingDependency
from pixelmill.tensors import DaliBatch

# Names that operators had in versions without the current name.
OLDER_NAMES = {
    "equalize": "experimental.equalize",
    "filter": "experimental.filter",
    "tensor_resize": "experimental.tensor_resize",
}
# Names that meant another operator before a version, and what the current operator was called then: the older decoders
# ignore the EXIF orientation.
OTHERS_BEFORE = {
    name: ((2, 2), f"experimental.{name}")
    for name in ("decoders.image", "decoders.image_crop", "decoders.image_slice", "decoders.image_random_crop")
}
# Operators whose results were wrong before a version; with older ones they run natively.
CORRECT_SINCE = {
    "tensor_resize": (2, 2),  # constant scales were those of the first sample alone
    "experimental.tensor_resize": (2, 2),
}
# The argument of Pipeline for the dynamic executor, by version: its outputs outlive the next batch, and it continues
# after an error.
DYNAMIC = ("exec_dynamic", "experimental_exec_dynamic")


class DaliValue(Protocol):
    """A `nvidia.dali.data_node.DataNode`, as far as it is used here."""

    @property
    def device(self) -> str: ...

    def cpu(self) -> DaliValue: ...

    def gpu(self) -> DaliValue: ...

    def __add__(self, other: object) -> DaliValue: ...

    def __getitem__(self, key: object) -> DaliValue: ...


class DaliPipeline(AbstractContextManager["DaliPipeline"], Protocol):
    """A `nvidia.dali.Pipeline`, as far as it is used here."""

    def set_outputs(self, *nodes: DaliValue) -> None: ...

    def build(self) -> None: ...

    def feed_input(self, data_node: str, data: Data, layout: str | None = None) -> None: ...

    def run(self) -> Sequence[DaliBatch]: ...

    def schedule_run(self) -> None: ...

    def share_outputs(self) -> Sequence[DaliBatch]: ...

    def release_outputs(self) -> None: ...

    def serialize(self) -> bytes: ...


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
    """Suppress DALI's warnings about deprecated names, which are used on purpose."""
    with warnings.catch_warnings(record=True):  # DALI sets filters of its own, so an "ignore" filter has no effect
        yield


@lru_cache(1)
def version() -> tuple[int, ...]:
    """Return the major and minor version."""
    return tuple(map(int, dali().__version__.split(".")[:2]))


def has_python_operator(operation: str) -> bool:
    """Whether nodes of this DALI support one of Python's operators, named as in the `operator` module."""
    return hasattr(import_module("nvidia.dali.data_node").DataNode, f"__{operation.strip('_')}__")


@lru_cache(256)
def function(name: str) -> Callable[..., object] | None:
    """Return the function of `nvidia.dali.fn` for an operator; None if this DALI has none, or a faulty one."""
    if version() < CORRECT_SINCE.get(name, (0, 0)):
        return None
    since, older = OTHERS_BEFORE.get(name, ((0, 0), ""))
    for known in (older,) if version() < since else (name, OLDER_NAMES.get(name, name)):
        found: object = dali().fn
        for part in known.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return cast("Callable[..., object]", found)
    return None


def new_pipeline(*, batch_size: int, threads: int, device_id: int | None) -> DaliPipeline:
    """Return an empty pipeline. It starts a batch when the batch is fed, any number at a time."""
    pipeline = dali().Pipeline
    known = inspect.signature(pipeline.__init__).parameters
    dynamic = next((name for name in DYNAMIC if name in known), None)
    options = {} if dynamic is None else {dynamic: True}
    created = pipeline(
        batch_size=batch_size,
        num_threads=threads,
        device_id=device_id,
        prefetch_queue_depth=1,
        seed=0,
        **options,
    )
    return cast("DaliPipeline", created)
