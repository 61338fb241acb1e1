"""Names that a package exports without importing the modules that define them.

Worker processes import one module of a package, and start in a fraction of the time if that does not bring in the rest.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    Args:
        package: Its name.
        modules: The module of each exported name: relative to the package, or of another package by its full name.
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        return getattr(importlib.import_module(module if "." in module else f"{package}.{module}"), name)

    return find
