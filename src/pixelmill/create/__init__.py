"""Synthetic image data."""

from pixelmill.create.folder import create_photo_folder
from pixelmill.create.images import create_images
from pixelmill.create.options import PictureOptions
from pixelmill.create.photo import draw, photo
from pixelmill.create.wrapping import WrapReport, create_recordio, create_tfrecords

__all__ = [
    "PictureOptions",
    "WrapReport",
    "create_images",
    "create_photo_folder",
    "create_recordio",
    "create_tfrecords",
    "draw",
    "photo",
]
