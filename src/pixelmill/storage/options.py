"""The options of stores, such as credentials: what a program passes as `storage_options`, in the names of fsspec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

StorageOptions = Mapping[str, object]

_active: ContextVar[StorageOptions] = ContextVar("storage_options", default={})  # noqa: B039 - never changed in place


def active() -> StorageOptions:
    """Return the options that apply to addresses that are opened now."""
    return _active.get()


@contextmanager
def using(options: StorageOptions | None) -> Iterator[None]:
    """Apply options to all addresses that are opened inside of a `with` block.

    Index files, lists and data of a dataset are opened by many modules; none of them has another use for the options.
    """
    token = _active.set(options or {})
    try:
        yield
    finally:
        _active.reset(token)
