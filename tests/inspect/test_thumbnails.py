"""What previews make of images of every kind: compared with Pillow, and with NumPy where values are stretched."""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import write
from encoded_images import kinds, rotated
from PIL import Image

import pixelmill
from pixelmill.codecs import pillow_images
from pixelmill.dataset_jobs import sample_annotations
from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.inspect import fonts, overlays, thumbnails

EVENT = Event("corrupt", "", sample=3, epoch=0, path="there", offset=7)
RAMP = np.linspace(0, 1, 20 * 30).reshape(20, 30)


def shown(data: Any) -> tuple[np.ndarray[Any, Any], str]:
    picture, note = thumbnails.displayable(bytes(data))
    assert picture.mode in ("RGB", "RGBA")
    return np.asarray(picture).astype(int), note


@pytest.mark.parametrize("kind", [kind for kind in kinds() if "16 bit" not in kind])
def test_images_are_those_of_pillow(kind: str) -> None:
    data = bytes(kinds()[kind])
    pixels, note = shown(data)
    mode = "RGBA" if kind in ("png rgba", "png la", "webp rgba") else "RGB"
    assert (pixels == np.asarray(Image.open(io.BytesIO(data)).convert(mode))).all() and note == ""


@pytest.mark.parametrize("kind", ["png 16 bit", "tiff 16 bit"])
def test_deep_images_are_stretched(kind: str) -> None:
    data = bytes(kinds()[kind])
    values = np.asarray(Image.open(io.BytesIO(data))).astype(float)
    pixels, note = shown(data)
    assert np.abs(pixels[..., 0] - values * (255 / values.max())).max() <= 0.51
    assert note == f"uint16, 0 to {values.max():.0f}"


def test_images_stand_upright() -> None:
    data = bytes(rotated("JPEG", 6))
    assert thumbnails.displayable(data)[0].size == Image.open(io.BytesIO(data)).size[::-1]


@pytest.mark.parametrize(
    ("array", "expected", "note"),
    [
        (RAMP.astype(np.float32), RAMP * 255, "float32, 0 to 1"),
        (RAMP.astype(np.float64) * 6 - 2, RAMP * 255, "float64, -2 to 4"),
        ((RAMP * 4095).astype(np.uint16), (RAMP * 4095).astype(int) * (255 / 4095), "uint16, 0 to 4095"),
        ((RAMP * 100 - 50).astype(np.int8), ((RAMP * 100 - 50).astype(int) + 50) * 2.55, "int8, -50 to 50"),
        (RAMP > 0.5, (RAMP > 0.5) * 255, "bool, 0 to 1"),
        (np.full((4, 4), 9, np.int32), np.zeros((4, 4)), "int32, 9 to 9"),
        (np.array([[0, np.nan], [np.inf, 2]], np.float16), np.array([[0, 0], [0, 255]]), "float16, 0 to 2"),
        (np.array([[-1e308, 1e308]]), np.array([[0, 255]]), "float64, -1e+308 to 1e+308"),
        ((RAMP * 255).astype(np.uint8), (RAMP * 255).astype(np.uint8), ""),
    ],
)
def test_arrays_of_one_channel(array: Any, expected: Any, note: str) -> None:
    for shaped in (array, array[..., None], array[None]) if min(array.shape) > 4 else (array,):
        pixels, about = shown(npy.encode(shaped))
        assert about == note and pixels.shape == (*array.shape, 3)
        assert np.abs(pixels - np.asarray(expected)[..., None]).max() <= 0.501


@pytest.mark.parametrize(
    ("channels", "mode", "note"),
    [(2, "RGB", "1 of 2 channels"), (3, "RGB", ""), (4, "RGBA", ""), (13, "RGB", "3 of 13 channels")],
)
def test_arrays_of_several_channels(channels: int, mode: str, note: str) -> None:
    array = np.random.default_rng(0).integers(0, 256, (20, 30, channels), np.uint8)
    picture, about = thumbnails.displayable(npy.encode(array))
    assert (picture.mode, about) == (mode, note)
    assert (np.asarray(picture)[..., 0] == array[..., 0]).all()
    if channels in (3, 4):
        assert (np.asarray(thumbnails.displayable(npy.encode(array.transpose(2, 0, 1).copy()))[0]) == array).all()


@pytest.mark.parametrize("array", [np.zeros(5), np.zeros((0, 4, 3)), np.zeros((2, 3, 4, 5)), np.full((4, 4), np.nan)])
def test_arrays_that_are_no_images(array: Any) -> None:
    with pytest.raises(DataError, match="is not an image"):
        thumbnails.displayable(npy.encode(array))


