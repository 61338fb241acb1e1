"""Packed images: the pixels of the JPEG file at every SIMD level, and the file itself, byte for byte."""

from __future__ import annotations

import io
import resource
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from encoded_images import JPEG_CONTENTS, color, encode, rotated
from file_damage import changed, cut, with_one_less, with_one_more
from hypothesis import given, settings
from hypothesis import strategies as st
from jpeg_files import BEST, SAMPLINGS, Form, write_jpeg
from PIL import Image

import pixelmill as pm
from pixelmill import _core, fn
from pixelmill.types import Limits

BOOK = _core.PackCodebook(_core.default_pack_codebook())
LIMITS = _core.Limits(**vars(Limits()))
FIXED_BYTES = 80


def packed(file):
    """Pack a file that can be packed."""
    made = _core.pack_image(bytes(file), BOOK)
    assert isinstance(made, bytes), made
    return made


def info(file):
    """Return what the header of an image says."""
    found = _core.image_info(bytes(file), LIMITS)[0]
    assert found is not None
    return found


def extents(file):
    return info(file)[1:3]


def parts(height, width, denominator, rng, count=3):
    """Return the whole scaled image and some windows."""
    height, width = -(-height // denominator), -(-width // denominator)
    found = [(0, 0, height, width)]
    for _ in range(count):
        y, x = int(rng.integers(height)), int(rng.integers(width))
        found.append((y, x, int(rng.integers(1, height - y + 1)), int(rng.integers(1, width - x + 1))))
    return found


def check(file, rng):
    """Demand the pixels of the file, and the file, at every level."""
    pack = packed(file)
    assert _core.restore_image(pack) == bytes(file)
    assert info(pack)[1:] == info(file)[1:]
    height, width = extents(file)
    try:
        for level in ("base", "avx2", BEST):
            _core.force_simd_level(level)
            assert _core.restore_image(pack) == bytes(file)
            assert packed(file) == pack
            for denominator in (1, 2, 4, 8):
                for part in parts(height, width, denominator, rng):
                    for layout in (("rgb", 3), ("bgr", 4), ("gray", 1)):
                        wanted = _core.decode_jpeg(bytes(file), part, denominator, *layout, by_library=False)
                        got = _core.decode_packed(pack, part, denominator, *layout)
                        np.testing.assert_array_equal(got, wanted)
    finally:
        _core.force_simd_level(BEST)


def sparse(rng, largest):
    """Make coefficients of some kinds: none, few, all."""

    def coefficient(component, number):
        block = rng.integers(-largest, largest + 1, 64) * (rng.random(64) < rng.choice([0, 0.1, 1]))
        block[0] = np.clip(block[0], -1024, 1023)
        return block

    return coefficient


@settings(max_examples=30, deadline=None)
@given(
    content=st.sampled_from(sorted(JPEG_CONTENTS)),
    seed=st.integers(0, 2**32 - 1),
    height=st.integers(1, 130),
    width=st.integers(1, 130),
    gray=st.booleans(),
    quality=st.integers(1, 100),
    subsampling=st.integers(0, 2),
    optimize=st.booleans(),
    restart=st.sampled_from([{}, {"restart_marker_blocks": 1}, {"restart_marker_blocks": 5}]),
)
def test_files_of_pillow(content, seed, height, width, gray, quality, subsampling, optimize, restart):
    rng = np.random.default_rng(seed)
    image = Image.fromarray(JPEG_CONTENTS[content](rng, height, width)).convert("L" if gray else "RGB")
    check(encode(image, "JPEG", quality=quality, subsampling=subsampling, optimize=optimize, **restart), rng)


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
@pytest.mark.parametrize("space", ["ycc", "adobe", "ids", "gray"])
def test_every_sampling_and_space(space, sampling):
    rng = np.random.default_rng([ord(space[0]), *sampling])
    for largest in (1, 40, 2047):
        height, width = rng.integers(1, 81, 2).tolist()
        form = Form(height, width, space, sampling, int(rng.choice([1, 16, 255, 300])), int(rng.choice([0, 1, 5])))
        check(write_jpeg(form, sparse(rng, largest)), rng)


@pytest.mark.parametrize("value", [-2048, -1025, -2, -1, 1, 2, 1023, 2047])
def test_a_single_coefficient_in_every_position(value):
    rng = np.random.default_rng(abs(value))

    def coefficient(component, number):
        return np.where(np.arange(64) == number % 64, np.clip(value, -1024, 1023) if number % 64 == 0 else value, 0)

    check(write_jpeg(Form(64, 64, "gray"), coefficient), rng)
    check(write_jpeg(Form(64, 64, "ycc"), coefficient), rng)


@pytest.mark.parametrize("upper", [0, 1, 2, 3])
def test_profiles_of_blocks_with_a_full_lower_half(upper):
    """Every level finds the profile that was trained for them, which has no room for anything else."""
    rows, columns = np.divmod(np.arange(64), 8)
    sums, ways = rows + columns, np.where((rows + columns) % 2 == 0, columns, rows)
    zigzag = np.lexsort((ways, sums))
    used = (np.arange(64) >= 32) | ((np.arange(64) >= 1) & (np.arange(64) <= upper))
    file = write_jpeg(Form(64, 64, "gray"), lambda component, number: (used * (-1) ** number)[zigzag])
    book = _core.PackCodebook(_core.train_pack_codebook([bytes(file)], seed=1))
    made = set()
    try:
        for level in ("base", "avx2", BEST):
            _core.force_simd_level(level)
            made.add(_core.pack_image(bytes(file), book))
    finally:
        _core.force_simd_level(BEST)
    assert len(made) == 1 and isinstance(made.pop(), bytes)


@pytest.mark.parametrize("jump", [1, 2, 100, 500, 511, 1000, 2040, 4000, 8000, 16000])
def test_first_coefficients_that_jump_take_every_width(jump):
    """Differences of 2 to 16 bits, upwards and downwards."""

    def coefficient(component, number):
        return np.where(np.arange(64) == 0, (-1) ** number * jump, 0)

    check(write_jpeg(Form(16, 200, "gray"), coefficient), np.random.default_rng(jump))


def test_a_wide_image_has_long_bands():
    """A band of more than 65535 bytes is indexed with 32 bits."""
    noise = np.random.default_rng(3).integers(0, 256, (40, 2000, 3), np.uint8)
    file = encode(noise, "JPEG", quality=100, subsampling=0)
    pack = packed(file)
    assert pack[29] & 2
    check(file, np.random.default_rng(3))


def test_bytes_around_the_scan_are_kept():
    """Comments, EXIF data, profiles, and whatever follows the end of the image."""
    file = bytes(encode(color(), "JPEG", comment=b"hello", icc_profile=b"i" * 70000, exif=b"Exif\0\0" + b"x" * 50))
    for after in (b"", b"\0", b"trailing garbage", file):
        assert _core.restore_image(packed(file + after)) == file + after


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_comes_from_the_header(orientation):
    file = rotated("JPEG", orientation)
    pack = packed(file)
    assert info(pack)[5] == orientation
    for oriented in (True, False):
        images = fn.decoders.image
        made = [decoded(images, data, adjust_orientation=oriented) for data in (bytes(file), pack)]
        np.testing.assert_array_equal(*made)


def test_an_orientation_outside_of_its_range_is_noted_alike():
    file = bytes(rotated("JPEG", 9))
    pack = packed(file)
    assert pack[23] == 0
    assert info(pack)[5] == info(file)[5] == 1


def decoded(operator, data, **options):
    """Run an operator on one encoded image."""

    @pm.pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def graph():
        return operator(fn.external_source(lambda: [np.frombuffer(data, np.uint8)]), **options)

    pipeline = graph()
    pipeline.build()
    return np.asarray(pipeline.run()[0].at(0))


@pytest.mark.parametrize(
    ("operator", "options"),
    [
        ("decoders.image", {}),
        ("decoders.image_crop", {"crop": (21, 30)}),
        ("decoders.image_random_crop", {"seed": 5}),
        ("decoders.image_slice", {"start": (3, 5), "shape": (17, 20), "axis_names": "HW"}),
        ("peek_image_shape", {}),
    ],
)
def test_operators_take_packed_images_as_files(operator, options):
    found = fn
    for name in operator.split("."):
        found = getattr(found, name)
    file = bytes(encode(color(3, 190, 240), "JPEG"))
    np.testing.assert_array_equal(decoded(found, packed(file), **options), decoded(found, file, **options))


def test_a_fused_window_is_scaled_like_that_of_a_file():
    """A resize to a small part of the image decodes at a fraction of its size."""

    def resized(encoded):
        return fn.resize(fn.decoders.image(encoded), size=(70, 80))

    file = bytes(encode(color(3, 600, 700), "JPEG"))
    np.testing.assert_array_equal(decoded(resized, packed(file)), decoded(resized, file))


def other(image="color", **options):
    file = io.BytesIO()
    Image.fromarray(np.asarray(color())).convert("CMYK" if image == "CMYK" else "RGB").save(file, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (lambda: other(format="PNG"), "not a JPEG file"),
        (lambda: b"", "not a JPEG file"),
        (lambda: other(format="JPEG", progressive=True), "progressive"),
        (lambda: other("CMYK", format="JPEG"), "4 components"),
        (lambda: other(format="JPEG")[:-2], "damaged"),
        (lambda: other(format="JPEG")[:900], "damaged or truncated"),
        (lambda: other(format="JPEG")[:100], "damaged"),
        (lambda: write_jpeg(Form(8, 8), lambda *_: np.full(64, 2048)), "coefficients of more than 12 bits"),
    ],
)
def test_the_reason_why_a_file_is_not_packed(file, reason):
    made = _core.pack_image(file(), BOOK)
    assert isinstance(made, str)
    assert reason in made


