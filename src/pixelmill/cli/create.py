"""``pixelmill create-images``, ``create-tfrecords`` and ``create-recordio``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pixelmill import create
from pixelmill.cli.options import OptionValue, json_option, with_options
from pixelmill.cli.running import progress_bar, show_report
from pixelmill.cli.terminal import echo, echo_json
from pixelmill.options.create import PRESETS, CreateArguments, WrapArguments
from pixelmill.options.running import Progress

if TYPE_CHECKING:
    from pixelmill.create import WrapReport

_DEFAULTS: dict[str, OptionValue] = {"width": 1920, "height": 1080, "image_format": "png"}


@click.command("create-images", short_help="Create synthetic images, as files or as records.")
@with_options(CreateArguments)
@click.option("--preset", type=click.Choice(list(PRESETS)), help="A set of options; explicit options override it.")
@click.option("--estimate", is_flag=True, help="Print files, bytes and time; write nothing.")
@json_option
def create_images(preset: str | None, estimate: bool, as_json: bool, **options: OptionValue) -> None:
    """Create synthetic images: noise, photo-like, labeled shapes or gradients.

    The bytes of image i depend only on the seed, i and the options, not on the number of workers or hosts.

    \b
    Examples:
      pixelmill create-images --path out --name img_ --count 1000 --image_format jpg --size
      pixelmill create-images --path out --name img_ --count 1000 --preset imagenet
      pixelmill create-images --path out --name s_ --count 500 --preset shapes --masks --boxes
      pixelmill create-images --path out --name r_ --count 12510 --preset mlperf-resnet50 --estimate
      pixelmill create-images --path out --name r_ --count 12510 --preset mlperf-resnet50 --shard-index 0 --num-shards 4
    """
    explicit = {option: value for option, value in options.items() if value is not None}
    arguments = {**_DEFAULTS, **PRESETS.get(preset or "", {}), **explicit}
    if estimate:
        _print_estimate(arguments, as_json=as_json)
        return
    arguments["size"] = arguments["size"] and not as_json
    start = time.perf_counter()
    with progress_bar("creating images", total=arguments["count"], quiet=as_json) as show:
        report = create.create_images(on_progress=show, **arguments)
    show_report(report, seconds=time.perf_counter() - start, as_json=as_json)


def _print_estimate(arguments: dict[str, OptionValue], *, as_json: bool) -> None:
    # Imported here so that --help does not wait for NumPy.
    from pixelmill.create.estimate import estimate
    from pixelmill.create.images import images_job

    found = estimate(images_job(CreateArguments(**arguments)))
    if as_json:
        echo_json(asdict(found))
        return
    echo(f"{found.files:,} files with {found.images:,} images, {found.bytes / 1e6:,.1f} MB ", nl=False)
    echo(f"(about {found.image_bytes:,} bytes per image), {found.seconds:,.1f} s on this machine; nothing written")


@click.command("create-tfrecords", short_help="Wrap a folder of images into TFRecord files.")
@with_options(WrapArguments)
@json_option
def create_tfrecords(as_json: bool, **options: OptionValue) -> None:
    """Wrap the images of a folder into TFRecord files NAME0, NAME1, and so on.

    \b
    Examples:
      pixelmill create-tfrecords --source_path images --dest_path records --name train_ --img_per_file 100
    """
    _wrap(create.create_tfrecords, as_json=as_json, **options)


@click.command("create-recordio", short_help="Wrap a folder of images into RecordIO files.")
@with_options(WrapArguments)
@json_option
def create_recordio(as_json: bool, **options: OptionValue) -> None:
    """Wrap the images of a folder into RecordIO files NAME0.rec with NAME0.idx, and so on.

    \b
    Examples:
      pixelmill create-recordio --source_path images --dest_path records --name train_ --img_per_file 100
    """
    _wrap(create.create_recordio, as_json=as_json, **options)


def _wrap(wrap: Callable[..., WrapReport], *, as_json: bool, **options: OptionValue) -> None:
    start = time.perf_counter()
    done = [0, 0]
    with progress_bar("writing records", total=None, quiet=as_json) as show:

        def advance(images: int, size: int) -> None:
            done[0] += images
            done[1] += size
            show(Progress(0, 0, done[0], done[1], 0))

        report = wrap(**options, on_progress=advance)
    if as_json:
        echo_json(asdict(report))
        return
    seconds = time.perf_counter() - start
    echo(f"wrote {report.images} images, {report.bytes / 1e6:,.1f} MB, ", nl=False)
    echo(f"into {len(report.files)} files in {seconds:.2f} s")
