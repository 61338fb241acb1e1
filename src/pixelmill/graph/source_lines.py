"""Find the user's line that created a node, so that errors can quote it."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path

PACKAGE = str(Path(__file__).absolute().parents[1]) + os.sep


def user_line() -> str | None:
    """Return the innermost line on the call stack outside of this package, as `file:number   text`."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return None
    path, number = frame.f_code.co_filename, frame.f_lineno
    return f"{Path(path).name}:{number}   {linecache.getline(path, number).strip()}".rstrip()