def test_large_images_are_made_small_with_their_masks() -> None:
    mask = np.zeros((300, 200), np.uint16)
    mask[:150] = 700
    sample = Sample("k", npy.encode(np.zeros((300, 200, 3), np.uint8)), "npy", mask=npy.encode(mask[..., None]))
    look = thumbnails.thumbnail_of(sample, 3, variant=0, side=60, event=EVENT)
    assert look.problem is None and look.size == (300, 200)
    assert look.image is not None and look.image.size == (40, 60)
    assert look.mask is not None and look.mask.shape == (60, 40)
    assert (look.mask[:30] == 700).all() and (look.mask[30:] == 0).all()


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (npy.encode(np.zeros((4, 4, 3), np.uint8)), "must have one channel"),
        (npy.encode(np.zeros((4, 4), np.float32)), "float32 does not hold class numbers"),
        (npy.encode(np.zeros((5, 4), np.uint8)), "the mask has 5 x 4 pixels, its image 4 x 4"),
        (b"<html>", "mask: not an image"),
        (bytes(kinds()["png"]), "the mask has the mode RGB"),
    ],
)
def test_masks_that_do_not_fit_are_named_where_they_are(mask: bytes, message: str) -> None:
    sample = Sample("k", npy.encode(np.zeros((4, 4, 3), np.uint8)), "npy", mask=mask)
    look = thumbnails.thumbnail_of(sample, 3, variant=0, side=60, event=EVENT)
    assert look.image is not None and look.mask is None and look.problem is not None
    assert message in look.problem.message
    assert (look.problem.sample, look.problem.path, look.problem.offset) == (3, "there", 7)


def test_numbers_of_palettes_are_classes() -> None:
    picture = Image.fromarray(np.array([[0, 7], [255, 7]], np.uint8))
    picture.putpalette(list(range(255, -1, -1)) * 3)
    stream = io.BytesIO()
    picture.save(stream, "png")
    assert thumbnails.class_numbers(stream.getvalue()).tolist() == [[0, 7], [255, 7]]


def damaged_images() -> Iterator[bytes]:
    """Yield images with bytes changed, added or missing, and TIFF files whose fields have other types."""
    rng = np.random.default_rng(7)
    for data in map(bytes, kinds().values()):
        for place in rng.integers(0, min(len(data), 300), 12).tolist():
            yield data[:place] + rng.bytes(1) + data[place + 1 :]
            yield data[:place] + rng.bytes(3) + data[place:]
        yield data[: int(rng.integers(1, len(data)))]
    for kind in ("tiff", "tiff 16 bit"):
        data = bytes(kinds()[kind])
        (table,) = struct.unpack_from("<I", data, 4)
        (fields,) = struct.unpack_from("<H", data, table)
        for place in range(table + 4, table + 4 + 12 * fields, 12):
            for number in range(1, 13):
                yield data[:place] + struct.pack("<H", number) + data[place + 2 :]


def test_no_damage_ends_in_anything_but_a_data_error() -> None:
    """Pillow's plugins raise TypeError and others; warnings are errors here."""
    for data in damaged_images():
        for sample in (Sample("k", data, "x"), Sample("k", bytes(kinds()["png"]), "png", mask=data)):
            look = thumbnails.thumbnail_of(sample, 3, variant=0, side=16, event=EVENT)
            assert look.image is not None or look.problem is not None
        for read in (pillow_images.decode, sample_annotations.load_mask):
            with contextlib.suppress(DataError):
                read(data)


def test_damage_is_what_verify_finds(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    samples = []
    for kind, data in kinds().items():
        for number in range(3):
            changed = np.array(data)
            changed[rng.integers(len(changed), size=3)] ^= 1 << number
            samples.append(Sample(f"{kind} {number}", changed.tobytes(), "x"))
    source = write(tmp_path / "x", "tfrecord", samples)
    verified = {event.sample: event.kind for event in pixelmill.verify(source).problems}
    cells = pixelmill.preview(source, count=1000, size=32).cells
    assert {cell.number: cell.problem.kind for cell in cells if cell.problem is not None} == verified
    assert 5 < len(verified) < len(samples) - 5


def test_texts_are_made_readable() -> None:
    assert thumbnails.readable("a\tb\nc\0\u202ed\udcff") == "a?b?c??d?"
    assert thumbnails.readable("ünï 猫") == "ünï 猫"
    assert len(thumbnails.readable("x" * 5000)) < 210


def test_text_that_no_font_has_is_spelled_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_WIDE_FONTS", ())
    fonts._wide_font.cache_clear()
    try:
        assert fonts.drawable("ünï 猫 …") == "uni ? …"
        assert fonts.font_for("ü", 12) == fonts.font_for("u", 12)
    finally:
        fonts._wide_font.cache_clear()


def test_names_of_boxes_do_not_hide_each_other() -> None:
    boxes = Boxes([[0.3, 0.3, 0.6, 0.6], [0.32, 0.3, 0.5, 0.5], [0.3, 0.32, 0.4, 0.4]], [0, 1, 2])
    tags = overlays.place_tags(boxes, [50, 50, 50], 12, (200, 200))
    assert sorted(tag.box for tag in tags) == [0, 1, 2]
    for number, tag in enumerate(tags):
        left, top, right, bottom = tag.place
        assert 0 <= left <= right < 200 and 0 <= top <= bottom < 200
        assert not any(overlays._overlap(tag.place, other.place) for other in tags[:number])
    assert overlays.place_tags(boxes, [500, 50, 50], 12, (200, 200))[0].box != 0


def test_long_texts_keep_100_letters_of_either_end() -> None:
    text = "".join(chr(ord("a") + place % 26) for place in range(201))
    assert thumbnails.readable(text[:200]) == text[:200]
    assert thumbnails.readable(text) == f"{text[:100]}…{text[101:]}"
    assert thumbnails.readable("a\nb\x1b[31m") == "a?b?[31m"
