"""Our Huffman decoder inside of libjpeg: the pixels are Pillow's, whose libjpeg decodes by itself."""

from __future__ import annotations

import numpy as np
from compared import on_each_level
from hypothesis import given, settings
from hypothesis import strategies as st
from pictures import JPEG_CONTENTS, encode, pillow
from PIL import Image

RESTARTS = ({}, {"restart_marker_blocks": 1}, {"restart_marker_blocks": 5}, {"restart_marker_rows": 1})


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
    # A restart marker with the wrong number, and one that is missing: libjpeg resynchronises.
    marker = bytes(file).index(b"\xff\xd1", scan)
    for damaged in (file.copy(), np.delete(file, [marker, marker + 1])):
        if len(damaged) == len(file):
            damaged[marker + 1] = 0xD5
        np.testing.assert_array_equal(decode(damaged), pillow(damaged))
