"""The ``pixelmill`` command: finds its sub-commands and turns errors into one line."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from pixelmill.cli.running import INTERRUPTED, OUTPUT_EXISTS
from pixelmill.cli.terminal import echo, message_text, prepare_streams
from pixelmill.errors import OutputExists, PixelmillError, printable

# The module of each command. It is imported when the command runs, so that a command does not wait for all others.
_MODULES = {
    "augment": "augment",
    "bench": "bench",
    "convert": "convert",
    "create-images": "create",
    "create-recordio": "create",
    "create-tfrecords": "create",
    "demo": "demo",
    "engines": "engines",
    "index": "inspect",
    "info": "inspect",
    "ingest": "ingest",
    "job": "job",
    "preview": "preview",
    "recipe": "recipe",
    "segmentation": "segmentation",
    "verify": "inspect",
}


class _Commands(click.Group):
    """A group whose commands are imported on demand, and report errors in one line instead of a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return None
        module = importlib.import_module(f"pixelmill.cli.{_MODULES[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def main(self, *args: Any, **options: Any) -> Any:
        prepare_streams()
        return super().main(*args, **options)

    def invoke(self, ctx: click.Context) -> object:
        with _printable_errors():
            return self._invoke(ctx)

    def _invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            echo("", err=True)
            echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            raise  # click exits quietly if the reader of a pipe has closed it
        except OutputExists as error:
            echo(f"Error: {_with_options(str(error))}", err=True)
            ctx.exit(OUTPUT_EXISTS)
        except (PixelmillError, OSError) as error:
            raise click.ClickException(_with_options(str(error))) from error


@contextmanager
def _printable_errors() -> Iterator[None]:
    """Escape the control characters of messages that click prints: arguments may be the names of files."""
    try:
        yield
    except click.ClickException as error:
        # Click lists the choices of a missing parameter on lines of their own, which hold nothing foreign.
        found = error.format_message()
        text = printable(found, keep="\n\t") if isinstance(error, click.MissingParameter) else message_text(found)
        if isinstance(error, click.UsageError):
            raise click.UsageError(text, error.ctx) from error
        raise click.ClickException(text) from error


def _with_options(message: str) -> str:
    """Spell the arguments in a message as options: `exists=resume` becomes `--exists resume`."""
    return re.sub(r"\b(exists|on_error)=['\"]?(\w+)['\"]?", lambda m: f"--{m[1].replace('_', '-')} {m[2]}", message)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="pixelmill", message="%(prog)s %(version)s")
def main() -> None:
    """Image data for deep-learning training, from nothing to batches.

    \b
    Examples:
      pixelmill demo                       # see it work on synthetic images
      pixelmill info photos/               # what a dataset contains
      pixelmill preview photos/            # what it looks like
      pixelmill convert photos/ records/ --to tfrecord
      pixelmill convert --help             # what a command does, with examples
    """