def test_zeros_in_the_last_byte_are_restored():
    """A few encoders fill the last byte of the scan with zeros instead of ones."""
    file = write_jpeg(Form(8, 8, "gray"), lambda *_: np.eye(1, 64, dtype=int)[0])  # 15 bits
    assert file[-3] & 1
    zeros = file[:-3] + bytes([file[-3] & 0xFE]) + file[-2:]
    pack = packed(zeros)
    assert pack[29] & 4
    assert _core.restore_image(pack) == zeros
    assert not packed(file)[29] & 4


def test_padding_of_both_kinds_is_not_packed():
    form = Form(8, 16, "gray", restart=1)
    file = bytearray(write_jpeg(form, lambda *_: np.eye(1, 64, dtype=int)[0]))
    marker = file.rindex(b"\xff\xd0")
    file[marker - 1] &= 0xFE
    assert _core.pack_image(bytes(file), BOOK) == "it would not be restored byte for byte"


def test_a_decode_reads_what_it_announces_and_nothing_else():
    rng = np.random.default_rng(4)
    for subsampling in (0, 1, 2):
        file = bytes(encode(color(6, 300, 200), "JPEG", subsampling=subsampling))
        pack = packed(file)
        start = pack[: _core.pack_header_bytes(pack[:FIXED_BYTES])]
        for denominator in (1, 2, 4, 8):
            for part in parts(300, 200, denominator, rng, count=6):
                for layout in (("rgb", 3), ("gray", 1)):
                    ranges = _core.pack_ranges(
                        start, len(pack), part, denominator=denominator, gray=layout[0] == "gray"
                    )
                    assert all(a[0] + a[1] < b[0] for a, b in pairwise(ranges))
                    kept = bytearray(b"\xaa" * len(pack))
                    for offset, length in ranges:
                        kept[offset : offset + length] = pack[offset : offset + length]
                    got = _core.decode_packed(bytes(kept), part, denominator, *layout)
                    np.testing.assert_array_equal(got, _core.decode_packed(pack, part, denominator, *layout))


