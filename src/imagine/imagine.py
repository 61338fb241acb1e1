"""Imageinary's functions, without TensorFlow and MXNet.

`create_images`, `create_tfrecords` and `create_recordio` take the arguments that Imageinary documents and write the
files that it writes. `pixelmill.create` has the same functions with more options.
"""

from __future__ import annotations

import time

from imagine.command import main
from pixelmill import create
from pixelmill.create.images import print_sizes
from pixelmill.create.wrapping import first_image
from pixelmill.options.create import IMAGE_FORMATS

__all__ = ["create_images", "create_recordio", "create_tfrecords", "main"]


def create_images(
    path: str,
    name: str,
    width: int,
    height: int,
    count: int,
    image_format: str,
    seed: int = 0,
    size: bool = False,
    chunksize: int = 64,
    alpha: bool = False,
) -> None:
    """Create image files of noise `{name}0`, `{name}1`, …; existing files are overwritten.

    Args:
        path: Folder to write to; created if missing.
        name: First part of the file names.
        width: Columns of each image.
        height: Rows of each image.
        count: Number of images.
        image_format: `jpg`, `jpeg`, `png`, `bmp` or `bitmap`.
        seed: Seed of the images.
        size: Print the size of the first file and of the folder.
        chunksize: Number of images to make together.
        alpha: Add transparency as a fourth channel (png and bmp).
    """
    start = time.perf_counter()
    create.create_images(
        path, name, width, height, count, image_format, seed, False, chunksize, alpha=alpha, exists="overwrite"
    )
    if size:
        print_sizes(path, first=f"{name}0.{IMAGE_FORMATS[image_format.lower()]}")
    print(f"created {count} images of {width}x{height} in {path} in {time.perf_counter() - start:.2f} s")


def create_tfrecords(source_path: str, dest_path: str, name: str, img_per_file: int = 1000) -> None:
    """Wrap the images of a folder into TFRecord files `{name}0`, `{name}1`, …

    Args:
        source_path: Folder of images.
        dest_path: Folder to write to; created if missing.
        name: First part of the file names.
        img_per_file: Images in each file.
    """
    print_sizes(source_path, first=first_image(source_path))
    _print_report(create.create_tfrecords(source_path, dest_path, name, img_per_file, exists="overwrite"))


def create_recordio(source_path: str, dest_path: str, name: str, img_per_file: int = 1000) -> None:
    """Wrap the images of a folder into RecordIO files `{name}0.rec` with their index `{name}0.idx`, and so on.

    Args:
        source_path: Folder of images.
        dest_path: Folder to write to; created if missing.
        name: First part of the file names.
        img_per_file: Images in each file.
    """
    print_sizes(source_path, first=first_image(source_path))
    _print_report(create.create_recordio(source_path, dest_path, name, img_per_file, exists="overwrite"))


def _print_report(report: create.WrapReport) -> None:
    print(f"wrote {report.images} images into {len(report.files)} record files")
