"""The command line: each command parses its options, calls one public function and prints what it returns.

`pixelmill` and its packages import their functions on first access, so `--help` does not wait for NumPy and the engine.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pixelmill.lazy_exports import lazy_exports

# Without this, the linear-algebra threads of NumPy spin for a tenth of a second after its import. Little uses them.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

if TYPE_CHECKING:
    from pixelmill.cli.group import main

__all__ = ["main"]
__getattr__ = lazy_exports(__name__, {"main": "group"})  # `tfrecord2idx` starts without it
