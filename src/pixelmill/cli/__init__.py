"""The command line: each command parses its options, calls one public function and prints what it returns."""

from pixelmill.cli.group import main

__all__ = ["main"]
