"""``pixelmill create-images``, ``create-tfrecords`` and ``create-recordio``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pixelmill.cli.running import exists_option, progress_bar, runner_options, show_report

if TYPE_CHECKING:
    from pixelmill.create import WrapReport

Command = TypeVar("Command", bound=Callable[..., Any])

_CONTENTS = ["noise", "photo", "shapes", "gradient"]
_CONTAINERS = ["files", "tfrecord", "recordio", "webdataset", "npy"]
_PRESETS = ["mlperf-resnet50", "imagenet", "camera", "shapes"]
_RUN_OPTIONS = ("workers", "exists", "shard_index", "num_shards", "durable", "runner", "address")
_DEFAULTS: dict[str, Any] = {"width": 1920, "height": 1080, "image_format": "png"}


class _Interval(click.ParamType[tuple[int, int]]):
    name = "N[-M]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        low, _, high = str(value).partition("-")
        if not low.isdecimal() or not (high or low).isdecimal():
            self.fail(f"{value!r} is not a number or two such as 70-95", param, ctx)
        return int(low), int(high or low)


def _with(options: tuple[Callable[[Command], Command], ...]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_imageinary_options: tuple[Any, ...] = (
    click.option("--path", required=True, type=click.Path(file_okay=False), help="Folder to write to."),
    click.option("--name", required=True, help="What file names begin with."),
    click.option("--width", type=int, help="Columns.  [default: 1920]"),
    click.option("--height", type=int, help="Rows.  [default: 1080]"),
    click.option("--count", default=1, show_default=True, type=int, help="Number of images."),
    click.option("--image_format", "--image-format", help="jpg, png or bmp (also jpeg, bitmap).  [default: png]"),
    click.option("--seed", default=0, show_default=True, type=int, help="Another seed, other images."),
    click.option("--size", is_flag=True, help="Print the size of the first file and of the folder."),
    click.option("--chunksize", default=64, show_default=True, type=int, help="Image files committed together."),
)
_content_options: tuple[Any, ...] = (
    click.option("--preset", type=click.Choice(_PRESETS), help="Options that belong together; others override them."),
    click.option("--content", type=click.Choice(_CONTENTS), help="What images show.  [default: noise]"),
    click.option("--classes", type=int, help="Number of classes: folders, or labels in records.  [default: 1]"),
    click.option("--masks", is_flag=True, default=None, help="Write masks (shapes only)."),
    click.option("--boxes", is_flag=True, default=None, help="Write boxes of objects (shapes only)."),
    click.option("--objects", type=_Interval(), help="Objects in an image of shapes.  [default: 1, or 1-5]"),
    click.option("--size-distribution", metavar="KIND", help="fixed, sides:SPREAD or bytes:SPREAD.  [default: fixed]"),
    click.option("--bytes", type=click.IntRange(min=1), help="Exact size of each image file."),
    click.option("--dedup-ratio", type=float, help="Files for each different file.  [default: 1]"),
    click.option("--compress-ratio", type=float, help="How much a compressor saves.  [default: 1]"),
    click.option("--quality", type=_Interval(), help="JPEG quality, or lowest and highest.  [default: 75]"),
)
_output_options: tuple[Any, ...] = (
    click.option("--container", type=click.Choice(_CONTAINERS), help="What to write into.  [default: files]"),
    click.option("--img_per_file", "--img-per-file", type=int, help="Images in a record file.  [default: 1000]"),
    click.option("--estimate", is_flag=True, help="Print files, bytes and time; write nothing."),
    click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: threads of this one]"),
    exists_option,
    click.option("--shard-index", type=int, help="Make part I of N, from 0; other hosts make the others."),
    click.option("--num-shards", type=int, help="Number of parts."),
    click.option("--durable", is_flag=True, help="Wait for the disk with each image file."),
    *runner_options,
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else."),
)


@click.command("create-images", short_help="Create synthetic images, as files or straight into records.")
@_with(_imageinary_options)
@_with(_content_options)
@_with(_output_options)
def create_images(path: str, size: bool, estimate: bool, as_json: bool, **options: Any) -> None:
    """Create synthetic images: noise, photo-like, labelled shapes or gradients.

    The bytes of image i depend on the seed, on i and on the options, never on workers or hosts.

    \b
    Examples:
      pixelmill create-images --path out --name img_ --count 1000 --image_format jpg --size
      pixelmill create-images --path out --name img_ --count 1000 --preset imagenet
      pixelmill create-images --path out --name s_ --count 500 --preset shapes --masks --boxes
      pixelmill create-images --path out --name r_ --count 12510 --preset mlperf-resnet50 --estimate
      pixelmill create-images --path out --name r_ --count 12510 --preset mlperf-resnet50 --shard-index 0 --num-shards 4
    """
    from pixelmill.create.images import create_images as create
    from pixelmill.create.presets import PRESETS

    chosen = PRESETS.get(options.pop("preset") or "", {})
    given = {option: value for option, value in options.items() if value is not None}
    run = {option: given.pop(option) for option in _RUN_OPTIONS if option in given}
    pictures = {**_DEFAULTS, **chosen, **given}
    if estimate:
        _print_estimate(pictures, as_json=as_json)
        return
    run["size"] = size and not as_json
    start = time.perf_counter()
    with progress_bar("creating images", total=pictures["count"], quiet=as_json) as show:
        report = create(path, on_progress=show, **run, **pictures)
    show_report(report, seconds=time.perf_counter() - start, as_json=as_json)


def _print_estimate(pictures: dict[str, Any], *, as_json: bool) -> None:
    from pixelmill.create.estimate import estimate
    from pixelmill.create.images import images_job

    found = estimate(images_job(**pictures))
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
        return
    click.echo(f"{found.files:,} files with {found.images:,} images, {found.bytes / 1e6:,.1f} MB ", nl=False)
    click.echo(f"(about {found.image_bytes:,} bytes an image), {found.seconds:,.1f} s on this machine; nothing written")


@click.command("create-tfrecords", short_help="Wrap a folder of images into TFRecord files.")
@click.option("--source_path", "--source-path", required=True, help="Folder of image files or of class folders.")
@click.option("--dest_path", "--dest-path", required=True, help="Folder to write to.")
@click.option("--name", required=True, help="What file names begin with.")
@click.option("--img_per_file", "--img-per-file", default=1000, show_default=True, type=int, help="Images in a file.")
@click.option("--exists", type=click.Choice(["error", "overwrite"]), default="error", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
def create_tfrecords(as_json: bool, **options: Any) -> None:
    """Wrap the images of a folder into TFRecord files NAME0, NAME1, and so on.

    \b
    Examples:
      pixelmill create-tfrecords --source_path images --dest_path records --name train_ --img_per_file 100
    """
    from pixelmill.create import create_tfrecords as wrap

    _wrap(wrap, as_json=as_json, **options)


@click.command("create-recordio", short_help="Wrap a folder of images into RecordIO files.")
@click.option("--source_path", "--source-path", required=True, help="Folder of image files or of class folders.")
@click.option("--dest_path", "--dest-path", required=True, help="Folder to write to.")
@click.option("--name", required=True, help="What file names begin with.")
@click.option("--img_per_file", "--img-per-file", default=1000, show_default=True, type=int, help="Images in a file.")
@click.option("--exists", type=click.Choice(["error", "overwrite"]), default="error", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
def create_recordio(as_json: bool, **options: Any) -> None:
    """Wrap the images of a folder into RecordIO files NAME0.rec with NAME0.idx, and so on.

    \b
    Examples:
      pixelmill create-recordio --source_path images --dest_path records --name train_ --img_per_file 100
    """
    from pixelmill.create import create_recordio as wrap

    _wrap(wrap, as_json=as_json, **options)


def _wrap(wrap: Callable[..., WrapReport], *, as_json: bool, **options: Any) -> None:
    from pixelmill.jobs import Progress

    start = time.perf_counter()
    done = [0, 0]
    with progress_bar("writing records", total=None, quiet=as_json) as show:

        def advance(images: int, size: int) -> None:
            done[0] += images
            done[1] += size
            show(Progress(0, 0, done[0], done[1], 0))

        report = wrap(**options, on_progress=advance)
    if as_json:
        click.echo(json.dumps(asdict(report), indent=2))
        return
    seconds = time.perf_counter() - start
    click.echo(f"wrote {report.images} images, {report.bytes / 1e6:,.1f} MB, ", nl=False)
    click.echo(f"into {len(report.files)} files in {seconds:.2f} s")
