"""``pixelmill create-images``, ``create-tfrecords`` and ``create-recordio``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pixelmill import create
from pixelmill.amounts import counted, duration_text, size_text, speed_text
from pixelmill.cli.commands import job_command
from pixelmill.cli.options import OptionValue, SuggestingChoice, json_option, with_options
from pixelmill.cli.places import Places, with_places
from pixelmill.cli.running import progress_bar, show_report
from pixelmill.cli.terminal import echo, echo_json
from pixelmill.options.create import FILES, PRESETS, CreateArguments, WrapArguments
from pixelmill.options.running import PartOption, Progress

if TYPE_CHECKING:
    from pixelmill.create import WrapReport

_DEFAULTS: dict[str, OptionValue] = {"width": 1920, "height": 1080, "image_format": "png", "count": None}
_WRAP = Places("source_path", "dest_path", source_options=("--source-path",), output_options=("--dest-path",))


@job_command("create-images", short_help="Create synthetic images, as files or as records.")
@with_places(Places(output="path", output_options=("--path",)))
@with_options(CreateArguments, PartOption, without=("path",))
@click.option("--preset", type=SuggestingChoice(list(PRESETS)), help="A set of options; explicit options override it.")
@click.option("--dry-run", "--estimate", "estimate", is_flag=True, help="Print files, bytes and time; write nothing.")
@json_option
def create_images(
    preset: str | None, estimate: bool, part: tuple[int, int] | None, as_json: bool, **options: OptionValue
) -> None:
    """Create synthetic images in DST: noise, photo-like, labeled shapes or gradients.

    The bytes of image i depend only on the seed, i and the options, not on the number of workers or hosts.

    \b
    Examples:
      pixelmill create-images out/ --count 1000 --image-format jpg --size
      pixelmill create-images out/ --total 50GB --preset imagenet --dry-run
      pixelmill create-images out/ --total 50GB --bytes 100KB --content photo --image-format jpg
      pixelmill create-images out/ --count 500 --preset shapes --masks --boxes
      pixelmill create-images out/ --count 12510 --preset mlperf-resnet50 --part 0/4   # on the first of four machines
      pixelmill create-images --path out --name img_ --count 1000 --image_format jpg
    """
    explicit = {option: value for option, value in options.items() if value is not None}
    arguments = {**_DEFAULTS, **PRESETS.get(preset or "", {}), **explicit}
    if "img_per_file" in explicit and not as_json and arguments.get("container", FILES) == FILES:
        echo("Note: --img-per-file has no effect on image files; it is for records (--container)", err=True)
    if part is not None:
        arguments |= {"shard_index": part[0], "num_shards": part[1]}
    if estimate:
        _print_estimate(arguments, as_json=as_json)
        return
    arguments["size"] = arguments["size"] and not as_json
    start = time.perf_counter()
    with progress_bar("creating images", total=arguments["count"], quiet=as_json) as show:
        report = create.create_images(on_progress=show, **arguments)
    show_report(report, seconds=time.perf_counter() - start, as_json=as_json, part=part)


def _print_estimate(arguments: dict[str, OptionValue], *, as_json: bool) -> None:
    # Imported here so that --help does not wait for NumPy.
    from pixelmill.create.estimate import estimate
    from pixelmill.create.images import images_job

    found = estimate(images_job(CreateArguments(**arguments)))
    if as_json:
        echo_json(asdict(found))
        return
    text = f"{counted(found.images, 'image')} in {counted(found.files, 'file')}, {size_text(found.bytes)}"
    each = f"about {size_text(found.image_bytes)} per image"
    echo(f"would write {text} ({each}); {duration_text(found.seconds)} on this machine; nothing was written")


@job_command("create-tfrecords", short_help="Wrap a folder of images into TFRecord files.")
@with_places(_WRAP)
@with_options(WrapArguments, without=("source_path", "dest_path"))
@json_option
def create_tfrecords(as_json: bool, **options: OptionValue) -> None:
    """Wrap the images of the folder SRC into TFRecord files NAME0, NAME1, and so on, in DST.

    \b
    Examples:
      pixelmill create-tfrecords images/ records/ --name train_ --img-per-file 100
      pixelmill create-tfrecords --source_path images --dest_path records --name train_ --img_per_file 100
    """
    _wrap(create.create_tfrecords, as_json=as_json, **options)


@job_command("create-recordio", short_help="Wrap a folder of images into RecordIO files.")
@with_places(_WRAP)
@with_options(WrapArguments, without=("source_path", "dest_path"))
@json_option
def create_recordio(as_json: bool, **options: OptionValue) -> None:
    """Wrap the images of the folder SRC into RecordIO files NAME0.rec with NAME0.idx, and so on, in DST.

    \b
    Examples:
      pixelmill create-recordio images/ records/ --name train_ --img-per-file 100
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
    text = f"{counted(report.images, 'image')}, {size_text(report.bytes)}, into {counted(len(report.files), 'file')}"
    if options["dry_run"]:
        echo(f"would write {text}; nothing was written")
    else:
        speed = speed_text(report.images, report.bytes, seconds)
        echo(f"wrote {text} in {duration_text(seconds)} ({speed})")
