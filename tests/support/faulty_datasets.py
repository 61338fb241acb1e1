"""Datasets with every fault that a bulk job may meet, between samples that are odd but good."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from pixelmill.create import photo
from pixelmill.formats import npy, tfrecord
from pixelmill.formats.example import Example, Feature, bytes_feature, encode, float_feature, int64_feature

HEIGHT, WIDTH = 48, 64
SIDES = ("xmin", "ymin", "xmax", "ymax")


def picture(seed: int, kind: str = "JPEG", *, mode: str = "RGB", size: tuple[int, int] = (HEIGHT, WIDTH), **options):
    """Encode a photo-like image."""
    image = Image.fromarray(photo(seed, 0, height=64, width=64)).resize(size[::-1])
    stream = io.BytesIO()
    (image.quantize(16) if mode == "P" else image.convert(mode)).save(stream, kind, **options)
    return stream.getvalue()


def mask(size: tuple[int, int] = (HEIGHT, WIDTH), *, mode: str = "L") -> bytes:
    """Encode a mask of two classes."""
    stream = io.BytesIO()
    Image.fromarray(np.eye(*size, dtype=np.uint8)).convert(mode).save(stream, "PNG")
    return stream.getvalue()


def resized_jpeg(data: bytes, height: int, width: int) -> bytes:
    """Let a JPEG claim another size."""
    at = data.index(b"\xff\xc0") + 5
    return data[:at] + struct.pack(">HH", height, width) + data[at + 4 :]


def resized_png(data: bytes, height: int, width: int) -> bytes:
    """Let a PNG claim another size, with the checksum that belongs to it."""
    head = b"IHDR" + struct.pack(">II", width, height) + data[24:29]
    return data[:12] + head + struct.pack(">I", zlib.crc32(head)) + data[33:]


def flipped(data: bytes, place: int) -> bytes:
    """Change one bit."""
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def good_images() -> dict[str, bytes]:
    """Return images that look odd and are whole."""
    exif = Image.Exif()
    exif[0x112] = 6
    return {
        "plain.jpg": picture(1),
        "cmyk.jpg": picture(2, mode="CMYK"),
        "gray.jpg": picture(3, mode="L"),
        "progressive.jpg": picture(4, progressive=True),
        "turned.jpg": picture(5, exif=exif),
        "one_pixel.png": picture(6, "PNG", size=(1, 1)),
        "flat.png": picture(7, "PNG", size=(1, 300)),
        "palette.png": picture(8, "PNG", mode="P"),
        "see_through.png": picture(9, "PNG", mode="RGBA"),
        "a_png.jpg": picture(10, "PNG"),
        "web.webp": picture(11, "WEBP"),
        "bitmap.bmp": picture(12, "BMP"),
    }


def bad_images() -> dict[str, tuple[bytes, str]]:
    """Return images that cannot be decoded, each with the kind of its fault."""
    jpeg, png, webp, tiff = picture(1), picture(2, "PNG"), picture(3, "WEBP"), picture(4, "TIFF")
    return {
        "half.jpg": (jpeg[: len(jpeg) // 2], "truncated"),
        "head.jpg": (jpeg[:100], "truncated"),
        "progressive_half.jpg": (picture(5, progressive=True)[:600], "truncated"),
        "half.png": (png[: len(png) // 2], "truncated"),
        "half.webp": (webp[: len(webp) // 2], "truncated"),
        "half.tif": (tiff[: len(tiff) // 2], "truncated"),
        "page.jpg": (b"<html>404 not found</html>", "not_an_image"),
        "zeros.jpg": (bytes(5000), "not_an_image"),
        "text.png": (b"hello", "not_an_image"),
        "paper.jpg": (b"%PDF-1.7\n" + bytes(300), "not_an_image"),
        "archive.jpg": (b"PK\x03\x04" + bytes(300), "not_an_image"),
        "bomb.jpg": (resized_jpeg(jpeg, 65500, 65500), "too_large"),
        "bomb.png": (resized_png(png, 100_000, 100_000), "too_large"),
        "no_rows.jpg": (resized_jpeg(jpeg, 0, WIDTH), "corrupt"),
        "no_columns.png": (resized_png(png, HEIGHT, 0), "corrupt"),
        "bit.png": (flipped(png, png.index(b"IDAT") + 40), "corrupt"),
    }


@dataclass(frozen=True)
class Fault:
    """Something wrong in a dataset.

    Attributes:
        name: What it is.
        kind: The kind that events of it have.
        place: The number of the sample; of the record, where no sample is left of it.
        path: The file.
        offset: Where in the file it begins, for records.
        raw: Its bytes as they are in the file; None where they cannot be read.
        found_by: The jobs that find it: `copy` for those that need not decode, `decode`, `augment`.
    """

    name: str
    kind: str
    place: int
    path: str
    offset: int | None
    raw: bytes | None
    found_by: frozenset[str]


ALL = frozenset(("copy", "decode", "augment"))
DECODING = frozenset(("decode", "augment"))
AUGMENTING = frozenset(("augment",))


def features(number: int, image: bytes) -> Example:
    """Make a record of an image with a box and a mask."""
    found = Example(
        {
            "image/encoded": bytes_feature(image),
            "image/filename": bytes_feature(f"sample_{number:02d}.bin"),
            "image/class/label": int64_feature([number]),
            "image/object/class/label": int64_feature([1]),
        }
    )
    for side, value in zip(SIDES, (0.2, 0.3, 0.7, 0.9), strict=True):
        found[f"image/object/bbox/{side}"] = float_feature([value])
    return found


def bad_features() -> dict[str, tuple[str, Feature | None, frozenset[str], str]]:
    """Return what is changed in a good record to make it a bad one: key, value, who notices, kind of the fault."""
    side, boxes, target = "image/object/bbox/xmax", "image/object/class/label", "image/segmentation/class/encoded"
    cube, image = npy.encode(np.zeros((2, 3, 4, 3), np.uint8)), "image/encoded"
    pickled = npy.encode(np.zeros(8, np.uint8)).replace(b"|u1", b"|O8")
    return {
        "no image": (image, None, ALL, "corrupt"),
        "empty image": (image, bytes_feature(b""), ALL, "corrupt"),
        "image of numbers": (image, int64_feature([1, 2, 3]), ALL, "corrupt"),
        "two images": (image, bytes_feature(picture(1), picture(2)), ALL, "corrupt"),
        "label not a number": ("image/class/label", float_feature([np.nan]), ALL, "corrupt"),
        "label of bytes": ("image/class/label", bytes_feature(b"cat"), ALL, "corrupt"),
        "boxes of different lengths": (side, float_feature([0.1, 0.2]), ALL, "corrupt"),
        "box not a number": (side, float_feature([np.inf]), ALL, "corrupt"),
        "boxes of whole numbers": (side, int64_feature([1]), ALL, "corrupt"),
        "labels for other boxes": (boxes, int64_feature([1, 2]), ALL, "corrupt"),
        "box turned round": (side, float_feature([0.1]), AUGMENTING, "corrupt"),
        "mask of another size": (target, bytes_feature(mask((10, 12))), DECODING, "corrupt"),
        "mask in colours": (target, bytes_feature(mask(mode="RGB")), AUGMENTING, "corrupt"),
        "mask not an image": (target, bytes_feature(b"hello"), DECODING, "not_an_image"),
        "mask cut": (target, bytes_feature(mask()[:-40]), DECODING, "truncated"),
        "mask of a palette cut": (target, bytes_feature(mask(mode="P")[:-40]), DECODING, "truncated"),
        "array of four axes": (image, bytes_feature(cube), DECODING, "corrupt"),
        "array of objects": (image, bytes_feature(pickled), DECODING, "corrupt"),
    }


def write_records(path: Path) -> tuple[list[Fault], int]:
    """Write a TFRecord file with every fault; gives the faults, and how many records are good."""
    planned: list[tuple[str, bytes, str, frozenset[str]]] = [
        ("checksum of the length", encode(features(91, picture(91))), "checksum", ALL),
        ("checksum of the payload", encode(features(90, picture(90))), "checksum", ALL),
        ("no example", b"\xff" * 50, "corrupt", ALL),
        ("nothing", b"", "corrupt", ALL),
    ]
    for name, (data, kind) in bad_images().items():
        planned.append((name, encode(features(len(planned), data)), kind, DECODING))
    for name, (key, feature, found_by, kind) in bad_features().items():
        record = features(len(planned), picture(len(planned)))
        record.pop(key, None)
        if feature is not None:
            record[key] = feature
        planned.append((name, encode(record), kind, found_by))
    good = [encode(features(100 + n, data)) for n, data in enumerate(good_images().values())]
    masked = features(99, picture(99))
    masked["image/segmentation/class/encoded"] = bytes_feature(mask())
    good.append(encode(masked))
    return _write(path, planned, good)


def _write(path: Path, planned: list[tuple[str, bytes, str, frozenset[str]]], good: list[bytes]):
    """Put good records between the bad ones, and cut the last one off."""
    faults: list[Fault] = []
    written = samples = 0
    with path.open("wb") as stream:
        for number, (name, payload, kind, found_by) in enumerate(planned):
            if number < len(good):
                stream.write(tfrecord.frame(good[number]))
                samples += 1
                written += 1
            framed = tfrecord.frame(payload)
            place = samples
            if name == "checksum of the payload":
                framed = flipped(framed, 60)
            if name == "checksum of the length":
                framed, place = flipped(framed, 9), written
            faults.append(Fault(name, kind, place, str(path), stream.tell(), framed, found_by))
            stream.write(framed)
            samples += name != "checksum of the length"
            written += 1
        cut = tfrecord.frame(good[0])[:200]
        faults.append(Fault("end of the file", "truncated", written, str(path), stream.tell(), cut, ALL))
        stream.write(cut)
    return faults, min(len(good), len(planned))


def write_folder(root: Path) -> tuple[list[Fault], int]:
    """Write class folders with every fault; gives the faults, and how many files are good."""
    found: dict[str, tuple[bytes | None, str]] = dict(bad_images())
    found["empty.jpg"] = (b"", "not_an_image")
    for place in ("ant", "bee"):
        (root / place).mkdir(parents=True)
    for name, data in good_images().items():
        (root / "ant" / name).write_bytes(data)
    for name, (bad, _) in found.items():
        (root / "bee" / name).write_bytes(bad or b"")
    (root / "bee" / "gone.jpg").symlink_to("nowhere.jpg")
    found["gone.jpg"] = (None, "io")
    names = sorted(found, key=str.encode)
    return [
        Fault(name, found[name][1], len(good_images()) + place, str(root / "bee" / name), None, found[name][0], ALL)
        for place, name in enumerate(names)
    ], len(good_images())
