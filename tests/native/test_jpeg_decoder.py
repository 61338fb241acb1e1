"""Our JPEG decoder: pixels, faults and warnings are libjpeg-turbo's, at every SIMD level."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import run
from encoded_images import JPEG_CONTENTS, encode, pillow
from hypothesis import given, settings
from hypothesis import strategies as st
from jpeg_files import SAMPLINGS, check_against_libjpeg
from operator_comparison import on_each_level
from PIL import Image

RESTARTS = ({}, {"restart_marker_blocks": 1}, {"restart_marker_blocks": 5}, {"restart_marker_rows": 1})


def with_sampling(file, sampling):
    """Change the sampling of a 4:4:4 file, and with it what its scan means: it soon becomes nonsense."""
    data = bytearray(file)
    frame = max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2"))
    data[frame + 11] = sampling[0] << 4 | sampling[1]
    return bytes(data)


def whole(module, data):
    """Decode files."""
    return module.fn.decoders.image(data)


def windows(top, left, height, width):
    """Make a graph that decodes a window of each file."""

    def graph(module, data):
        return module.fn.decoders.image_slice(
            data, (left, top), (width, height), normalized_anchor=False, normalized_shape=False
        )

    return graph


def decode(file, graph=whole):
    """Decode with every SIMD level."""
    return on_each_level(graph, [file], layouts="")[0]


@settings(max_examples=60, deadline=None)
@given(
    content=st.sampled_from(sorted(JPEG_CONTENTS)),
    seed=st.integers(0, 2**32 - 1),
    height=st.integers(1, 130),
    width=st.integers(1, 130),
    gray=st.booleans(),
    quality=st.integers(1, 100),
    subsampling=st.integers(0, 2),
    optimize=st.booleans(),
    restart=st.sampled_from(
        [{}, {"restart_marker_blocks": 1}, {"restart_marker_blocks": 5}, {"restart_marker_rows": 1}]
    ),
    data=st.data(),
)
def test_coefficients_are_libjpegs(content, seed, height, width, gray, quality, subsampling, optimize, restart, data):
    pixels = JPEG_CONTENTS[content](np.random.default_rng(seed), height, width)
    picture = Image.fromarray(pixels).convert("L" if gray else "RGB")
    file = encode(picture, "JPEG", quality=quality, subsampling=subsampling, optimize=optimize, **restart)
    top, left = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    window = (top, left, data.draw(st.integers(1, height - top)), data.draw(st.integers(1, width - left)))
    wanted = pillow(file)
    np.testing.assert_array_equal(decode(file), wanted)
    part = wanted[top : top + window[2], left : left + window[3]]
    np.testing.assert_array_equal(decode(file, windows(*window)), part)


def test_long_scans_go_through_the_buffer_piece_by_piece():
    pixels = np.random.default_rng(3).integers(0, 256, (700, 900, 3), np.uint8)
    for options in ({"quality": 100, "subsampling": 0}, {"quality": 95, "restart_marker_blocks": 4000}):
        file = encode(pixels, "JPEG", **options)
        assert len(file) > 10 * 32768
        np.testing.assert_array_equal(decode(file), pillow(file))


def test_damaged_scans_are_decoded_as_libjpeg_does():
    file = encode(np.random.default_rng(5).integers(0, 256, (64, 64, 3), np.uint8), "JPEG", restart_marker_blocks=4)
    scan = bytes(file).index(b"\xff\xda") + 14
    if b"\xff\xdd" not in bytes(file[:scan]):
        pytest.skip("Pillow before 10.2 writes no restart markers")
    # A restart marker with the wrong number, and one that is missing: libjpeg resynchronises.
    marker = bytes(file).index(b"\xff\xd1", scan)
    for damaged in (file.copy(), np.delete(file, [marker, marker + 1])):
        if len(damaged) == len(file):
            damaged[marker + 1] = 0xD5
        np.testing.assert_array_equal(decode(damaged), pillow(damaged))
        check_against_libjpeg(damaged, (0, 0, 64, 64), 1, "rgb", 3)


@settings(max_examples=150, deadline=None)
@given(
    content=st.sampled_from(sorted(JPEG_CONTENTS)),
    seed=st.integers(0, 2**32 - 1),
    height=st.integers(1, 90),
    width=st.integers(1, 90),
    color=st.sampled_from(["L", "RGB"]),
    options=st.fixed_dictionaries(
        {"quality": st.integers(1, 100), "subsampling": st.integers(0, 2), "progressive": st.booleans()}
    ),
    restart=st.sampled_from(RESTARTS),
    rgb_file=st.booleans(),
    data=st.data(),
)
def test_windows_and_scales_are_libjpegs(content, seed, height, width, color, options, restart, rgb_file, data):
    image = Image.fromarray(JPEG_CONTENTS[content](np.random.default_rng(seed), height, width)).convert(color)
    if rgb_file and color == "RGB":
        options |= {"keep_rgb": True, "subsampling": 0}
    file = encode(image, "JPEG", **options, **restart)
    denominator = data.draw(st.sampled_from([1, 2, 4, 8]))
    height, width = -(-height // denominator), -(-width // denominator)
    top, left = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    part = (top, left, data.draw(st.integers(1, height - top)), data.draw(st.integers(1, width - left)))
    for wanted in (part, (0, 0, height, width)):
        for name, pixel in (("rgb", 3), ("rgb", 4), ("bgr", 3), ("bgr", 4), ("gray", 1)):
            check_against_libjpeg(file, wanted, denominator, name, pixel)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sampling=st.sampled_from(SAMPLINGS),
    progressive=st.booleans(),
    restart=st.sampled_from(RESTARTS),
    damage=st.sampled_from(["none", "cut", "byte", "marker", "insert"]),
    data=st.data(),
)
def test_damaged_files_get_what_libjpeg_makes_of_them(seed, sampling, progressive, restart, damage, data):
    pixels = np.random.default_rng(seed).integers(0, 256, (40, 56, 3), np.uint8)
    file = encode(pixels, "JPEG", subsampling=0, progressive=progressive, quality=60, **restart)
    damaged = bytearray(with_sampling(file, sampling))
    place = data.draw(st.integers(len(damaged) // 4, len(damaged) - 3))
    if damage == "cut":
        del damaged[place:]
    elif damage == "byte":
        damaged[place] ^= data.draw(st.integers(1, 255))
    elif damage == "marker":
        damaged[place : place + 2] = bytes([0xFF, data.draw(st.sampled_from([0xD0, 0xD9, 0xDA, 0xC4, 0xFF]))])
    elif damage == "insert":
        damaged[place:place] = bytes([0, 1, 2, 3])
    denominator = data.draw(st.sampled_from([1, 2, 8]))
    height, width = -(-40 // denominator), -(-56 // denominator)
    check_against_libjpeg(damaged, (0, 0, height, width), denominator, "rgb", 3)
    check_against_libjpeg(damaged, (height // 3, width // 3, 2, 2), denominator, "gray", 1)


def test_progressive_files_in_which_scans_are_missing_are_smoothed_by_libjpeg():
    file = bytes(encode(np.random.default_rng(3).integers(0, 256, (48, 48, 3), np.uint8), "JPEG", progressive=True))
    scans = [i for i in range(len(file) - 1) if file[i : i + 2] == b"\xff\xda"]
    for end in scans[1:]:
        check_against_libjpeg(file[:end] + b"\xff\xd9", (0, 0, 48, 48), 1, "rgb", 3)


@pytest.mark.parametrize("marker", [0xC4, 0xDB], ids=["huffman", "quantization"])
def test_tables_of_one_file_are_not_used_for_the_next(marker):
    """libjpeg keeps tables for streams that leave theirs out; which file a thread decoded before must not matter."""
    image = np.random.default_rng(4).integers(0, 256, (24, 24, 3), np.uint8)
    before = encode(Image.fromarray(image).convert("CMYK"), "JPEG", quality=20, optimize=True)
    gray = encode(Image.fromarray(image).convert("L"), "JPEG", quality=90)
    file = np.frombuffer(without_segments(gray, marker), np.uint8)
    options = {"layouts": "", "num_threads": 1, "on_error": "fill"}
    alone = run(whole, [file], **options)[0][0]
    after = run(whole, [before, file], **options)[0][1]
    np.testing.assert_array_equal(after, alone)


def without_segments(file, marker):
    """Leave out the segments of a kind."""
    data, at = bytes(file), 2
    kept = data[:2]
    while data[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        kept += data[at:end] if data[at + 1] != marker else b""
        at = end
    return kept + data[at:]
