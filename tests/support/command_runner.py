"""Runs commands in this process as click's CliRunner does since 8.2, whatever click is installed.

Before 8.2, click gave both streams as one unless asked, and then `output` had stdout alone.
"""

from __future__ import annotations

import inspect
from typing import Any

import click.testing
from click.testing import Result

MIXES = "mix_stderr" in inspect.signature(click.testing.CliRunner).parameters


class CliRunner(click.testing.CliRunner):
    """Run commands; the result has `stdout`, `stderr`, and both in `output`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**({"mix_stderr": False} if MIXES else {}), **settings)

    def invoke(self, *arguments: Any, **settings: Any) -> Result:
        """Run a command with its arguments."""
        result = super().invoke(*arguments, **settings)
        if MIXES:
            result.__class__ = _WithBothStreams
        return result


class _WithBothStreams(Result):
    @property
    def output(self) -> str:
        return self.stdout + self.stderr
