"""The `imagine` command with Imageinary's options."""

from __future__ import annotations

import functools
from collections.abc import Callable

import click

from pixelmill.cli.options import OptionValue
from pixelmill.errors import PixelmillError

Command = Callable[..., None]
_DEFAULTS = {"image_format": "png"}


class _Commands(click.Group):
    """A group whose commands report errors in one line instead of a traceback."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (PixelmillError, OSError) as error:
            raise click.ClickException(str(error)) from error


def _positions(*names: str) -> Callable[[Command], Command]:
    """Let a command take the values of some options by position too, in this order."""

    def decorate(command: Command) -> Command:
        @click.argument("positions", nargs=-1, metavar=" ".join(f"[{name.upper()}]" for name in names))
        @functools.wraps(command)
        def call(positions: tuple[str, ...], **options: OptionValue) -> None:
            if len(positions) > len(names):
                raise click.UsageError(f"unexpected argument {positions[len(names)]!r}")
            for name, value in zip(names, positions, strict=False):
                if options[name] is not None:
                    raise click.UsageError(f"{name} is given twice: {value!r} and --{name} {options[name]}")
                options[name] = value
            for name in names:
                if options[name] is None and name not in _DEFAULTS:
                    raise click.UsageError(f"Missing option '--{name}'.")
            command(**{name: _DEFAULTS.get(name) if value is None else value for name, value in options.items()})

        return call

    return decorate


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Generate datasets of fake images of any size, and record files of them.

    \b
    Examples:
      imagine create-images --path images --name random_ --width 3840 --height 2160 --count 1000 --image_format jpg
      imagine create-images images random_ jpg --count 1000
      imagine create-tfrecords --source_path images --dest_path records --name train_ --img_per_file 100
    """


@main.command("create-images")
@click.option("--path", help="Folder to write to.")
@click.option("--name", help="First part of the file names.")
@click.option("--width", default=1920, show_default=True, type=int)
@click.option("--height", default=1080, show_default=True, type=int)
@click.option("--count", default=1, show_default=True, type=int)
@click.option("--image_format", "--image-format", help="jpg, png or bmp.  [default: png]")
@click.option("--seed", default=0, show_default=True, type=int)
@click.option("--size", is_flag=True, help="Print the size of the first file and of the folder.")
@click.option("--chunksize", default=64, show_default=True, type=int)
@click.option("--alpha", is_flag=True, help="Add transparency as a fourth channel (png and bmp).")
@_positions("path", "name", "image_format")
def create_images(**options: OptionValue) -> None:
    """Create image files of noise."""
    import imagine

    imagine.create_images(**options)


@main.command("create-tfrecords")
@click.option("--source_path", "--source-path", help="Folder of images.")
@click.option("--dest_path", "--dest-path", help="Folder to write to.")
@click.option("--name", help="First part of the file names.")
@click.option("--img_per_file", "--img-per-file", default=1000, show_default=True, type=int)
@_positions("source_path", "dest_path", "name")
def create_tfrecords(**options: OptionValue) -> None:
    """Wrap the images of a folder into TFRecord files."""
    import imagine

    imagine.create_tfrecords(**options)


@main.command("create-recordio")
@click.option("--source_path", "--source-path", help="Folder of images.")
@click.option("--dest_path", "--dest-path", help="Folder to write to.")
@click.option("--name", help="First part of the file names.")
@click.option("--img_per_file", "--img-per-file", default=1000, show_default=True, type=int)
@_positions("source_path", "dest_path", "name")
def create_recordio(**options: OptionValue) -> None:
    """Wrap the images of a folder into RecordIO files."""
    import imagine

    imagine.create_recordio(**options)


main.add_command(create_tfrecords, "create-tfrecord")  # the name in later releases of Imageinary
