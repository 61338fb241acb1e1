"""Convert datasets between containers."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pixelmill.conversion.encoding import Encoding
    from pixelmill.conversion.job import ConvertJob
    from pixelmill.conversion.run import ConvertReport, convert

# Imported when it is asked for: other jobs use parts of this package, and their workers start sooner so.
_LATER = {"ConvertJob": "job", "ConvertReport": "run", "Encoding": "encoding", "convert": "run"}

__all__ = ["ConvertJob", "ConvertReport", "Encoding", "convert"]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
