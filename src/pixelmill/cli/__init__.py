"""The command line: each command parses its options, calls one public function and prints what it returns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

# NumPy's threads for linear algebra, which is hardly needed, would spin for a tenth of a second when it is imported.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

if TYPE_CHECKING:
    from pixelmill.cli.group import main

__all__ = ["main"]


def __getattr__(name: str) -> Any:
    """Import the main command when it is asked for: `tfrecord2idx` starts without it."""
    if name != "main":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pixelmill.cli.group import main

    return main
