"""The ``pixelmill`` command and what all its sub-commands share."""

from __future__ import annotations

from typing import Any

import click

from pixelmill.cli.demo import demo
from pixelmill.errors import PixelmillError

_INTERRUPTED = 130  # what shells report for a program ended by Ctrl-C: 128 + SIGINT


class _Commands(click.Group):
    """A group whose commands end with one clear line instead of a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\ninterrupted", err=True)
            ctx.exit(_INTERRUPTED)
        except BrokenPipeError:
            raise  # click ends quietly when the reader of a pipe has gone
        except (PixelmillError, OSError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="pixelmill", message="%(prog)s %(version)s")
def main() -> None:
    """Image data for deep-learning training, from nothing to batches.

    \b
    Examples:
      pixelmill demo                       see it work on pictures made on the spot
      pixelmill demo --count 2000 --json   the same, larger, for a script to read
      pixelmill COMMAND --help             what a command does, with examples
    """


main.add_command(demo)
