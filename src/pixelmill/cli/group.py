"""The ``pixelmill`` command: finds its sub-commands and turns errors into one line."""

from __future__ import annotations

import importlib
import re
from typing import Any

import click

from pixelmill.cli.commands import MainGroup, printable_errors, with_dashes
from pixelmill.cli.exit_codes import INTERRUPTED, OUTPUT_EXISTS
from pixelmill.cli.terminal import echo, echo_error, prepare_streams, unread_output
from pixelmill.errors import OutputExists, PixelmillError

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

_ARGUMENT = re.compile(r"\b(exists|on_error|max_errors|content)=['\"]?(\w+)['\"]?")


class _Commands(MainGroup):
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

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with printable_errors():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        with printable_errors(), unread_output():
            return self._invoke(ctx)

    def _invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            echo("", err=True)
            echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            raise  # the reader of standard output has closed it, which is no error
        except OutputExists as error:
            echo_error(_with_options(str(error)))
            ctx.exit(OUTPUT_EXISTS)
        except (PixelmillError, OSError) as error:
            raise click.ClickException(_with_options(str(error))) from error


def _with_options(message: str) -> str:
    """Spell the arguments in a message as options: `exists=resume` becomes `--exists resume`."""
    return _ARGUMENT.sub(lambda found: f"--{with_dashes(found[1])} {found[2]}", message)


_SETTINGS: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
    "token_normalize_func": with_dashes,  # --img_size and --img-size are the same
}


@click.group(cls=_Commands, context_settings=_SETTINGS)
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
