"""Filters and effects against DALI and OpenCV, over sizes, types and arguments that hypothesis makes up."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import noise, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_comparison import batches, compare, each, graph_of, near, on_each_level, ours, same, unmoved_by_views
from peers import peer

from pixelmill import ArgumentError

cv2 = peer("cv2")

WHOLE = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]
REAL = [np.float16, np.float32]
SPACE = {"": 3, "W": 1, "HW": 2, "HWC": 2, "CHW": 2, "FHWC": 2, "FCHW": 2, "CFHW": 2, "DHW": 3, "DHWC": 3, "CDHW": 3}
BORDERS = ["reflect_101", "reflect_1001", "clamp", "wrap", "constant"]


def per_axis(draw, values, axes):
    """Make one value, or one for each axis."""
    return draw(st.one_of(values, st.lists(values, min_size=axes, max_size=axes)))


def window_arguments(draw, values, axes):
    """Make arguments for each axis: constants, or nodes of each sample."""
    nodes, constants = {}, {}
    for key, (strategy, dtype) in values.items():
        if draw(st.booleans()):
            constants[key] = per_axis(draw, strategy, axes)
        else:
            nodes[key] = each(draw, st.lists(strategy, min_size=axes, max_size=axes), dtype)
    return nodes, constants


def tolerance(dtype):
    """Say what floats may differ by: DALI computes with half precision where the input has it."""
    return 2**-9 if dtype == np.float16 else 1e-4


# Gaussian blur


@given(st.data())
@settings(max_examples=120)
def test_gaussian_blur_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(list(SPACE)))
    dtype = draw(st.sampled_from([np.uint8, np.float32, *WHOLE, *REAL, np.float64]))
    batch = draw(batches(layout, dtype, most=9 if len(layout or "HWC") > 2 else 20))
    sigma, window = st.floats(0.25, 4, width=32), st.integers(0, 6).map(lambda reach: 2 * reach + 1)
    wanted = draw(st.sampled_from([{"sigma"}, {"window_size"}, {"sigma", "window_size"}]))
    values = {"sigma": (sigma, np.float32), "window_size": (window, np.int32)}
    chosen = {key: value for key, value in values.items() if key in wanted}
    nodes, constants = window_arguments(draw, chosen, SPACE[layout])
    if draw(st.booleans()):
        constants["dtype"] = "FLOAT"
    # Both compute in single precision, whose last place is worth hundreds for 32-bit integers.
    last_place = max(float(np.spacing(np.abs(image).max().astype(np.float32))) for image in batch)
    compare("gaussian_blur", batch, layout, nodes, relative=tolerance(dtype), least=last_place, **constants)


def test_without_a_layout_all_axes_are_blurred_as_in_dali():
    (got,) = ours(graph_of("gaussian_blur", sigma=0.7), [np.eye(5, dtype=np.float32)[None].repeat(3, 0)], layouts="")
    assert got.shape == (3, 5, 5)
    compare("gaussian_blur", [noise((6, 7, 3), np.float32)], "", sigma=2.0)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 5.0, 10.0, 25.0])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_wide_and_narrow_blurs_of_large_images_are_dalis(sigma, dtype):
    batch = [noise((97, 131, 3), dtype), np.full((60, 61, 3), 255, dtype), noise((40, 200, 3), dtype)]
    compare("gaussian_blur", batch, sigma=sigma)


def test_blurred_bytes_are_near_to_opencvs():
    batch = [noise((64, 80, 3)), noise((33, 31, 3))]
    for got, picture in zip(ours(graph_of("gaussian_blur", sigma=1.5), batch), batch, strict=True):
        near(got, cv2.GaussianBlur(picture, (11, 11), 1.5), level=2)


# Laplacian


@given(st.data())
@settings(max_examples=80)
def test_laplacian_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(list(SPACE)))
    dtype = draw(st.sampled_from([np.uint8, np.float32, *WHOLE[:5], *REAL]))
    batch = draw(batches(layout, dtype, most=9))
    derived, smoothed = (st.integers(low, 3).map(lambda reach: 2 * reach + 1) for low in (1, 0))
    values = {
        "window_size": (derived, np.int32),
        "smoothing_size": (smoothed, np.int32),
        "scale": (st.floats(0.25, 2, width=32), np.float32),
    }
    chosen = {key: value for key, value in values.items() if draw(st.booleans())}
    nodes, constants = window_arguments(draw, chosen, SPACE[layout])
    if "scale" not in chosen and draw(st.booleans()):
        constants["normalized_kernel"] = True
    if draw(st.booleans()):
        constants["dtype"] = "FLOAT"
    # Large weights of both signs cancel each other, so errors are shares of what they cancel.
    weights = 2.0 ** (6 * SPACE[layout]) * max(float(np.abs(x.astype(float)).max()) for x in batch)
    compare("laplacian", batch, layout, nodes, relative=tolerance(dtype), least=weights / 100, **constants)


# Filters of two dimensions


@given(st.data())
@settings(max_examples=150)
def test_filter_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(["HWC", "HWC", "HW", "CHW", "FHWC", "FCHW", "FHW"]))
    dtype = draw(st.sampled_from([np.uint8, np.uint8, np.uint16, np.int16, np.float32]))
    side = st.integers(1, 6)
    batch = draw(batches(layout, dtype, channels=(1, 3), least=6, most=16))
    random = np.random.default_rng(draw(st.integers(0, 999)))
    filters = [random.normal(size=(draw(side), draw(side))).astype(np.float32) / 4 for _ in batch]
    smallest = np.min([weights.shape for weights in filters], axis=0)
    arguments = {"mode": draw(st.sampled_from(["same", "same", "valid"])), "border": draw(st.sampled_from(BORDERS))}
    if draw(st.booleans()):
        arguments["anchor"] = [draw(st.integers(-1, int(extent) - 1)) for extent in smallest]
    inputs = [batch, filters]
    if arguments["border"] == "constant" and draw(st.booleans()):
        inputs.append([np.array(draw(st.integers(1, 100)), dtype)] * len(batch))
    floats = draw(st.booleans())

    def graph(m, *nodes):
        return m.fn.filter(*nodes, **arguments, **({"dtype": m.types.FLOAT} if floats else {}))

    same(graph, *inputs, layouts=[layout] + [""] * (len(inputs) - 1))


@pytest.mark.parametrize("size", [9, 15])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_large_filters_are_dalis(size, dtype):
    weights = np.random.default_rng(size).normal(size=(size, size)).astype(np.float32) / size
    same(lambda m, x, w: m.fn.filter(x, w), [noise((50, 61, 3), dtype)], [weights], layouts=["HWC", ""])


def test_each_frame_may_have_its_filter():
    weights = noise((2, 3, 3), np.float32)
    same(lambda m, x, w: m.fn.filter(x, w), [noise((2, 8, 9, 3))], [weights], layouts=["FHWC", "FHW"])


def test_four_channels_are_filled_alike():
    # DALI fills three of them with the value and the fourth with 0.
    batch, weights = [np.full((5, 5, 4), 7, np.uint8)], [np.full((3, 3), 1 / 9, np.float32)]
    (got,) = ours(
        lambda m, x, w: m.fn.filter(x, w, np.uint8(7), border="constant"), batch, weights, layouts=["HWC", ""]
    )
    assert (got == 7).all()


# Median


def median(picture, height, width):
    """Find medians by sorting."""
    rows, columns = height // 2, width // 2
    padded = np.pad(picture, ((rows, rows), (columns, columns), (0, 0)), "edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), (0, 1))
    return np.sort(windows.reshape(*picture.shape, -1), -1)[..., height * width // 2]


@pytest.mark.parametrize(
    "window", [(3, 3), (5, 5), (1, 1), (3, 5), (7, 3), (7, 7), (11, 11), (13, 1), (13, 13)], ids=str
)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.float32])
def test_medians_are_those_of_a_sort(window, dtype):
    batch = [noise(shape, dtype) for shape in [(19, 45, 3), (1, 1, 1), (5, 70, 1), (9, 4, 2)]]
    for got, picture in zip(
        on_each_level(graph_of("experimental.median_blur", window_size=window), batch), batch, strict=True
    ):
        near(got, median(picture, *window), level=0, relative=0)


@pytest.mark.parametrize("size", [3, 5, 7, 9, 15])
def test_median_blur_is_opencvs(size):
    kinds = [np.uint8] if size > 5 else [np.uint8, np.uint16, np.float32]
    for dtype in kinds:
        batch = [noise((40, 53, 3), dtype), noise((7, 8, 3), dtype)]
        got = ours(graph_of("experimental.median_blur", window_size=size), batch)
        for mine, picture in zip(got, batch, strict=True):
            np.testing.assert_array_equal(mine, cv2.medianBlur(picture, size))


def test_median_blur_knows_planes_frames_and_each_samples_window():
    batch = [noise((9, 12, 3)), noise((15, 7, 3))]
    planes = [x.transpose(2, 0, 1) for x in batch]
    sizes = [np.array([3, 5]), np.array([1, 7])]
    graph = graph_of("experimental.median_blur", ["window_size"])
    for layout, images in (("HWC", batch), ("CHW", planes), ("FHWC", [x[None] for x in batch])):
        for got, wanted, window in zip(ours(graph, images, sizes, layouts=[layout, ""]), batch, sizes, strict=True):
            back = got.transpose(1, 2, 0) if layout == "CHW" else got.reshape(wanted.shape)
            np.testing.assert_array_equal(back, median(wanted, *window))


# Levels


@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"])
def test_equalize_is_dalis_and_opencvs(layout):
    random = np.random.default_rng(3)
    shape = [{"F": 2, "C": 3, "H": 41, "W": 37}[axis] for axis in layout]
    batch = [random.normal(100, spread, shape).clip(0, 255).astype(np.uint8) for spread in (0.0, 1.0, 9.0, 60.0)]
    compare("equalize", batch, layout, level=0)
    if layout == "HW":
        for got, picture in zip(ours(graph_of("equalize"), batch, layouts=layout), batch, strict=True):
            np.testing.assert_array_equal(got, cv2.equalizeHist(picture))


@given(st.data())
def test_clahe_is_dalis(data):
    draw = data.draw
    channels = draw(st.sampled_from([1, 3]))
    batch = draw(batches("HWC", channels=(channels, channels), least=8, most=70))
    tiles = {key: draw(st.integers(1, 9)) for key in ("tiles_x", "tiles_y")}
    luma, limit = draw(st.booleans()), draw(st.sampled_from([0.0, 1.0, 2.0, 3.7, 40.0]))
    compare("clahe", batch, level=0, **tiles, clip_limit=limit, luma_only=luma)


def test_clahe_is_opencvs():
    picture = np.random.default_rng(1).normal(120, 20, (90, 100, 1)).clip(0, 255).astype(np.uint8)
    (got,) = ours(graph_of("clahe", tiles_x=8, tiles_y=4, clip_limit=3.0), [picture])
    np.testing.assert_array_equal(got[..., 0], cv2.createCLAHE(3.0, (8, 4)).apply(picture[..., 0]))


# JPEG, ball, water


@given(st.data())
@settings(max_examples=40)
def test_jpeg_distortion_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(["HWC", "", "FHWC"]))
    batch = draw(batches(layout, channels=(3, 3), most=40))
    if draw(st.booleans()):
        batch = [cv2.blur(x, (5, 5)) if x.ndim == 3 else x for x in batch]
    quality = st.integers(-5, 110)
    if draw(st.booleans()):
        compare("jpeg_compression_distortion", batch, layout, {"quality": each(draw, quality, np.int32)})
    else:
        compare("jpeg_compression_distortion", batch, layout, quality=draw(quality))


WAVES = {key: st.floats(0, 20, width=32) for key in ("ampl_x", "ampl_y")}
WAVES |= {key: st.floats(0, 1, width=32) for key in ("freq_x", "freq_y", "phase_x", "phase_y")}


@pytest.mark.parametrize("name", ["sphere", "water"])
@given(st.data())
def test_displacements_are_dalis(name, data):
    draw = data.draw
    batch = draw(batches("HWC", draw(st.sampled_from([np.uint8, np.float32])), most=40))
    arguments = {key: draw(values) for key, values in WAVES.items() if name == "water" and draw(st.booleans())}
    nodes = {"mask": each(draw, st.integers(0, 1), np.int32)} if draw(st.booleans()) else {}
    kind = draw(st.sampled_from(["INTERP_NN", "INTERP_LINEAR"]))
    if draw(st.booleans()):
        arguments["fill_value"] = draw(st.sampled_from([3.0, 20.6, 255.0]))
    # Nearest neighbours are copies; a rounding may choose another only where a place lies between two pixels.
    compare(name, batch, "HWC", nodes, level=1, interp_type=kind, **arguments)


def test_a_constant_mask_is_obeyed():
    # DALI looks only at masks that come as nodes.
    picture = noise((9, 9, 3))
    for name in ("sphere", "water"):
        np.testing.assert_array_equal(ours(graph_of(name, mask=0), [picture])[0], picture)


# What holds for all


def test_names_of_older_versions_mean_the_same():
    picture = noise((12, 13, 3))
    old, new = (ours(graph_of(name), [picture])[0] for name in ("experimental.equalize", "equalize"))
    np.testing.assert_array_equal(old, new)
    weights = noise((3, 3), np.float32)
    old = lambda m, x: m.fn.experimental.filter(x, m.types.Constant(weights))  # noqa: E731
    new = lambda m, x: m.fn.filter(x, m.types.Constant(weights))  # noqa: E731
    np.testing.assert_array_equal(ours(old, [picture]), ours(new, [picture]))


SPECIMENS = {
    "gaussian_blur": {"sigma": 1.3},
    "laplacian": {"window_size": 5},
    "experimental.median_blur": {"window_size": 5},
    "equalize": {},
    "clahe": {"tiles_x": 3, "tiles_y": 2, "clip_limit": 2.0},
    "jpeg_compression_distortion": {"quality": 60},
    "sphere": {"interp_type": "INTERP_LINEAR"},
    "water": {},
}
BYTES_ONLY = ("equalize", "clahe", "jpeg_compression_distortion")


@pytest.mark.parametrize("name", SPECIMENS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_views_and_simd_levels_change_nothing(name, dtype):
    if name in BYTES_ONLY and dtype != np.uint8:
        return
    graph = graph_of(name, **SPECIMENS[name])
    batch = [noise((9, 14, 3), dtype), noise((33, 19, 3), dtype)]
    unmoved_by_views(graph, batch)
    on_each_level(graph, [*batch, noise((40, 67, 3), dtype)])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
def test_views_and_simd_levels_change_no_filter(dtype):
    weights = noise((4, 3), np.float32) - np.float32(0.4)
    graph = lambda m, x: m.fn.filter(x, m.types.Constant(weights), anchor=[1, 0])  # noqa: E731
    batch = [noise((9, 14, 3), dtype), noise((33, 19, 3), dtype)]
    unmoved_by_views(graph, batch)
    on_each_level(graph, [*batch, noise((40, 67, 3), dtype)])


@pytest.mark.parametrize("name", sorted(set(SPECIMENS) - {"jpeg_compression_distortion"}))
@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3)])
def test_empty_images_stay_empty(name, shape):
    # DALI refuses some of them, and does not survive others.
    (got,) = ours(graph_of(name, **SPECIMENS[name]), [np.zeros(shape, np.uint8)])
    assert got.shape == shape and got.dtype == np.uint8


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_single_pixel_is_dalis(name):
    if name.startswith("experimental"):
        return
    compare(name, [noise((1, 1, 3)), noise((1, 5, 3)), noise((4, 1, 3))], **SPECIMENS[name])


@pytest.mark.parametrize(
    ("name", "batch", "layout"),
    [
        ("gaussian_blur", noise((2, 3, 4, 5)), ""),
        ("laplacian", noise((2, 3, 4, 5)), ""),
        ("equalize", noise((4, 5, 3), np.int16), "HWC"),
        ("equalize", noise((2, 4, 5, 3)), "DHWC"),
        ("clahe", noise((4, 5, 4)), "HWC"),
        ("jpeg_compression_distortion", noise((4, 5, 1)), "HWC"),
        ("sphere", noise((4, 5, 3), np.int16), "HWC"),
        ("water", noise((2, 4, 5, 3)), "FHWC"),
    ],
)
def test_what_dali_refuses_is_refused(name, batch, layout):
    arguments = {key: value for key, value in SPECIMENS[name].items() if key != "interp_type"}  # type: ignore[attr-defined]
    assert refused(graph_of(name, **arguments), [batch], layouts=layout) == (True, True)


WRONG = [
    ("gaussian_blur", {}, "sigma or window_size must be specified"),
    ("gaussian_blur", {"sigma": -1.0}, "sigma must be at least 0, got -1.0"),
    ("gaussian_blur", {"window_size": 4}, "window_size must be odd"),
    ("gaussian_blur", {"sigma": [1.0, 2.0, 3.0]}, "sigma must be one number or 2, one per axis of HW; got 3"),
    ("laplacian", {"window_size": 1}, "window_size must be odd and from 3 to 23"),
    ("laplacian", {"smoothing_size": 2}, "smoothing_size must be odd and from 1 to 23"),
    ("laplacian", {"scale": 1.0, "normalized_kernel": True}, "scale and normalized_kernel are mutually exclusive"),
    ("experimental.median_blur", {"window_size": [3, 4]}, "window_size must be odd"),
    ("clahe", {"tiles_x": 0, "tiles_y": 1, "clip_limit": 1.0}, "tiles_x must be at least 1, got 0"),
    ("clahe", {"tiles_x": 1, "tiles_y": 1}, "clip_limit is missing"),
    ("clahe", {"tiles_x": 1, "tiles_y": 1, "clip_limit": 1.0, "bins": 100}, "bins must be a power of two"),
    ("sphere", {"interp_type": "INTERP_CUBIC"}, "interp_type must be INTERP_NN or INTERP_LINEAR, got INTERP_CUBIC"),
]


@pytest.mark.parametrize(("name", "wrong", "text"), WRONG, ids=str)
def test_wrong_arguments_are_refused_with_the_users_line(name, wrong, text):
    with pytest.raises(ArgumentError, match=f"(?s)^{name}: {text}.*created at operator_comparison.py"):
        ours(graph_of(name, **wrong), [noise((4, 5, 3))])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"border": "mirror"}, "border must be one of"),
        ({"mode": "full"}, "mode must be one of"),
        ({"anchor": [-2, 0]}, "anchor must be at least -1"),
        ({"anchor": [0, 0, 0]}, "anchor must be one number or 2"),
    ],
    ids=str,
)
def test_wrong_arguments_of_filters_are_refused(arguments, text):
    weights = np.ones((3, 3), np.float32)
    with pytest.raises(ArgumentError, match=f"(?s)^filter: {text}.*created at test_filters.py"):
        ours(lambda m, x: m.fn.filter(x, m.types.Constant(weights), **arguments), [noise((4, 5, 3))])


@pytest.mark.parametrize(
    "weights", [np.ones((3,), np.float32), np.ones((0, 3), np.float32), np.ones((9, 9), np.float32)]
)
def test_filters_that_do_not_fit_are_refused(weights):
    graph = lambda m, x, w: m.fn.filter(x, w, mode="valid")  # noqa: E731
    assert refused(graph, [noise((8, 9, 3))], [weights], layouts=["HWC", ""]) == (True, True)