def test_little_is_read_for_an_eighth():
    file = bytes(encode(color(6, 600, 800), "JPEG", subsampling=0))
    pack = packed(file)
    needed = _core.pack_ranges(pack, len(pack), (0, 0, 75, 100), denominator=8)
    assert sum(length for _, length in needed) < 0.2 * len(file)
    assert sum(length for _, length in _core.pack_ranges(pack, len(pack), (0, 0, 600, 800))) > 0.9 * len(file)


@pytest.mark.parametrize("window", [(0, 0, 9, 8), (0, 0, 8, 9), (-1, 0, 4, 4), (4, 4, 0, 4), (0, 2**62, 2, 2**62)])
def test_ranges_of_a_window_outside_are_refused(window):
    pack = packed(encode(color(1, 8, 8), "JPEG"))
    with pytest.raises(_core.Fault, match="does not lie inside"):
        _core.pack_ranges(pack, len(pack), window)


def damaged_outcome(pack, part):
    """Decode and restore: what each gives, or None where it faults."""
    made = []
    for work in (lambda: _core.decode_packed(pack, part, 1, "rgb", 3).tobytes(), lambda: _core.restore_image(pack)):
        try:
            made.append(work())
        except _core.Fault as fault:
            assert fault.args[0] in ("checksum", "corrupt", "truncated", "unsupported", "wrong_format", "argument")
            made.append(None)
    return made


