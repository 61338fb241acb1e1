"""Images that only some installations decode: HEIC with pillow-heif, AVIF with Pillow 11.3 and later."""

from __future__ import annotations

import io
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

HEIC_ENDINGS = ("heic", "heif", "hif")
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx")
_AVIF_BRANDS = (b"avif", b"avis")
TITLES = {"heic": "a HEIC image", "avif": "an AVIF image"}
_INSTALL = {"heic": "pip install 'pixelmill[heif]'", "avif": "pip install 'pillow>=11.3'"}


def heif_type(data: bytes) -> str | None:
    """Return `heic` or `avif` by the brands of a file; None for anything else."""
    if data[4:8] != b"ftyp":
        return None
    end = int.from_bytes(data[:4], "big")
    brands = [data[8:12], *(data[at : at + 4] for at in range(16, min(end, len(data)) - 3, 4))]
    if any(brand in _AVIF_BRANDS for brand in brands):
        return "avif"
    return "heic" if any(brand in _HEIC_BRANDS for brand in brands) else None


@cache
def is_readable(kind: str) -> bool:
    """Whether what decodes `heic` or `avif` is installed."""
    return find_spec("pillow_heif" if kind == "heic" else "PIL._avif") is not None


def readable_endings() -> tuple[str, ...]:
    """Return the endings of the files of these kinds that can be decoded here."""
    return (*(HEIC_ENDINGS if is_readable("heic") else ()), *(("avif",) if is_readable("avif") else ()))


def way_in(kind: str) -> str:
    """Return what makes `heic` or `avif` readable."""
    return f"{_INSTALL[kind]} reads it"


def open_pillow(data: bytes) -> Image.Image:
    """Open an image with Pillow, or with pillow-heif, whose plugin is not registered for the whole program."""
    from PIL import Image

    if heif_type(data) == "heic" and is_readable("heic"):
        from pillow_heif import HeifImageFile

        opened: Image.Image = HeifImageFile(io.BytesIO(data))
        return opened
    return Image.open(io.BytesIO(data))


def is_cut(data: bytes) -> bool:
    """Whether a HEIC or AVIF file ends inside one of its boxes."""
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        size = int.from_bytes(data[at + 8 : at + 16], "big") if size == 1 else size
        if size < 8:  # 0: up to the end
            return False
        at += size
    return at != len(data)
