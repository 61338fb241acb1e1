"""The connection to a Ray cluster."""

from __future__ import annotations

import importlib
from typing import Any

from pixelmill.errors import EngineError, MissingDependency


def import_ray() -> Any:
    """Import Ray, which has no types; raises MissingDependency if it is not installed."""
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise MissingDependency("ray", "ray") from error


def connect(address: str | None) -> tuple[Any, bool]:
    """Return the module `ray`, connected to a cluster, and whether the connection was made here.

    Args:
        address: The cluster; by default the running one, or a new one on this machine.
    """
    ray = import_ray()
    if ray.is_initialized():
        return ray, False
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        where = "a cluster" if address is None else address
        raise EngineError(f"ray: cannot connect to {where}: {error}") from error
    return ray, True
