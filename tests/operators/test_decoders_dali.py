"""Decoders against DALI: every kind of file, color order, element type, window and orientation."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE, close, equal, make, numpy_batch, run
from encoded_images import color, encode, kinds, rotated
from hypothesis import given, settings
from hypothesis import strategies as st

# DALI does not read these.
NOT_DALIS = {"gif"}
# DALI refuses these with their own channels; on a gray JPEG it crashes.
NOT_ANY_DATA = {"jpeg cmyk", "png la", "jpeg gray"}
LEVEL = {"UINT8": 1, "UINT16": 258, "INT16": 129, "FLOAT": 1.001 / 255}
SAMPLES = 3


@pytest.mark.parametrize("dtype", LEVEL)
@pytest.mark.parametrize("colors", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_every_kind_of_file_decodes_as_by_dali(colors, dtype):
    names = sorted(set(kinds()) - NOT_DALIS - (NOT_ANY_DATA if colors == "ANY_DATA" else set()))

    def graph(m, data):
        return m.fn.decoders.image(data, output_type=getattr(m.types, colors), dtype=getattr(m.types, dtype))

    equal(graph, [kinds()[name] for name in names], layouts="", level=LEVEL[dtype], real=LEVEL[dtype])


@pytest.mark.parametrize("kind", sorted(NOT_DALIS | NOT_ANY_DATA))
def test_what_dali_refuses_decodes_here_with_its_own_channels(kind):
    def graph(m, data):
        return m.fn.decoders.image(data, output_type=m.types.ANY_DATA), m.fn.peek_image_shape(
            data, image_type=m.types.ANY_DATA
        )

    decoded, shape = run(graph, [kinds()[kind]], layouts="")
    assert decoded[0].shape == tuple(shape[0])


@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF"])
def test_orientation_is_followed_as_by_dali(kind, adjust):
    files = [rotated(kind, orientation) for orientation in range(1, 9)]

    def graph(m, data):
        shape = m.fn.peek_image_shape(data, adjust_orientation=adjust)
        return m.fn.decoders.image(data, adjust_orientation=adjust), shape

    equal(graph, files, layouts="")


@pytest.mark.parametrize("dtype", ["INT64", "INT32", "FLOAT", "UINT32"])
@pytest.mark.parametrize("colors", ["RGB", "GRAY"])
def test_shapes_are_peeked_as_by_dali(colors, dtype):
    names = sorted(set(kinds()) - NOT_DALIS)

    def graph(m, data):
        return m.fn.peek_image_shape(data, image_type=getattr(m.types, colors), dtype=getattr(m.types, dtype))

    equal(graph, [kinds()[name] for name in names], layouts="", level=0, real=0)


files = st.builds(
    lambda seed, height, width, kind, options: encode(color(seed, height, width), kind, **options),
    st.integers(0, 9),
    st.integers(1, 60),
    st.integers(1, 60),
    st.just("JPEG"),
    st.sampled_from([{"subsampling": 0}, {"subsampling": 1}, {"subsampling": 2}, {"progressive": True}]),
)


def compare_windows(fused, apart, *inputs):
    """Demand the shapes of DALI's window and the pixels of its whole image: it decodes chroma at the edge of windows
    otherwise, and ours are those of the whole image.
    """
    layouts = [""] * len(inputs)
    (mine,), (theirs,) = run(fused, *inputs, layouts=layouts), run(fused, *inputs, module=DALI, layouts=layouts)
    assert [x.shape for x in mine] == [x.shape for x in theirs]
    (exact,) = run(apart, *inputs, module=DALI, layouts=layouts)
    for got, wanted in zip(mine, exact, strict=True):
        close(got, wanted, level=0)


@given(st.data())
@settings(max_examples=60)
def test_cropping_decoders_are_dalis(data):
    draw = data.draw
    batch = [draw(files) for _ in range(SAMPLES)]
    shapes = [np.array(shape) for shape in run(lambda m, x: m.fn.peek_image_shape(x), batch, layouts="")[0]]
    sizes = [np.array([draw(st.integers(1, int(side))) for side in shape[:2]], np.float32) for shape in shapes]
    positions = [[np.float32(draw(st.floats(0, 1, width=32))) for _ in shapes] for _ in "xy"]

    def arguments(crop, pos_x, pos_y):
        return {"crop": crop, "crop_pos_x": pos_x, "crop_pos_y": pos_y}

    fused = lambda m, x, *nodes: m.fn.decoders.image_crop(x, **arguments(*nodes))  # noqa: E731
    apart = lambda m, x, *nodes: m.fn.crop(m.fn.decoders.image(x), **arguments(*nodes))  # noqa: E731
    compare_windows(fused, apart, batch, sizes, *positions)


@given(st.data())
@settings(max_examples=60)
def test_slicing_decoders_are_dalis(data):
    draw = data.draw
    batch = [draw(files) for _ in range(SAMPLES)]
    whole = draw(st.booleans())
    starts, extents = [], []
    for shape in run(lambda m, x: m.fn.peek_image_shape(x), batch, layouts="")[0]:
        sides = [int(shape[1]), int(shape[0])]
        start = [draw(st.integers(0, side - 1)) for side in sides]
        extent = [draw(st.integers(1, side - low)) for side, low in zip(sides, start, strict=True)]
        scale = 1 if whole else np.array(sides, np.float32)
        starts.append(np.array(np.float32(start) / scale, np.int32 if whole else np.float32))
        extents.append(np.array(np.float32(extent) / scale, np.int32 if whole else np.float32))
    fused = lambda m, *nodes: m.fn.decoders.image_slice(*nodes)  # noqa: E731
    apart = lambda m, x, *nodes: m.fn.slice(m.fn.decoders.image(x), *nodes)  # noqa: E731
    compare_windows(fused, apart, batch, starts, extents)


def test_the_random_window_of_a_decoder_is_the_slice_dali_would_decode():
    batch = [encode(color(seed, 40 + 9 * seed, 90 - 7 * seed), "JPEG") for seed in range(8)]

    def here(m, data):
        window = m.fn.random_crop_generator(m.fn.peek_image_shape(data), seed=3)
        return *window, m.fn.decoders.image_random_crop(data, seed=3)

    anchors, extents, mine = run(here, batch, layouts="")
    there = lambda m, x, *window: m.fn.decoders.image_slice(x, *window, axes=[0, 1])  # noqa: E731
    (theirs,) = run(there, batch, anchors, extents, module=DALI, layouts=["", "", ""])
    for got, wanted in zip(mine, theirs, strict=True):
        close(got, wanted)


def test_the_accurate_transform_takes_the_place_of_the_fast_one():
    batch = [kinds()["jpeg 4:4:4"], kinds()["jpeg gray"]]

    def run(module, fast):
        graph = lambda m, x: m.fn.decoders.image(x, use_fast_idct=fast)  # noqa: E731
        return numpy_batch(make(module, graph, batch, layouts="").run()[0])

    for fast, accurate, theirs in zip(run(HERE, True), run(HERE, False), run(DALI, True), strict=True):
        np.testing.assert_array_equal(fast, accurate)
        close(fast, theirs, level=4)
