"""Colors and brightness against DALI, over sizes, types and arguments that hypothesis makes up."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import noise, refused
from hypothesis import given
from hypothesis import strategies as st
from operator_comparison import batches, compare, each, graph_of, near, on_each_level, ours, unmoved_by_views

from pixelmill import ArgumentError, fn, pipeline_def
from pixelmill.recipe import Recipe

FRAMES = ["", "HWC", "FHWC", "DHWC"]
PLAIN = [np.uint8, np.int16, np.int32, np.float32]
TYPES = {np.uint8: "UINT8", np.int16: "INT16", np.int32: "INT32", np.float16: "FLOAT16", np.float32: "FLOAT"}
CHANGES = {
    "brightness": ["brightness", "brightness_shift"],
    "contrast": ["contrast", "contrast_center"],
    "brightness_contrast": ["brightness", "brightness_shift", "contrast", "contrast_center"],
    "hue": ["hue"],
    "saturation": ["saturation"],
    "hsv": ["hue", "saturation", "value"],
    "color_twist": ["hue", "saturation", "brightness", "contrast"],
}
VALUES = {
    "hue": st.floats(-360, 360, width=32),
    "brightness_shift": st.floats(-0.5, 0.5, width=32),
    "contrast_center": st.floats(-10, 200, width=32),
}
RANDOM = {key: VALUES.get(key, st.floats(0, 2, width=32)) for keys in CHANGES.values() for key in keys}
SPACES = ["RGB", "BGR", "GRAY", "YCbCr"]


def arguments(draw, name):
    """Make some arguments of each sample, and some constant ones."""
    chosen = [key for key in CHANGES[name] if draw(st.booleans())]
    nodes = {key: each(draw, RANDOM[key]) for key in chosen if draw(st.booleans())}
    return nodes, {key: draw(RANDOM[key]) for key in chosen if key not in nodes}


@pytest.mark.parametrize("name", ["brightness", "contrast", "brightness_contrast"])
@given(st.data())
def test_brightness_is_dalis(name, data):
    draw = data.draw
    layout = draw(st.sampled_from(FRAMES))
    batch = draw(batches(layout, draw(st.sampled_from(PLAIN))))
    nodes, constants = arguments(draw, name)
    if draw(st.booleans()):
        constants["dtype"] = TYPES[draw(st.sampled_from(PLAIN))]
    compare(name, batch, layout, nodes, **constants)


@pytest.mark.parametrize("name", ["hue", "saturation", "hsv", "color_twist"])
@given(st.data())
def test_colors_are_dalis(name, data):
    draw = data.draw
    layout = draw(st.sampled_from(FRAMES))
    kind = draw(st.sampled_from(list(TYPES)))
    batch = draw(batches(layout, kind, channels=(3, 3)))
    nodes, constants = arguments(draw, name)
    if draw(st.booleans()):
        kind = draw(st.sampled_from(list(TYPES)))
        constants["dtype"] = TYPES[kind]
    # DALI computes in single precision, so a value may come out of the difference of larger ones: for whole numbers the
    # tolerance, a millionth, is one of the largest input too.
    least = 0.0 if np.dtype(kind).kind == "f" else max(float(np.abs(x.astype(float)).max(initial=0)) for x in batch)
    compare(name, batch, layout, nodes, level=1 if batch[0].dtype == np.uint8 else 4, least=least, **constants)


@pytest.mark.parametrize("before", SPACES)
@pytest.mark.parametrize("after", SPACES)
def test_color_spaces_are_dalis(before, after):
    channels = 1 if before == "GRAY" else 3
    batch = [noise((height, width, channels)) for height, width in [(64, 128), (1, 1), (7, 5)]]
    kinds = {"image_type": before, "output_type": after}
    if before == after:
        assert refused(graph_of("color_space_conversion", **kinds), batch) == (True, True)
        return
    compare("color_space_conversion", batch, "HWC", **kinds)
    compare("color_space_conversion", [x[None] for x in batch], "FHWC", **kinds)
    compare("color_space_conversion", [x[None, None] for x in batch], "FDHWC", **kinds)


def test_a_color_space_and_back_keeps_the_image():
    batch = [np.clip(noise((32, 32, 3)), 20, 230)]
    there = ours(graph_of("color_space_conversion", image_type="RGB", output_type="YCbCr"), batch)
    back = ours(graph_of("color_space_conversion", image_type="YCbCr", output_type="RGB"), there)
    near(back[0], batch[0], level=2)


SPECIMENS = {
    "brightness_contrast": {"brightness": 1.3, "contrast": 0.6},
    "color_twist": {"hue": 33.0, "saturation": 1.7, "brightness": 0.9, "contrast": 1.1},
    "hsv": {"hue": -50.0, "value": 1.2},
}


@pytest.mark.parametrize("name", SPECIMENS)
@pytest.mark.parametrize("dtype", PLAIN)
def test_views_and_simd_levels_change_nothing(name, dtype):
    graph = graph_of(name, **SPECIMENS[name])
    batch = [noise((9, 14, 3), dtype), noise((33, 19, 3), dtype)]
    unmoved_by_views(graph, batch)
    on_each_level(graph, batch)


@pytest.mark.parametrize(
    "pair", [("RGB", "BGR"), ("BGR", "GRAY"), ("RGB", "YCbCr"), ("YCbCr", "GRAY"), ("GRAY", "YCbCr")]
)
def test_views_and_simd_levels_change_no_color_space(pair):
    graph = graph_of("color_space_conversion", image_type=pair[0], output_type=pair[1])
    channels = 1 if pair[0] == "GRAY" else 3
    batch = [noise((9, 14, channels)), noise((33, 19, channels))]
    unmoved_by_views(graph, batch)
    on_each_level(graph, batch)


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3)])
def test_empty_images_stay_empty(name, shape):
    compare(name, [np.zeros(shape, np.uint8)], "HWC")


@pytest.mark.parametrize(
    ("name", "batch", "layout"),
    [
        ("brightness", noise((4, 5)), "HW"),
        ("brightness", noise((3, 4, 5)), "CHW"),
        ("brightness", noise((4, 5, 3), np.uint16), "HWC"),
        ("hue", noise((3, 4, 5)), "CHW"),
        ("hue", noise((4, 5, 3), np.int8), "HWC"),
        ("color_twist", noise((7,)), ""),
    ],
)
def test_what_dali_refuses_is_refused(name, batch, layout):
    assert refused(graph_of(name), [batch], layouts=layout) == (True, True)


def test_colors_need_three_channels():
    # DALI reads beyond the end of such images.
    with pytest.raises(Exception, match="hue: three channels are needed, got uint8"):
        ours(graph_of("hue"), [noise((4, 5, 1))])


@pytest.mark.parametrize(
    ("name", "wrong", "text"),
    [
        ("brightness", {"brightness": "bright"}, "brightness must be a number"),
        ("brightness", {"dtype": "UINT64"}, "dtype must be UINT8, INT16, INT32, FLOAT, got UINT64"),
        ("hsv", {"dtype": "FLOAT64"}, "dtype must be UINT8"),
        ("color_space_conversion", {"image_type": "RGB"}, "output_type is missing"),
        ("color_space_conversion", {"image_type": "RGB", "output_type": "ANY_DATA"}, "output_type must be RGB, BGR"),
    ],
)
def test_wrong_arguments_are_refused_with_the_users_line(name, wrong, text):
    with pytest.raises(ArgumentError, match=f"(?s)^{name}: {text}.*created at operator_comparison.py"):
        ours(graph_of(name, **wrong), [noise((4, 5, 3))])


def test_a_wrong_layout_is_refused_when_the_graph_is_built():
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def wrong():
        return fn.hue(fn.external_source(name="x", layout="CHW"), hue=3.0)

    with pytest.raises(ArgumentError, match=r"(?s)hue: the layout of the input must be HWC.*created at test_color.py"):
        wrong().build()


@pytest.mark.parametrize("width", [1, 15, 16, 17, 64, 101])
@pytest.mark.parametrize(
    "twist",
    [
        {"saturation": 0.0},
        {"hue": 40.0, "saturation": 1.7},
        {"hue": 200.0, "contrast": 1.3, "brightness": 0.8},  # with an offset
        {"saturation": 3.0, "brightness": -2.0},
        {"hue": 10.0, "brightness": 1e7},
        {"hue": 10.0, "brightness": 1e20},  # integers do not hold such sums
    ],
)
def test_color_matrices_of_bytes_are_the_same_on_every_level(width, twist):
    levels = np.arange(256, dtype=np.uint8)
    image = np.resize(np.stack([levels, np.roll(levels, 85), np.roll(levels[::-1], 31)], -1), (7, width, 3))
    (made,) = on_each_level(lambda m, x: m.fn.color_twist(x, **twist), [image])
    assert made.shape == image.shape


@pytest.mark.parametrize("width", [1, 15, 16, 101])
@pytest.mark.parametrize("step", ["sepia", "to_gray"])
def test_sepia_and_gray_are_the_same_on_every_level(width, step):
    image = noise((9, width, 3))
    (made,) = on_each_level(lambda m, x: Recipe(step, steps=({step: {}},)).apply(x).image, [image])
    gray = image @ np.array([0.299, 0.587, 0.114])
    sepia = image @ np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]).T
    wanted = np.minimum(sepia, 255) if step == "sepia" else np.repeat(gray[:, :, None], 3, 2)
    np.testing.assert_allclose(made, wanted, atol=0.51)
