"""Synthetic image data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from pixelmill.create.image_options import PictureOptions
    from pixelmill.create.images import create_images
    from pixelmill.create.photo_folder import create_photo_folder
    from pixelmill.create.rendering import draw, photo
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
__getattr__ = lazy_exports(
    __name__,
    {
        "PictureOptions": "image_options",
        "WrapReport": "wrapping",
        "create_images": "images",
        "create_photo_folder": "photo_folder",
        "create_recordio": "wrapping",
        "create_tfrecords": "wrapping",
        "draw": "rendering",
        "photo": "rendering",
    },
)
