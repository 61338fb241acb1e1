"""Synthetic image data."""

from pixelmill.create.folder import create_photo_folder
from pixelmill.create.photo import photo

__all__ = ["create_photo_folder", "photo"]
