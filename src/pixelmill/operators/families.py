"""Modules for operator families, such as `fn.readers`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


def family(root: str, path: Sequence[str]) -> ModuleType:
    """Return the module of an operator family; create it if it does not exist."""
    module = sys.modules[root]
    for part in path:
        name = f"{module.__name__}.{part}"
        if name not in sys.modules:
            sys.modules[name] = ModuleType(name, f"Operators of the family `{part}`.")
            sys.modules[name].__spec__ = ModuleSpec(name, None)
            setattr(module, part, sys.modules[name])
        module = sys.modules[name]
    return module
