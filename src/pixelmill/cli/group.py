"""The ``pixelmill`` command and what its sub-commands have in common."""

from __future__ import annotations

import re
from typing import Any

import click

from pixelmill.cli.augment import augment
from pixelmill.cli.bench import bench
from pixelmill.cli.convert import convert
from pixelmill.cli.create import create_images, create_recordio, create_tfrecords
from pixelmill.cli.demo import demo
from pixelmill.cli.engines import engines
from pixelmill.cli.ingest import ingest
from pixelmill.cli.inspect import index, info, verify
from pixelmill.cli.job import job
from pixelmill.cli.preview import preview
from pixelmill.cli.recipe import recipe
from pixelmill.cli.running import INTERRUPTED, OUTPUT_EXISTS
from pixelmill.cli.segmentation import segmentation
from pixelmill.errors import OutputExists, PixelmillError


class _Commands(click.Group):
    """A group whose commands report errors in one line instead of a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\ninterrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            raise  # click exits quietly if the reader of a pipe has closed it
        except OutputExists as error:
            click.echo(f"Error: {_with_options(str(error))}", err=True)
            ctx.exit(OUTPUT_EXISTS)
        except (PixelmillError, OSError) as error:
            raise click.ClickException(_with_options(str(error))) from error


def _with_options(message: str) -> str:
    """Spell the arguments in a message as options: `exists=resume` becomes `--exists resume`."""
    return re.sub(r"\b(exists|on_error)=['\"]?(\w+)['\"]?", lambda m: f"--{m[1].replace('_', '-')} {m[2]}", message)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="pixelmill", message="%(prog)s %(version)s")
def main() -> None:
    """Image data for deep-learning training, from nothing to batches.

    \b
    Examples:
      pixelmill demo                       see it work on synthetic images
      pixelmill info photos/               what a dataset contains
      pixelmill preview photos/            what it looks like
      pixelmill convert photos/ records/ --to tfrecord
      pixelmill COMMAND --help             what a command does, with examples
    """


main.add_command(augment)
main.add_command(bench)
main.add_command(convert)
main.add_command(create_images)
main.add_command(create_tfrecords)
main.add_command(create_recordio)
main.add_command(demo)
main.add_command(engines)
main.add_command(index)
main.add_command(info)
main.add_command(ingest)
main.add_command(job)
main.add_command(preview)
main.add_command(recipe)
main.add_command(segmentation)
main.add_command(verify)
