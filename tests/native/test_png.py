"""PNG by our own code is PNG by libpng: pixels, faults and notes, for good files and for damaged ones."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest
from dali_runs import noise
from encoded_images import encode, png_chunk, ramp
from file_damage import changed, cut, with_one_less, with_one_more
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import peer
from PIL import Image

import pixelmill
from pixelmill import DataError, _core
from pixelmill.create import photo
from pixelmill.errors import NOTES

cv2 = peer("cv2")

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
LEVELS = pytest.mark.parametrize("level", ["base", "avx2"])


@contextmanager
def libpng():
    _core.force_libpng(True)
    try:
        yield
    finally:
        _core.force_libpng(False)


@pytest.fixture
def at_level(request):
    before = _core.simd_level()
    _core.force_simd_level(request.getfixturevalue("level"))
    yield
    _core.force_simd_level(before)


def outcome(data, mode="unchanged", **options):
    """Return the pixels, or the fault, and the notes."""
    try:
        pixels = pixelmill.decode_image(data, mode, **options)
    except DataError as error:
        return error.events[0].kind, error.events[0].message
    notes = []
    for kind in NOTES.values():
        try:
            pixelmill.decode_image(data, mode, strict=[kind], **options)
        except DataError as error:
            notes.append((kind, error.events[0].message))
    return pixels.shape, pixels.tobytes(), notes


def compare(data, mode="unchanged", **options):
    ours = outcome(data, mode, **options)
    with libpng():
        theirs = outcome(data, mode, **options)
    assert ours == theirs
    return ours


def filtered(samples, kinds):
    """Filter rows in the given ways: the inverse of what is tested, written for reading."""
    height, width, pixel = samples.shape
    rows = samples.reshape(height, width * pixel).astype(int)
    above = np.zeros(width * pixel, int)
    made = []
    for row, kind in zip(rows, kinds, strict=True):
        left = np.concatenate([np.zeros(pixel, int), row[:-pixel]])
        corner = np.concatenate([np.zeros(pixel, int), above[:-pixel]])
        estimate = left + above - corner
        distances = np.abs([estimate - left, estimate - above, estimate - corner])
        nearest = np.choose(distances.argmin(0), [left, above, corner])  # the first of equals, as the standard says
        known = [0, left, above, (left + above) // 2, nearest][kind]
        made.append(bytes([kind]) + ((row - known) % 256).astype(np.uint8).tobytes())
        above = row
    return b"".join(made)


def assembled(samples, stream, *, pieces=1, before=(), after=()):
    height, width, channels = samples.shape
    header = struct.pack(">IIBBBBB", width, height, 8, COLOUR_TYPES[channels], 0, 0, 0)
    size = -(-len(stream) // pieces)
    parts = [(b"IDAT", stream[at : at + size]) for at in range(0, len(stream), size)]
    chunks = [(b"IHDR", header), *before, *parts, *after, (b"IEND", b"")]
    return SIGNATURE + b"".join(map(png_chunk, chunks))


@LEVELS
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [1, 2, 3, 5, 16, 33])
def test_every_filter_is_undone(channels, width, level, at_level):
    samples = np.concatenate(
        [noise((11, width, channels)), ramp(np.uint8, 3, 9, width * channels).reshape(9, width, -1)]
    )
    for kinds in ([0] * 20, [1] * 20, [2] * 20, [3] * 20, [4] * 20, [0, 1, 2, 3, 4] * 4, [4, 3, 2, 1] * 5):
        data = assembled(samples, zlib.compress(filtered(samples, kinds)))
        np.testing.assert_array_equal(pixelmill.decode_image(data, "unchanged"), samples)
        compare(data)


def deflated(raw, choices):
    """Compress in a way that is drawn: levels and strategies make different blocks, flushes make small ones."""
    packer = zlib.compressobj(choices[0], zlib.DEFLATED, 15, choices[1], choices[2])
    step = choices[3]
    parts = [packer.compress(raw[at : at + step]) + packer.flush(choices[4]) for at in range(0, len(raw), step)]
    return b"".join([*parts, packer.flush()])


CHOICES = st.tuples(
    st.integers(0, 9),
    st.integers(1, 9),
    st.sampled_from([zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED]),
    st.sampled_from([100, 5000, 1 << 20]),
    st.sampled_from([zlib.Z_NO_FLUSH, zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH, zlib.Z_BLOCK]),
)


@settings(max_examples=150)
@given(CHOICES, st.integers(1, 4), st.sampled_from(["noise", "photo", "flat"]), st.integers(1, 7), st.booleans())
def test_every_kind_of_stream_is_inflated(choices, channels, content, pieces, base):
    height, width = (30, 41) if content == "noise" else (120, 150)
    if content == "photo":
        samples = photo(1, 0, height=height, width=width)[..., [0, 1, 2, 0][:channels]]
    else:
        samples = (
            noise((height, width, channels)) if content == "noise" else np.full((height, width, channels), 9, np.uint8)
        )
    raw = filtered(samples, [(y * 7) % 5 for y in range(height)])
    data = assembled(samples, deflated(raw, choices), pieces=pieces)
    before = _core.simd_level()
    try:
        _core.force_simd_level("base" if base else "avx2")
        np.testing.assert_array_equal(pixelmill.decode_image(data, "unchanged"), samples)
    finally:
        _core.force_simd_level(before)


@pytest.mark.parametrize("mode", ["RGB", "BGR", "GRAY", "unchanged"])
@pytest.mark.parametrize("kind", ["L", "LA", "RGB", "RGBA", "P"])
def test_colors_and_windows_are_those_of_libpng(kind, mode):
    image = Image.fromarray(photo(2, 0, height=61, width=83)).convert("RGBA")
    image.putalpha(Image.fromarray(ramp(np.uint8, 7, 61, 83)))
    image = image.convert("RGB").quantize(100) if kind == "P" else image.convert(kind)
    data = bytes(encode(image, "PNG"))
    assert compare(data, mode)[2] == []
    for window in ((0, 0, 61, 83), (0, 0, 1, 1), (60, 82, 1, 1), (17, 5, 30, 70), (0, 10, 20, 10)):
        compare(data, mode, window=window)


def test_wide_rows_and_large_images_pass_through_a_small_buffer():
    for height, width in ((3, 60000), (900, 700), (4000, 3)):
        samples = photo(3, 0, height=height, width=width)
        data = bytes(encode(samples, "PNG", compress_level=1))
        np.testing.assert_array_equal(pixelmill.decode_image(data), samples)
        _, theirs = cv2.imencode(".png", samples[..., ::-1])
        np.testing.assert_array_equal(pixelmill.decode_image(theirs.reshape(-1)), samples)


# Damage


SMALL = noise((4, 5, 3)) // 16
RAW = filtered(SMALL, [4, 1, 3, 2])
GOOD = assembled(SMALL, zlib.compress(RAW, 9), before=[(b"tEXt", b"a\0b")], after=[(b"tIME", b"\7\xe4\1\1\0\0\0")])


def test_damaged_files_have_the_faults_of_libpng():
    found = Counter()
    for damages in (cut(GOOD), changed(GOOD, (1, 32, 255)), with_one_more(GOOD), with_one_less(GOOD)):
        for data in damages:
            ours = compare(data)
            found[ours[0] if len(ours) == 2 else "read"] += 1
    assert found["truncated"] > 50 and found["corrupt"] > 100 and found["read"] > 10


def test_damaged_streams_with_right_chunk_checksums_too():
    """The checksums of chunks find damage first; here only the stream itself can."""
    stream = zlib.compress(RAW, 9)
    found = Counter()
    for damages in (changed(stream, (1, 2, 4, 8, 16, 32, 64, 128)), cut(stream), with_one_more(stream)):
        for damaged in damages:
            if damaged:
                ours = compare(assembled(SMALL, damaged))
                found[ours[0] if len(ours) == 2 else "read"] += 1
    assert len(found) >= 2


ODD = {
    "filter 5": assembled(SMALL, zlib.compress(b"\5" + RAW[1:])),
    "too few rows": assembled(SMALL, zlib.compress(RAW[:-1])),
    "too many rows": assembled(SMALL, zlib.compress(RAW + b"\0")),
    "bytes after the stream": assembled(SMALL, zlib.compress(RAW) + b"more"),
    "wrong checksum of the stream": assembled(SMALL, zlib.compress(RAW)[:-1] + b"\0"),
    "small window": assembled(SMALL, b"\x18\x19" + zlib.compress(RAW)[2:]),
    "dictionary": assembled(SMALL, b"\x78\xbb" + b"\0\0\0\1" + zlib.compress(RAW)[2:]),
    "chunk between pixels": assembled(
        SMALL, zlib.compress(RAW)[:20], after=[(b"tEXt", b"a\0b"), (b"IDAT", zlib.compress(RAW)[20:])]
    ),
    "empty pixels": assembled(SMALL, zlib.compress(RAW), before=[(b"IDAT", b"")]),
    "empty pixels at the end": assembled(SMALL, zlib.compress(RAW), after=[(b"IDAT", b"")]),
    "second stream": assembled(SMALL, zlib.compress(RAW), after=[(b"IDAT", zlib.compress(RAW))]),
    "unknown critical": assembled(SMALL, zlib.compress(RAW), before=[(b"ABCD", b"")]),
    "unknown critical at the end": assembled(SMALL, zlib.compress(RAW), after=[(b"ABCD", b"")]),
    "name of other signs": assembled(SMALL, zlib.compress(RAW), before=[(b"ab1d", b"")]),
    "palette in colors": assembled(SMALL, zlib.compress(RAW), before=[(b"PLTE", bytes(6))]),
    "transparent color": assembled(SMALL, zlib.compress(RAW), before=[(b"tRNS", SMALL[0, 0].astype(">u2").tobytes())]),
    "transparent color at the end": assembled(SMALL, zlib.compress(RAW), after=[(b"tRNS", bytes(6))]),
    "long text": assembled(SMALL, zlib.compress(RAW), before=[(b"tEXt", b"a\0" + bytes(9 << 20))]),
    "second header": assembled(SMALL, zlib.compress(RAW), before=[(b"IHDR", bytes(13))]),
    "bytes after the end": assembled(SMALL, zlib.compress(RAW)) + b"more",
    "no end": assembled(SMALL, zlib.compress(RAW))[:-12],
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("mode", ["RGB", "unchanged"])
def test_odd_files_are_treated_as_by_libpng(name, mode):
    compare(ODD[name], mode)
    compare(ODD[name], mode, window=(0, 0, 2, 5))
    compare(ODD[name], mode, window=(3, 1, 1, 2))


def test_indices_outside_of_the_palette_are_treated_as_by_libpng():
    header = struct.pack(">IIBBBBB", 5, 4, 8, 3, 0, 0, 0)
    for most in (1, 2, 3, 255):
        rows = b"".join(b"\0" + bytes([0, 1, 0, 1, most]) for _ in range(4))
        parts = [(b"IHDR", header), (b"PLTE", bytes(range(9))), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
        data = SIGNATURE + b"".join(map(png_chunk, parts))
        assert compare(data)[0] == (4, 5, 3)
        compare(data, window=(2, 0, 2, 2))
        compare(data, window=(0, 0, 1, 2))


def bits_of(number, count):
    return [number >> place & 1 for place in range(count)]


def with_distance_codes(lengths):
    """Deflate SMALL's shape in black by hand: a dynamic block whose distance codes, never used, have these lengths."""
    order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    of_lengths = {18: 2, 0: 3, 1: 2, 2: 2, 3: 3}
    codes, code = {}, 0
    for length in (2, 3):
        code <<= 1
        for symbol in sorted(symbol for symbol, own in of_lengths.items() if own == length):
            codes[symbol] = [code >> place & 1 for place in reversed(range(length))]
            code += 1
    bits = [1, 0, 1, *bits_of(0, 5), *bits_of(len(lengths) - 1, 5), *bits_of(15, 4)]
    for symbol in order:
        bits += bits_of(of_lengths.get(symbol, 0), 3)
    bits += codes[1] + codes[18] + bits_of(138 - 11, 7) + codes[18] + bits_of(117 - 11, 7) + codes[1]
    for length in lengths:
        bits += codes[length]
    raw = bytes(len(RAW))
    bits += [0] * len(raw) + [1]  # black has the code 0, the end of the block 1
    packed = np.packbits(bits, bitorder="little").tobytes()
    return assembled(SMALL, b"\x78\x9c" + packed + struct.pack(">I", zlib.adler32(raw)))


