"""`create_images`: a synthetic dataset of any size, as image files or straight into records."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pixelmill.create.job import CONTAINERS, FILES, CreateJob
from pixelmill.create.options import PictureOptions, parse_size_distribution
from pixelmill.errors import ArgumentError
from pixelmill.jobs import Progress

if TYPE_CHECKING:
    from pixelmill.jobs import JobReport

DEFAULT_PER_RECORD_FILE = 1000


def create_images(
    path: str | os.PathLike[str],
    name: str,
    width: int,
    height: int,
    count: int,
    image_format: str,
    seed: int = 0,
    size: bool = False,
    chunksize: int = 64,
    *,
    content: str = "noise",
    classes: int = 1,
    masks: bool = False,
    boxes: bool = False,
    objects: tuple[int, int] | None = None,
    size_distribution: str = "fixed",
    bytes: int = 0,
    dedup_ratio: float = 1.0,
    compress_ratio: float = 1.0,
    quality: int | tuple[int, int] = 75,
    full_colour: float = 0.0,
    container: str = FILES,
    img_per_file: int = DEFAULT_PER_RECORD_FILE,
    workers: int | None = None,
    exists: Literal["error", "resume", "overwrite"] = "error",
    shard_index: int | None = None,
    num_shards: int | None = None,
    durable: bool = False,
    runner: Literal["local", "ray"] = "local",
    address: str | None = None,
    on_progress: Callable[[Progress], object] | None = None,
) -> JobReport:
    """Create synthetic images.

    The bytes of picture i depend on the seed, on i and on the options, never on `count`, `workers` or hosts.

    Args:
        path: Folder to write to; it is made when missing.
        name: What file names begin with: `{name}{number}.{ending}`, numbers from 0.
        width: Columns; the mean of them where sizes vary.
        height: Rows, likewise.
        count: Number of images.
        image_format: `jpg`, `png` or `bmp`; `jpeg` and `bitmap` are the same.
        seed: Names the set of images; two sets have no image in common.
        size: Print the size of the first file and of the folder.
        chunksize: Image files that are made and committed together.
        content: `noise`, `photo` (natural statistics), `shapes` (labelled objects) or `gradient`.
        classes: Number of classes. Image i belongs to class i % classes; each has a folder, or a label in records.
        masks: Write a mask for each image of `shapes`, below `masks/`; the images are then below `images/`.
        boxes: Write the rectangle and class of each object of `shapes`.
        objects: Fewest and most objects of `shapes` in an image; (1, 5) with masks or boxes, else (1, 1).
        size_distribution: `fixed`; `sides:0.2` for sides with that deviation of their logarithm; `bytes:0.2` for file
            sizes around `bytes`.
        bytes: Exact size of each file: quality is searched, the rest is padding that readers skip. 0 leaves it open.
        dedup_ratio: Files for each different file.
        compress_ratio: Size of a file in relation to what a compressor makes of it.
        quality: JPEG quality, or the lowest and the highest.
        full_colour: Share of JPEG files with colours in full resolution (4:4:4 instead of 4:2:0).
        container: `files`, `tfrecord`, `recordio`, `webdataset` or `npy`.
        img_per_file: Images in each record file.
        workers: Processes; left out, this process works with as many threads as there are processors.
        exists: What to do with output that is there: refuse it, go on with an unfinished job, or replace it.
        shard_index: Make only every `num_shards`-th shard, beginning with this one; other hosts make the others.
        num_shards: Number of parts that the work is split into.
        durable: Wait until image files are on the disk before they get their names. Without, they survive a kill, but
            perhaps not a loss of power. Record files are always durable.
        runner: `local`, or `ray` for a Ray task for each shard.
        address: The Ray cluster; the running one, or one on this machine when left out.
        on_progress: Called now and then with the progress made.

    Returns:
        What is there now.
    """
    job = images_job(
        name=name,
        width=width,
        height=height,
        count=count,
        image_format=image_format,
        seed=seed,
        chunksize=chunksize,
        content=content,
        classes=classes,
        masks=masks,
        boxes=boxes,
        objects=objects,
        size_distribution=size_distribution,
        bytes=bytes,
        dedup_ratio=dedup_ratio,
        compress_ratio=compress_ratio,
        quality=quality,
        full_colour=full_colour,
        container=container,
        img_per_file=img_per_file,
    )
    from pixelmill.jobs import run_job

    report = run_job(
        job,
        path,
        workers=1 if workers is None else workers,
        exists=exists,
        shard_index=shard_index,
        num_shards=num_shards,
        plain=container == FILES,
        durable=durable or container != FILES,
        runner=runner,
        address=address,
        on_progress=on_progress,
    )
    if size:
        print_sizes(path, first=job.names_of(0)[0] if container == FILES else job.file_names(0)[0])
    return report


def images_job(
    *,
    name: str,
    width: int,
    height: int,
    count: int,
    image_format: str,
    seed: int = 0,
    chunksize: int = 64,
    boxes: bool = False,
    masks: bool = False,
    objects: tuple[int, int] | None = None,
    size_distribution: str = "fixed",
    quality: int | tuple[int, int] = 75,
    container: str = FILES,
    img_per_file: int = DEFAULT_PER_RECORD_FILE,
    **pictures: Any,
) -> CreateJob:
    """Check the options of `create_images` and give the job that it runs."""
    spread, bytes_spread = parse_size_distribution(size_distribution)
    options = PictureOptions(
        height,
        width,
        image_format=image_format,
        seed=seed,
        spread=spread,
        bytes_spread=bytes_spread,
        quality=(quality, quality) if isinstance(quality, int) else quality,
        objects=objects or ((1, 5) if masks or boxes else (1, 1)),
        masks=masks,
        **pictures,
    )
    rules = (
        (count >= 1, f"count must be at least 1, got {count}"),
        (chunksize >= 1, f"chunksize must be at least 1, got {chunksize}"),
        (img_per_file >= 1, f"img_per_file must be at least 1, got {img_per_file}"),
        (container in CONTAINERS, f"container must be one of {', '.join(CONTAINERS)}, got {container!r}"),
        (not boxes or options.content == "shapes", f"boxes need content='shapes', got {options.content!r}"),
        (_is_plain(name), f"name must be part of a file name, without folders and not hidden, got {name!r}"),
    )
    for holds, message in rules:
        if not holds:
            raise ArgumentError(f"create_images: {message}")
    per_shard = chunksize if container == FILES else img_per_file
    return CreateJob(name, count, min(per_shard, count), container, boxes, options.as_dict())


def _is_plain(name: str) -> bool:
    return not any(c in name for c in "/\\\0\n\r\t") and not name.startswith(".")


def print_sizes(path: str | os.PathLike[str], *, first: str) -> None:
    """Print the size of the first file, if it is there, and of all files in a folder."""
    root = Path(path)
    if (root / first).is_file():
        print(f"first file: {root / first}, {(root / first).stat().st_size} bytes")
    total = sum((Path(folder) / name).stat().st_size for folder, _, names in os.walk(root) for name in names)
    print(f"folder: {root}, {total} bytes")
