"""Encoded images of every kind that the decoders take, and what Pillow sees in them."""

from __future__ import annotations

import io
import struct
import zlib
from functools import cache

import numpy as np
from PIL import Image

from pixelmill.create import photo

HEIGHT, WIDTH = 37, 50
ORIENTATION = 0x112

# Long codes and large values; nothing but ends of blocks; long runs of zeros; first coefficients that jump; the
# largest coefficients that pixels can give.
JPEG_CONTENTS = {
    "noise": lambda rng, height, width: rng.integers(0, 256, (height, width, 3), np.uint8),
    "flat": lambda rng, height, width: np.full((height, width, 3), rng.integers(0, 256), np.uint8),
    "dots": lambda rng, height, width: (
        np.where(rng.random((height, width, 1)) < 0.02, 255, 0).astype(np.uint8) * np.ones(3, np.uint8)
    ),
    "blocks": lambda rng, height, width: np.kron(
        rng.integers(0, 2, (-(-height // 8), -(-width // 8), 1), np.uint8) * 255, np.ones((8, 8, 3), np.uint8)
    )[:height, :width],
    "stripes": lambda rng, height, width: np.broadcast_to(
        np.resize(np.roll([255, 0, 0, 255], rng.integers(0, 4)), (1, width, 1)).astype(np.uint8), (height, width, 3)
    ).copy(),
}


def encode(picture, kind, **options):
    """Return an image as the bytes of a file."""
    file = io.BytesIO()
    if isinstance(picture, np.ndarray):
        picture = Image.fromarray(picture)
    picture.save(file, kind, **options)
    return np.frombuffer(file.getvalue(), np.uint8)


def pillow(data, mode="RGB"):
    """Decode by Pillow."""
    picture = Image.open(io.BytesIO(bytes(data)))
    return np.asarray(picture.convert(mode) if mode else picture)


def color(seed=0, height=HEIGHT, width=WIDTH):
    """Make a photo-like image."""
    return Image.fromarray(photo(seed, 0, height=height, width=width))


def ramp(dtype, factor, height=HEIGHT, width=WIDTH):
    """Make an image in which every value of a type occurs, as far as the pixels go."""
    limit = int(np.iinfo(dtype).max) + 1
    return (np.arange(height * width) * factor % limit).astype(dtype).reshape(height, width)


def rotated(kind, orientation, picture=None, **options):
    """Encode an image with an orientation in its EXIF data."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    picture = picture or color()
    if kind == "TIFF":
        return encode(picture, kind, tiffinfo={ORIENTATION: orientation}, **options)
    return encode(picture, kind, exif=exif, **options)


@cache
def kinds():
    """Return one file of each kind by name."""
    rgb = color()
    gray = rgb.convert("L")
    alpha = Image.fromarray(ramp(np.uint8, 7))
    see_through = rgb.convert("RGBA")
    see_through.putalpha(alpha)
    palette = rgb.quantize(16)
    deep = Image.fromarray(ramp(np.uint16, 31))
    return {
        "jpeg": encode(rgb, "JPEG"),
        "jpeg 4:4:4": encode(rgb, "JPEG", subsampling=0),
        "jpeg 4:2:2": encode(rgb, "JPEG", subsampling=1),
        "jpeg progressive": encode(rgb, "JPEG", progressive=True),
        "jpeg gray": encode(gray, "JPEG"),
        "jpeg cmyk": encode(rgb.convert("CMYK"), "JPEG"),
        "png": encode(rgb, "PNG"),
        "png gray": encode(gray, "PNG"),
        "png rgba": encode(see_through, "PNG"),
        "png la": encode(Image.merge("LA", (gray, alpha)), "PNG"),
        "png palette": encode(palette, "PNG"),
        "png 1 bit": encode(gray.convert("1"), "PNG"),
        "png 16 bit": encode(deep, "PNG"),
        "bmp": encode(rgb, "BMP"),
        "tiff": encode(rgb, "TIFF"),
        "tiff gray": encode(gray, "TIFF"),
        "tiff 16 bit": encode(deep, "TIFF"),
        "webp": encode(rgb, "WEBP", lossless=True),
        "webp rgba": encode(see_through, "WEBP", lossless=True),
        "ppm": encode(rgb, "PPM"),
        "pgm": encode(gray, "PPM"),
        "gif": encode(palette, "GIF"),
        "jp2": encode(rgb, "JPEG2000"),
    }


ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def png(samples, colour_type, depth, *, interlaced=False, chunks=()):
    """Write a PNG of any type: `samples` are (height, width, channels), `chunks` go before the pixels."""
    height, width, channels = samples.shape
    assert channels == PNG_CHANNELS[colour_type]
    passes = [samples[y::dy, x::dx] for y, x, dy, dx in ADAM7] if interlaced else [samples]
    rows = [b"\0" + packed(row, depth) for part in passes if part.size for row in part.reshape(len(part), -1)]
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, interlaced)
    parts = [(b"IHDR", header), *chunks, (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b"")]
    return np.frombuffer(b"\x89PNG\r\n\x1a\n" + b"".join(map(png_chunk, parts)), np.uint8)


def packed(row, depth):
    """Pack samples of `depth` bits, the first one highest."""
    if depth == 16:
        return row.astype(">u2").tobytes()
    bits = np.unpackbits(row.astype(np.uint8)[:, None], axis=1)[:, 8 - depth :]
    return np.packbits(bits.reshape(-1)).tobytes()


def png_chunk(part):
    kind, data = part
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def sampled(data, horizontal, vertical):
    """Change the sampling factors of the first component of a JPEG; where the blocks still add up it stays valid."""
    changed = np.array(data)
    start = bytes(changed).index(b"\xff\xc0")
    changed[start + 11] = horizontal << 4 | vertical
    return changed


def with_adobe_transform(data, transform):
    """Change how the Adobe marker says that colors were transformed."""
    changed = np.array(data)
    changed[bytes(changed).index(b"Adobe") + 11] = transform
    return changed
