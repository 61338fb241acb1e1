"""The command line: each command parses its options, calls one public function and prints what it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pixelmill.cli.group import main

__all__ = ["main"]


def __getattr__(name: str) -> Any:
    """Import the main command when it is asked for: `tfrecord2idx` starts without it."""
    if name != "main":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pixelmill.cli.group import main

    return main
