"""Everything that commands print. File names, class names and messages come from data, which may hold escape sequences.

A terminal obeys such sequences: they can hide output, fake it, or change the title of the window. So control
characters are printed as escapes like `\x1b`, here and nowhere else, and rich never reads markup from data.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from pixelmill.errors import printable

if TYPE_CHECKING:
    from rich.console import Console

QUIET = "pixelmill.quiet"  # the key of a context's `meta`


def prepare_streams() -> None:
    """Make the standard streams usable, whatever the caller has done to them.

    A closed one is opened as /dev/null: the next file would get its number otherwise, and what is printed would become
    a part of it. Characters that the encoding of the terminal lacks are escaped.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print one line, which may hold foreign names; with --quiet only on standard error."""
    if not err and is_quiet():
        return
    with unread_output():
        click.echo(printable(text), err=err, nl=nl)


def is_quiet() -> bool:
    """Whether the command runs with --quiet."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


@contextmanager
def unread_output() -> Iterator[None]:
    """Continue if the reader of standard output has closed it, as `head` does: the rest is not wanted."""
    try:
        yield
    except BrokenPipeError:
        _discard_output()


def _discard_output() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def message_text(text: str) -> str:
    """Return the message of an error as it is printed.

    Our own messages continue on lines that begin with two blanks. Every other line end comes from a name, which must
    not fake a line, and is escaped.
    """
    return "\n  ".join(printable(part) for part in text.split("\n  "))


def echo_error(message: str) -> None:
    """Print the message of an error, with its own lines."""
    click.echo(f"Error: {message_text(message)}", err=True)


def echo_json(value: object) -> None:
    """Print a value as JSON, in which everything but printable ASCII is escaped."""
    with unread_output():
        click.echo(json.dumps(value, indent=2))


def plain_console(*, stderr: bool = False, quiet: bool = False, width: int | None = None) -> Console:
    """Return a console of rich that takes text as it is: no markup, no emoji codes, no control characters.

    It keeps line ends; foreign names that could hold some pass through `printable` first.
    """
    from rich.console import Console
    from rich.text import Text

    class PlainConsole(Console):
        """Each string that is printed, alone or in a table, passes through `render_str`."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text, keep="\n"), **options)

        def on_broken_pipe(self) -> None:
            _discard_output()

    return PlainConsole(stderr=stderr, quiet=quiet, width=width, highlight=False, markup=False, emoji=False)
