"""Synthetic image data."""

from pixelmill.create.folder import create_photo_folder
from pixelmill.create.options import PictureOptions
from pixelmill.create.photo import draw, photo

__all__ = ["PictureOptions", "create_photo_folder", "draw", "photo"]
