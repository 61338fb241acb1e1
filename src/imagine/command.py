"""The `imagine` command with Imageinary's options."""

from __future__ import annotations

import click

from pixelmill.cli.options import OptionValue
from pixelmill.errors import PixelmillError


class _Commands(click.Group):
    """A group whose commands report errors in one line instead of a traceback."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (PixelmillError, OSError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Generate datasets of fake images of any size, and record files of them.

    \b
    Examples:
      imagine create-images --path images --name random_ --width 3840 --height 2160 --count 1000 --image_format jpg
      imagine create-tfrecords --source_path images --dest_path records --name train_ --img_per_file 100
    """


@main.command("create-images")
@click.option("--path", required=True, help="Folder to write to.")
@click.option("--name", required=True, help="First part of the file names.")
@click.option("--width", default=1920, show_default=True, type=int)
@click.option("--height", default=1080, show_default=True, type=int)
@click.option("--count", default=1, show_default=True, type=int)
@click.option("--image_format", "--image-format", default="png", show_default=True, help="jpg, png or bmp.")
@click.option("--seed", default=0, show_default=True, type=int)
@click.option("--size", is_flag=True, help="Print the size of the first file and of the folder.")
@click.option("--chunksize", default=64, show_default=True, type=int)
def create_images(**options: OptionValue) -> None:
    """Create image files of noise."""
    import imagine

    imagine.create_images(**options)


@main.command("create-tfrecords")
@click.option("--source_path", "--source-path", required=True, help="Folder of images.")
@click.option("--dest_path", "--dest-path", required=True, help="Folder to write to.")
@click.option("--name", required=True, help="First part of the file names.")
@click.option("--img_per_file", "--img-per-file", default=1000, show_default=True, type=int)
def create_tfrecords(**options: OptionValue) -> None:
    """Wrap the images of a folder into TFRecord files."""
    import imagine

    imagine.create_tfrecords(**options)


@main.command("create-recordio")
@click.option("--source_path", "--source-path", required=True, help="Folder of images.")
@click.option("--dest_path", "--dest-path", required=True, help="Folder to write to.")
@click.option("--name", required=True, help="First part of the file names.")
@click.option("--img_per_file", "--img-per-file", default=1000, show_default=True, type=int)
def create_recordio(**options: OptionValue) -> None:
    """Wrap the images of a folder into RecordIO files."""
    import imagine

    imagine.create_recordio(**options)


main.add_command(create_tfrecords, "create-tfrecord")  # the name in later releases of Imageinary