def test_every_damaged_byte_is_found():
    """Whatever a single byte becomes, no wrong pixel and no wrong file comes out, and one of the two faults."""
    file = bytes(encode(color(2, 20, 21), "JPEG", quality=40))
    pack, part = packed(file), (0, 0, 20, 21)
    sound = damaged_outcome(pack, part)
    assert sound[1] == file
    for damaged in changed(pack, flips=(1, 0x80, 0xFF)):
        made = damaged_outcome(damaged, part)
        assert None in made
        assert made[0] in (None, sound[0])
        assert made[1] is None


@pytest.mark.parametrize("damage", [cut, with_one_less, lambda data: with_one_more(data, (0, 255))])
def test_missing_and_additional_bytes_are_found(damage):
    file = bytes(encode(color(2, 20, 21), "JPEG", quality=40))
    pack = packed(file)
    for damaged in damage(pack):
        assert damaged_outcome(damaged, (0, 0, 20, 21)) == [None, None]


def changed_header(pack, place, value):
    """Change some bytes of the header, and its checksum with them."""
    made = bytearray(pack)
    made[place : place + len(value)] = value
    length = _core.pack_header_bytes(pack)
    made[76:80] = _core.crc32c(bytes(made[80:length]), _core.crc32c(bytes(made[:76]))).to_bytes(4, "little")
    return bytes(made)


def test_an_image_without_its_codebook_says_so():
    pack = changed_header(packed(encode(color(), "JPEG")), 32, bytes(8))
    for work in (_core.restore_image, lambda data: _core.decode_packed(data, (0, 0, 1, 1), 1, "rgb", 3)):
        with pytest.raises(_core.Fault, match="codebook 0000000000000000 is not loaded"):
            work(pack)


def test_a_length_that_is_claimed_takes_no_memory():
    """An original of 4 GB in a header; there is 1 GB."""
    pack = changed_header(packed(encode(color(), "JPEG")), 64, b"\xff\xff\xff\xff")
    used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, before[1]))
    try:
        with pytest.raises(_core.Fault, match="another length"):
            _core.restore_image(pack)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (8, b"\2", "version 2"),
        (10, b"\2", "2 components"),
        (11, b"\3", "color space 3"),
        (11, b"\0", "color space 0"),
        (12, bytes(4), "extents"),
        (16, b"\xff\xff\xff\xff", "extents"),
        (20, b"\x55", "sampling factors"),
        (20, b"\x44", "sampling factors"),
        (23, b"\x09", "orientation 9"),
        (24, b"\x03", "number of a quantization table"),
        (27, b"\0", "number of quantization tables"),
        (28, b"\0", "rows of a band"),
        (28, b"\x20", "rows of a band"),
        (29, b"\x10", "flags"),
        (30, b"\1", "flags"),
        (44, b"\0\0\0\0", "after its end"),
        (44, b"\xff\xff\xff\xff", "truncated"),
        (56, b"\0\0\0\0", "bytes around its scan"),
    ],
)
def test_headers_that_contradict_themselves_are_refused(place, value, message):
    pack = changed_header(packed(encode(color(), "JPEG")), place, value)
    with pytest.raises(_core.Fault, match=message):
        _core.restore_image(pack)
