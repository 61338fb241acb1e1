"""The JPEG encoder writes the bytes of libjpeg-turbo's accurate encoder, at every SIMD level."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from encoded_images import JPEG_CONTENTS, pillow
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill import _core
from pixelmill.create import photo

SUBSAMPLINGS = ["4:4:4", "4:2:2", "4:2:0"]
KINDS = ["gray", "rgb", "rgbx"]
BEST = _core.simd_level()


def checkerboard(cell):
    """Make squares of 0 and 255: the largest coefficients, at the frequency of `cell`."""

    def make(rng, height, width):
        y, x = np.mgrid[:height, :width] // cell
        return np.repeat(((x + y + rng.integers(0, 2)) % 2 * 255).astype(np.uint8)[..., None], 3, axis=2)

    return make


def cosines(rng, height, width):
    """Make black and white blocks that have the signs of a DCT's function each, other ones in each channel."""
    frequency = rng.integers(0, 8, (2, 3))
    angle = (2 * np.arange(8)[:, None] + 1) * np.pi / 16
    down, across = (np.cos(angle * frequency[i]) for i in range(2))
    block = np.where(down[:, None] * across[None] * rng.choice([-1, 1], 3) >= 0, 255, 0).astype(np.uint8)
    return np.tile(block, (-(-height // 8), -(-width // 8), 1))[:height, :width]


def gradient(rng, height, width):
    """Make ramps of any direction, which fill the low frequencies only."""
    y, x = np.mgrid[:height, :width, :1][:2]
    return (
        (x * rng.uniform(-6, 6, 3) + y * rng.uniform(-6, 6, 3) + rng.uniform(0, 256, 3))
        .astype(np.int64)
        .astype(np.uint8)
    )


CONTENTS = {
    **JPEG_CONTENTS,
    "photo": lambda rng, height, width: photo(int(rng.integers(1000)), 0, height=height, width=width),
    "gradient": gradient,
    "cosines": cosines,
    "pixels": checkerboard(1),
    "squares": checkerboard(4),
    "saturated": lambda rng, height, width: rng.integers(0, 2, (height, width, 3), np.uint8) * np.uint8(255),
}


def as_kind(image, kind, padding=0, flipped=False):
    """Show an image as gray, as pixels of three or of four bytes, with bytes after each row, or upside down."""
    channels = {"gray": 1, "rgb": 3, "rgbx": 4}[kind]
    height, width = image.shape[:2]
    memory = np.full((height, width * channels + padding), 85, np.uint8)
    pixels = memory[:, : width * channels].reshape(height, width, channels)
    pixels[..., :3] = image[..., :channels]
    view = pixels[..., : min(channels, 3)]
    return view[::-1] if flipped else view


def at_level(level, *arguments, **options):
    """Encode with a SIMD level."""
    try:
        _core.force_simd_level(level)
        return _core.encode_jpeg(*arguments, **options)
    finally:
        _core.force_simd_level(BEST)


def check(image, quality, subsampling):
    """Demand libjpeg's bytes of both levels, from an image in memory and from rows that are made on the way."""
    wanted = _core.encode_jpeg_by_libjpeg(image, quality, subsampling)
    for level, in_bands in product(("base", BEST), (False, True)):
        got = at_level(level, image, quality, subsampling, in_bands=in_bands)
        assert got == wanted, (level, in_bands, image.shape, image.strides, quality, subsampling)


@pytest.mark.parametrize(("kind", "subsampling"), [("gray", "4:4:4"), *product(KINDS[1:], SUBSAMPLINGS)])
def test_every_small_size(kind, subsampling):
    rng = np.random.default_rng(1)
    for height, width in product(range(1, 41), repeat=2):
        check(as_kind(CONTENTS["noise"](rng, height, width), kind), int(rng.integers(1, 101)), subsampling)


@pytest.mark.parametrize("content", sorted(CONTENTS))
def test_every_quality(content):
    rng = np.random.default_rng(2)
    for quality, (kind, subsampling) in product(range(1, 101), [("gray", "4:4:4"), *product(["rgb"], SUBSAMPLINGS)]):
        height, width = rng.integers(1, 50, 2).tolist()
        check(as_kind(CONTENTS[content](rng, height, width), kind), quality, subsampling)


@pytest.mark.parametrize("content", sorted(CONTENTS))
@pytest.mark.parametrize("subsampling", SUBSAMPLINGS)
def test_larger_images(content, subsampling):
    """Several tiles a row, with edges of every kind."""
    rng = np.random.default_rng(3)
    for (height, width), kind in product([(129, 385), (64, 256), (17, 1023), (375, 500)], KINDS):
        check(as_kind(CONTENTS[content](rng, height, width), kind), int(rng.choice([35, 75, 90, 100])), subsampling)


@settings(max_examples=300, deadline=None)
@given(
    content=st.sampled_from(sorted(CONTENTS)),
    seed=st.integers(0, 2**32 - 1),
    height=st.integers(1, 150),
    width=st.integers(1, 300),
    kind=st.sampled_from(KINDS),
    padding=st.integers(0, 40),
    flipped=st.booleans(),
    quality=st.integers(1, 100),
    subsampling=st.sampled_from(SUBSAMPLINGS),
)
def test_any_image_in_any_memory(content, seed, height, width, kind, padding, flipped, quality, subsampling):
    image = CONTENTS[content](np.random.default_rng(seed), height, width)
    check(as_kind(image, kind, padding, flipped), quality, subsampling)


def test_every_color():
    """Convert all 16.7 million colors, at a quality that shows a difference of one level."""
    values = np.arange(256, dtype=np.uint8)
    for red in range(0, 256, 16):
        image = np.stack(np.broadcast_arrays(values[red : red + 16, None, None], values[:, None], values), axis=-1)
        check(np.ascontiguousarray(image.reshape(16 * 16, 256 * 16, 3)), 100, "4:4:4")


def test_quantization_is_exact():
    """Compare with a division for all values that the DCT has, and with libjpeg-turbo's way to do without one."""
    values = np.arange(1 << 14, dtype=np.int64)
    for entry in range(1, 256):
        divisor = 8 * entry
        half, reciprocal, scale = _core.jpeg_quantizer(entry)
        assert max(half, reciprocal, scale) < 1 << 16
        got = ((values + half) * reciprocal >> 16) * scale >> 16
        np.testing.assert_array_equal(got, (values + divisor // 2) // divisor)
        np.testing.assert_array_equal(got, libjpeg_turbo_quotient(values, divisor))


def libjpeg_turbo_quotient(values, divisor):
    """Divide as libjpeg-turbo's compute_reciprocal and quantize do."""
    shift = 16 + divisor.bit_length() - 1
    quotient, rest = divmod(1 << shift, divisor)
    correction = divisor // 2
    if rest == 0:
        quotient >>= 1
        shift -= 1
    elif rest <= divisor // 2:
        correction += 1
    else:
        quotient += 1
    return (values + correction) * quotient >> shift


@pytest.mark.parametrize("shape", [(1, 65500), (65500, 1)])
def test_longest_sides(shape):
    image = CONTENTS["noise"](np.random.default_rng(4), *shape)
    for subsampling in SUBSAMPLINGS:
        check(image, 80, subsampling)


@pytest.mark.parametrize(("height", "width"), [(1, 65501), (65501, 1), (0, 4), (4, 0)])
def test_sides_that_no_file_can_have(height, width):
    image = np.zeros((max(height, 4), max(width, 4), 3), np.uint8)[:height, :width]
    with pytest.raises(RuntimeError, match=f"{height}x{width} pixels cannot be written, sides are from 1 to 65500"):
        _core.encode_jpeg(image, 80, "4:2:0")


def test_writers_are_used_again():
    """Qualities and samplings in turns: nothing of an image is left for the next."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        image = as_kind(CONTENTS["noise"](rng, *rng.integers(1, 80, 2).tolist()), str(rng.choice(KINDS)))
        check(image, int(rng.integers(1, 101)), str(rng.choice(SUBSAMPLINGS)))


def test_what_pillow_reads():
    """Files are complete: another decoder sees the image."""
    image = CONTENTS["photo"](np.random.default_rng(6), 90, 120)
    seen = pillow(_core.encode_jpeg(image, 95, "4:4:4"))
    assert np.abs(seen.astype(int) - image).mean() < 3
