"""DALI's iterators and Python functions for JAX."""

from __future__ import annotations

from pixelmill.errors import MissingDependency

try:
    import jax  # noqa: F401 - report a missing package at import
except ImportError:
    raise MissingDependency("jax", "jax") from None

from pixelmill.plugin.base_iterator import LastBatchPolicy
from pixelmill.plugin.jax import fn
from pixelmill.plugin.jax.iterator import DALIGenericIterator, data_iterator

__all__ = ["DALIGenericIterator", "LastBatchPolicy", "data_iterator", "fn"]
