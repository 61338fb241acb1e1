"""The orientation of PNG and WebP files, in EXIF and in XMP, against Pillow's `ImageOps.exif_transpose`."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import PIL
import pytest
from PIL import Image, ImageOps, PngImagePlugin

from pixelmill import Pipeline, fn
from pixelmill.codecs import decode_image, image_info

ATTRIBUTE = '<rdf:Description tiff:Orientation="{}" tiff:XResolution="72"/>'
ELEMENT = "<rdf:Description><tiff:Orientation>{}</tiff:Orientation></rdf:Description>"
LEAD = '<x:xmpmeta tiff:Orientations="5" note="tiff:Orientation">'


def pixels() -> np.ndarray:
    return np.random.default_rng(7).integers(0, 256, (6, 9, 3), np.uint8)


def exif(orientation: int) -> bytes:
    tags = Image.Exif()
    tags[0x112] = orientation
    return tags.tobytes()


def saved(kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels()).save(file, kind, **options)
    return file.getvalue()


def png(**texts: str) -> bytes:
    info = PngImagePlugin.PngInfo()
    for keyword, text in texts.items():
        info.add_itxt(keyword, text)
    return saved("PNG", pnginfo=info)


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def with_chunk(data: bytes, name: bytes, content: bytes, *, before: bytes) -> bytes:
    at = data.rindex(before) - 4
    return data[:at] + chunk(name, content) + data[at:]


def xmp_chunk(text: str, *, packed: bool = False) -> bytes:
    body = text.encode()
    return b"XML:com.adobe.xmp\0" + bytes([packed, 0]) + b"en\0XMP\0" + (zlib.compress(body) if packed else body)


# Pillow 10.1 knows neither EXIF with its prefix in PNG files nor the XMP of WebP files.
READS_ALL_WAYS = int(PIL.__version__.split(".")[0]) >= 12
WAYS = {
    "exif before the pixels": lambda n: saved("PNG", exif=exif(n)),
    "exif after the pixels": lambda n: with_chunk(saved("PNG"), b"eXIf", exif(n)[6:], before=b"IEND"),
    "exif with its prefix": lambda n: with_chunk(saved("PNG"), b"eXIf", exif(n), before=b"IDAT"),
    "xmp attribute": lambda n: png(**{"XML:com.adobe.xmp": ATTRIBUTE.format(n)}),
    "xmp element": lambda n: png(**{"XML:com.adobe.xmp": LEAD + ELEMENT.format(n)}),
    "xmp after the pixels": lambda n: with_chunk(saved("PNG"), b"iTXt", xmp_chunk(ELEMENT.format(n)), before=b"IEND"),
    "other text before xmp": lambda n: png(**{"Comment": ELEMENT.format(3), "XML:com.adobe.xmp": ELEMENT.format(n)}),
    "exif before xmp": lambda n: with_chunk(
        png(**{"XML:com.adobe.xmp": ATTRIBUTE.format(3)}), b"eXIf", exif(n)[6:], before=b"IDAT"
    ),
    "webp exif": lambda n: saved("WEBP", lossless=True, exif=exif(n)),
    "webp xmp": lambda n: saved("WEBP", lossless=True, xmp=ATTRIBUTE.format(n).encode()),
}


def seen_by_pillow(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        image.load()  # Pillow reads what stands after the pixels only then
        return np.asarray(ImageOps.exif_transpose(image).convert("RGB"))


def seen_by_a_pipeline(data: bytes, **options: object) -> np.ndarray:
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        encoded = fn.external_source(source=lambda: [np.frombuffer(data, np.uint8)])
        pipeline.set_outputs(fn.decoders.image(encoded, **options))
    found = np.asarray(pipeline.run()[0].at(0)).copy()
    pipeline.close()
    return found


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("way", WAYS)
def test_orientation_is_applied_as_by_pillow(way: str, orientation: int) -> None:
    data = WAYS[way](orientation)
    expected = seen_by_pillow(saved("PNG", exif=exif(orientation)))
    if READS_ALL_WAYS:
        np.testing.assert_array_equal(seen_by_pillow(data), expected)
    if orientation >= 5:
        assert expected.shape == (9, 6, 3), "the file holds what it is named after"
    np.testing.assert_array_equal(decode_image(data), expected)
    np.testing.assert_array_equal(seen_by_a_pipeline(data), expected)
    np.testing.assert_array_equal(seen_by_a_pipeline(data, adjust_orientation=False), pixels())


@pytest.mark.parametrize("text", ["0", "9", "", "x", "six", "-1"])
def test_an_orientation_that_is_none_is_1(text: str) -> None:
    for form in (ATTRIBUTE, ELEMENT):
        data = png(**{"XML:com.adobe.xmp": form.format(text)})
        np.testing.assert_array_equal(decode_image(data), pixels())


@pytest.mark.parametrize(
    "content",
    [
        b"XML:com.adobe.xmp",
        b"XML:com.adobe.xmp\0",
        b"XML:com.adobe.xmp\0\0\0",
        b"XML:com.adobe.xmp\0\0\0en",
        b"XML:com.adobe.xmp\0\0\0en\0",
        b"XML:com.adobe.xmp\0\0\0en\0\0",
        b"XML:com.adobe.xmp\0\0\0en\0\0tiff:Orientation",
        b'XML:com.adobe.xmp\0\0\0en\0\0tiff:Orientation="',
        b"tiff:Orientation>6<",
        xmp_chunk(ELEMENT.format(6), packed=True),  # XMP must not be packed, and is not unpacked for this
        b"",
    ],
)
def test_texts_that_end_early_have_no_orientation(content: bytes) -> None:
    data = with_chunk(saved("PNG"), b"iTXt", content, before=b"IDAT")
    np.testing.assert_array_equal(decode_image(data), pixels())


def test_headers_say_the_same_for_exif_and_xmp() -> None:
    assert image_info(WAYS["xmp attribute"](6)) == image_info(WAYS["exif before the pixels"](6))
