"""Export names from a package without importing the modules that define them.

Worker processes need one module of a package, and start in a fraction of the time if the others are not imported.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping


def lazy_exports(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package.

    Args:
        package: The name of the package.
        modules: The module of each exported name: relative to the package, or the full name of one elsewhere.
    """

    def find(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        return getattr(importlib.import_module(module if "." in module else f"{package}.{module}"), name)

    return find