@pytest.mark.parametrize(
    ("lengths", "fine"),
    [
        ([1, 1], True),
        ([1], True),
        ([0], True),
        ([2, 2], False),
        ([1, 2], False),
        ([1, 1, 1], False),
        ([2, 2, 2, 2], True),
    ],
)
def test_only_codes_that_zlib_takes_are_taken(lengths, fine):
    found = compare(with_distance_codes(lengths))
    assert found[0] == ((4, 5, 3) if fine else "corrupt")


def test_a_bomb_is_refused_before_anything_is_inflated():
    header = struct.pack(">IIBBBBB", 11000, 11000, 8, 2, 0, 0, 0)
    data = SIGNATURE + b"".join(
        map(png_chunk, [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(99))), (b"IEND", b"")])
    )
    assert compare(data)[0] == "truncated" and "cannot hold" in compare(data)[1]


@pytest.mark.parametrize(
    ("depth", "kind", "bits"),
    [
        (1, 0, 1),
        (4, 0, 4),
        (8, 0, 8),
        (16, 0, 16),
        (2, 3, 2),
        (8, 3, 8),
        (8, 4, 16),
        (8, 2, 24),
        (16, 2, 48),
        (16, 6, 64),
    ],
)
def test_a_file_is_refused_from_the_row_on_that_it_cannot_hold(depth, kind, bits):
    """Deflate makes at most 1032 bytes of one."""

    def fault(height):
        header = struct.pack(">IIBBBBB", 4096, height, depth, kind, 0, 0, 0)
        palette = [(b"PLTE", bytes(3))] if kind == 3 else []
        parts = [(b"IHDR", header), *palette, (b"IDAT", zlib.compress(bytes(99))), (b"IEND", b"")]
        data = SIGNATURE + b"".join(map(png_chunk, parts))
        most = ((len(data) + 1) * 1032 - 1) // (4096 * bits // 8)
        with pytest.raises(DataError) as caught:
            pixelmill.decode_image(data)
        return most, str(caught.value)

    most, message = fault(1)
    assert "cannot hold" not in message and "cannot hold" not in fault(most)[1]
    assert f"cannot hold 4096x{most + 1} pixels" in fault(most + 1)[1]
