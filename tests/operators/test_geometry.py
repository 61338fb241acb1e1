"""Rotations, warps, matrices, points, canvases, blots and resized arrays against DALI."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE, close, noise, run
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_comparison import (
    SAMPLES,
    batches,
    compare,
    each,
    graph_of,
    near,
    on_each_level,
    operator,
    ours,
    same,
    seeds,
    unmoved_by_views,
)

from pixelmill import ArgumentError, DataError, Pipeline, fn

DALI_TYPES = [np.uint8, np.int16, np.int32, np.float32]
ALL_TYPES = [*DALI_TYPES, np.int8, np.uint16, np.uint32, np.int64, np.uint64, np.float16, np.float64, np.bool_]
ANGLES = st.one_of(st.sampled_from([0, 45, 90, -90, 180, 270]), st.floats(-400, 400, width=32))
FILLS = st.sampled_from([None, 0, 7.6, -3.5, 300])


def filled(draw, **arguments):
    """Add a fill value, or none, and a way to interpolate."""
    arguments["interp_type"] = draw(st.sampled_from(["INTERP_NN", "INTERP_LINEAR"]))
    fill = draw(FILLS)
    return arguments if fill is None else arguments | {"fill_value": fill}


def level_of(arguments):
    return 0 if arguments["interp_type"] == "INTERP_NN" else 1


def some_matrix(draw, axes=2):
    """Make a matrix near to the one that changes nothing."""
    random = np.random.default_rng(draw(seeds))
    return (np.eye(axes, axes + 1) + random.normal(size=(axes, axes + 1)) * [*[0.4] * axes, 6]).astype(np.float32)


# Warps


@given(st.data())
@settings(max_examples=90)
def test_rotate_is_dalis(data):
    draw = data.draw
    batch = draw(batches(dtype=draw(st.sampled_from(DALI_TYPES)), channels=(1, 5), most=40))
    arguments = filled(draw, keep_size=draw(st.booleans()))
    if batch[0].dtype != np.int32 and draw(st.booleans()):
        arguments["dtype"] = draw(st.sampled_from(["UINT8", "INT16"])) if batch[0].dtype == np.float32 else "FLOAT"
    compare("rotate", batch, per_sample={"angle": each(draw, ANGLES)}, level=level_of(arguments), **arguments)


@given(st.data())
@settings(max_examples=90)
def test_warp_affine_is_dalis(data):
    draw = data.draw
    batch = draw(batches(dtype=draw(st.sampled_from(DALI_TYPES)), channels=(1, 5), most=40))
    arguments = filled(draw, inverse_map=draw(st.booleans()))
    per_sample = {"matrix": [some_matrix(draw) for _ in range(SAMPLES)]}
    if draw(st.booleans()):
        per_sample["size"] = each(draw, st.tuples(st.integers(1, 50), st.integers(1, 50)))
    compare("warp_affine", batch, per_sample=per_sample, level=level_of(arguments), **arguments)


@given(st.data())
@settings(max_examples=30)
def test_volumes_and_frames_are_warped_as_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(["DHWC", "FHWC", "FDHWC", ""]))
    batch = draw(batches(layout, draw(st.sampled_from(DALI_TYPES)), most=12))
    axes = 3 if "D" in layout else 2
    arguments, keeps = filled(draw), draw(st.booleans())
    matrices = [some_matrix(draw, axes) for _ in range(SAMPLES)]
    directions = each(draw, st.tuples(*[st.floats(0.25, 1, width=32)] * 3))

    def graph(m, pictures, angle, axis, matrix):
        typed = arguments | {"interp_type": getattr(m.types, arguments["interp_type"])}
        about = {"axis": axis} if axes == 3 else {}
        turned = m.fn.rotate(pictures, angle=angle, keep_size=keeps, **about, **typed)
        return m.fn.cat(turned, m.fn.warp_affine(turned, matrix, **typed), axis=0)

    inputs = (each(draw, ANGLES), directions, matrices)
    same(graph, batch, *inputs, layouts=[layout, "", "", ""], level=level_of(arguments))


@pytest.mark.parametrize("arguments", [{"size": [37, 60.5]}, {"matrix": [1.25, 0.5, 3, -0.25, 0.75, 9]}], ids=str)
@pytest.mark.parametrize("interp", ["INTERP_NN", "INTERP_LINEAR"])
def test_large_images_are_warped_in_dalis_steps(arguments, interp):
    """Coordinates are sums of single precision that start afresh every 256 columns; the nearest pixel tells."""
    batch = [noise((300, 700, 3)), noise((611, 290, 3)), noise((520, 513, 3))]
    given_ = {"matrix": [0.96, -0.2, 30, 0.2, 0.96, -17]} | arguments
    compare("warp_affine", batch, level=0 if interp == "INTERP_NN" else 1, interp_type=interp, fill_value=9, **given_)
    compare("rotate", batch, angle=11.25, level=0 if interp == "INTERP_NN" else 1, interp_type=interp)


@given(st.data())
@settings(max_examples=40)
def test_every_instruction_set_warps_alike(data):
    draw = data.draw
    batch = draw(batches(dtype=draw(st.sampled_from([np.uint8, np.float32])), most=90))
    arguments = filled(draw, keep_size=draw(st.booleans()))
    per_sample = {"angle": each(draw, ANGLES)}
    on_each_level(graph_of("rotate", tuple(per_sample), **arguments), batch, *per_sample.values())


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int16])
@pytest.mark.parametrize("fill", [{}, {"fill_value": 50}], ids=["edge", "fill"])
def test_views_are_warped_like_copies(channels, dtype, fill):
    batch = [noise((17 + i, 23 - i, channels), dtype, i) for i in range(3)]
    unmoved_by_views(graph_of("rotate", angle=33.0, **fill), batch)
    unmoved_by_views(graph_of("rotate", angle=-100.0, interp_type="INTERP_NN", **fill), batch)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_every_type_is_rotated(dtype):
    batch = [noise((9, 12, 3), np.uint8).astype(dtype)]
    (quarter,) = ours(graph_of("rotate", angle=90.0), batch)
    near(quarter, np.rot90(batch[0]), level=0)
    (nearest,) = ours(graph_of("rotate", angle=30.0, interp_type="INTERP_NN", fill_value=0), batch)
    assert nearest.dtype == dtype and set(nearest.ravel().tolist()) <= {*batch[0].ravel().tolist(), 0}


@pytest.mark.parametrize("layout", ["HW", "CHW", "FCHW", "CFHW"])
def test_channels_may_lie_anywhere(layout):
    shape = {"H": 13, "W": 18, "C": 3, "F": 2}
    image = noise([shape[axis] for axis in layout])
    space = [layout.index("H"), layout.index("W")]
    (turned,) = ours(graph_of("rotate", angle=90.0), [image], layouts=layout)
    np.testing.assert_array_equal(turned, np.rot90(image, axes=space))  # type: ignore[call-overload]


@pytest.mark.parametrize("size", [(0, 5), (4, 0), (1, 1), (1, 9), (9, 1), (2, 2)])
@pytest.mark.parametrize("interp", ["INTERP_NN", "INTERP_LINEAR"])
def test_small_and_empty_images(size, interp):
    (turned,) = ours(graph_of("rotate", angle=30.0, size=[6, 7], interp_type=interp, fill_value=4), [noise((*size, 3))])
    assert turned.shape == (6, 7, 3)
    if 0 in size:
        assert (turned == 4).all()
    else:
        compare("rotate", [noise((*size, 3))], angle=30.0, interp_type=interp, level=1)


@pytest.mark.parametrize("matrix", [[np.nan] * 6, [1e30, 0, 0, 0, 1e30, 0], [0, 0, np.inf, 0, 0, -np.inf], [0] * 6])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int16])
def test_mad_matrices_read_nothing_that_is_not_there(matrix, dtype):
    nodes = [np.array(matrix, np.float32).reshape(2, 3)]
    for fill in ({}, {"fill_value": 3}):
        for interp in ("INTERP_NN", "INTERP_LINEAR"):
            graph = graph_of("warp_affine", ("matrix",), interp_type=interp, **fill)
            assert ours(graph, [noise((8, 9, 3), dtype)], nodes)[0].shape == (8, 9, 3)


# Matrices and points


@given(st.data())
@settings(max_examples=40)
def test_transforms_are_dalis(data):
    draw = data.draw
    axes = draw(st.sampled_from([2, 3]))
    vector = st.lists(st.floats(-3, 3, width=32), min_size=axes, max_size=axes)
    shear = st.lists(st.floats(-3, 3, width=32), min_size=axes * (axes - 1), max_size=axes * (axes - 1))
    backwards = draw(st.booleans())
    offset, scale, center, corner, end = (each(draw, vector) for _ in range(5))
    end = [first + 1 + np.abs(last) for first, last in zip(corner, end, strict=True)]
    sheared = [np.reshape(row, (axes, axes - 1) if axes == 3 else (2,)) for row in each(draw, shear)]
    about = {"axis": [1.0, 2.0, -0.5]} if axes == 3 else {}

    def graph(m, angle, offset, scale, center, sheared, start, end):
        t, reverse = m.fn.transforms, {"reverse_order": backwards}
        matrix = t.rotation(t.translation(offset=offset), angle=angle, center=center, **about, **reverse)
        matrix = t.shear(t.scale(matrix, scale=scale, center=center, **reverse), shear=sheared, **reverse)
        window = t.crop(from_start=start, from_end=end, to_start=offset, to_end=1.0)
        return t.combine(matrix, window, t.scale(scale=2.0, ndim=axes), **reverse)

    inputs = (each(draw, ANGLES), offset, scale, center, sheared, corner, end)
    same(graph, *inputs, layouts=[""] * len(inputs), relative=1e-5)


@pytest.mark.parametrize(
    "arguments",
    [
        {"M": 2.5},
        {"M": 2.0, "T": [1, 2]},
        {"M": [1, 2, 3, 4, 5, 6], "T": 1.0},
        {"MT": [1, 2, 3, 4, 5, 6]},
        {"MT": np.float32([[1, 2, 3]])},
        {"MT": 3.0},
        {"T": [4, 5]},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int16, np.int32])
def test_coord_transform_is_dalis(arguments, dtype):
    points = [(noise((count, 2), np.uint8) // 8).astype(dtype) for count in (1, 7, 0)]
    compare("coord_transform", points, "", relative=1e-6, **arguments)
    if dtype != np.float32:
        name = {np.uint8: "UINT8", np.int16: "INT16", np.int32: "INT32"}[dtype]
        compare("coord_transform", points, "", level=0, dtype=name, **arguments)


def test_coord_transform_takes_a_matrix_for_each_sample():
    points = [noise((5, 2), np.float32, i) for i in range(3)]
    matrices = [noise((3, 3), np.float32, i) for i in range(3)]
    compare("coord_transform", points, "", {"MT": matrices}, relative=1e-6)
    compare("coord_transform", points, "", {"M": [m[:, :2].copy() for m in matrices], "T": [m[0] for m in matrices]})


@given(st.data())
@settings(max_examples=20)
def test_coord_flip_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(["", "x", "xy", "yx", "xyz", "zxy"]))
    count = len(layout) or draw(st.integers(1, 3))
    points = [noise((draw(st.integers(0, 6)), count), np.float32, i) for i in range(SAMPLES)]
    per_sample = {f"flip_{axis}": each(draw, st.integers(0, 1), np.int32) for axis in "xyz"}
    per_sample |= {f"center_{axis}": each(draw, st.floats(0, 9, width=32)) for axis in "xyz"}
    same(
        graph_of("coord_flip", tuple(per_sample), layout=layout),
        points,
        *per_sample.values(),
        layouts="",
        relative=1e-6,
    )


# Canvases and blots


@given(st.data())
@settings(max_examples=40)
def test_erase_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(["HWC", "CHW", "HW", "FHWC"]))
    dtype = draw(st.sampled_from([np.uint8, np.int16, np.uint32, np.int64, np.float16, np.float32]))
    batch = draw(batches(layout, dtype, most=14))
    axes = draw(st.sampled_from(["H", "WH", None]))
    each_ = len(axes or layout.replace("C", ""))
    count = each_ * draw(st.integers(1, 3))
    normalized = draw(st.booleans())
    high = 1.25 if normalized else 16
    numbers = st.lists(st.floats(-0.25 * high, high, width=32), min_size=count, max_size=count)
    arguments = {"normalized": normalized, "centered_anchor": draw(st.booleans())}
    arguments |= {"axis_names": axes} if axes else {}
    channels = batch[0].shape[layout.index("C")] if "C" in layout else 1
    fill = st.lists(st.integers(0, 120), min_size=channels, max_size=channels)
    per_sample = {"anchor": each(draw, numbers), "shape": each(draw, numbers), "fill_value": each(draw, fill)}
    compare("erase", batch, layout, per_sample, level=0, relative=0, **arguments)


@given(st.data())
@settings(max_examples=25)
def test_grid_mask_is_dalis(data):
    draw = data.draw
    batch = draw(batches(dtype=draw(st.sampled_from(DALI_TYPES)), most=40))
    per_sample = {"tile": each(draw, st.integers(1, 30), np.int32)}
    ranges = {"ratio": (0, 1), "angle": (-7, 7), "shift_x": (-50, 50), "shift_y": (-50, 50)}
    per_sample |= {name: each(draw, st.floats(*range_, width=32)) for name, range_ in ranges.items()}
    compare("grid_mask", batch, per_sample=per_sample, level=0, relative=0)


@given(st.data())
@settings(max_examples=30)
def test_paste_is_dalis(data):
    draw = data.draw
    batch = draw(batches(most=20))
    channels = batch[0].shape[2]
    fill = draw(st.lists(st.integers(0, 255), min_size=channels, max_size=channels))
    per_sample = {
        "ratio": each(draw, st.floats(1, 3, width=32)),
        "min_canvas_size": each(draw, st.floats(0, 30, width=32)),
    }
    per_sample |= {f"paste_{axis}": each(draw, st.floats(0, 1, width=32)) for axis in "xy"}
    compare("paste", batch, per_sample=per_sample, level=0, fill_value=fill, n_channels=channels)


@given(st.data())
@settings(max_examples=40)
def test_multi_paste_is_dalis(data):
    draw = data.draw
    size, parts = draw(st.tuples(st.integers(4, 20), st.integers(4, 20))), draw(st.integers(1, 3))
    dtype = draw(st.sampled_from(DALI_TYPES))
    pictures = [[noise((*size, 2), dtype, seed + i) for i in range(SAMPLES)] for seed in range(parts)]
    corner = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=parts, max_size=parts)
    extent = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=parts, max_size=parts)
    places = [each(draw, corner, np.int32), each(draw, extent, np.int32), each(draw, corner, np.int32)]
    ids = each(draw, st.lists(st.integers(0, SAMPLES - 1), min_size=parts, max_size=parts), np.int32)
    typed = {} if dtype == np.uint8 else {"dtype": draw(st.sampled_from(["UINT8", "FLOAT"]))}

    def graph(m, ids, begin, extent, target, *pictures):
        types = {key: getattr(m.types, value) for key, value in typed.items()}
        given_ = {"in_anchors": begin, "shapes": extent, "out_anchors": target} | types
        several = m.fn.multi_paste(*pictures, **given_)
        chosen = m.fn.multi_paste(pictures[0], in_ids=ids, output_size=size, **given_)
        fixed = m.fn.multi_paste(pictures[0], in_ids=np.arange(parts, dtype=np.int32) % SAMPLES, **given_)
        return m.fn.cat(several, chosen, fixed, axis=0)

    layouts = ["", "", "", "", *["HWC"] * parts]
    same(graph, ids, *places, *pictures, layouts=layouts, level=0, relative=0)


@given(st.data())
@settings(max_examples=20)
def test_multi_paste_takes_shares_as_dali_does(data):
    draw = data.draw
    batch = [noise((11, 13, 1), seed=i) for i in range(SAMPLES)]
    share = st.floats(0, 0.5, width=32)
    shares = {
        f"{name}_rel": each(draw, st.tuples(st.tuples(share, share)))
        for name in ("in_anchors", "shapes", "out_anchors")
    }
    compare("multi_paste", batch, per_sample=shares, level=0, output_size=[20, 21])
    ids = {"in_ids": [np.array([i], np.int32) for i in (2, 0, 1)]}
    compare("multi_paste", batch, per_sample=shares | ids, level=0, output_size=[20, 21])


def test_multi_paste_of_any_number_of_samples():
    """How many images a canvas has may differ from sample to sample."""
    batch = [noise((4, 4, 1), seed=i) for i in range(3)]
    ids = [np.array(chosen, np.int32) for chosen in ([0], [2, 1], [1, 1, 0])]
    anchors = [np.array([(4 * i, 0) for i in range(len(chosen))], np.int32) for chosen in ids]
    compare("multi_paste", batch, per_sample={"in_ids": ids, "out_anchors": anchors}, level=0, output_size=[12, 5])


@given(st.data())
@settings(max_examples=60)
def test_tensor_resize_is_dalis(data):
    draw = data.draw
    dims = draw(st.integers(1, 4))
    dtype = draw(st.sampled_from([np.uint8, np.float32]))
    batch = [noise([draw(st.integers(1, 9)) for _ in range(dims)], dtype, i) for i in range(SAMPLES)]
    first = draw(st.integers(0, dims - 1))
    axes = list(range(first, min(dims, first + draw(st.integers(1, 3)))))
    by_scale = draw(st.booleans())
    numbers = st.lists(
        st.floats(0.375, 2.5, width=32) if by_scale else st.integers(1, 15), min_size=len(axes), max_size=len(axes)
    )
    arguments = {"size_rounding": draw(st.sampled_from(["round", "truncate", "ceil"])), "axes": axes}
    arguments |= {
        "antialias": draw(st.booleans()),
        "interp_type": draw(st.sampled_from(["INTERP_NN", "INTERP_LINEAR", "INTERP_CUBIC"])),
    }
    if by_scale and first == 0:
        arguments["alignment"] = draw(st.sampled_from([0.0, 0.5, 1.0]))
    exact = arguments["interp_type"] == "INTERP_NN"
    per_sample = {"scales" if by_scale else "sizes": each(draw, numbers)}
    compare("tensor_resize", batch, "", per_sample, level=0 if exact else 1, relative=1e-3, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"sizes": [3, 4, 5]},
        {"sizes": 4},
        {"sizes": [3, 4], "axes": [1, 0]},
        {"sizes": [3, 4], "axes": [0, 2]},
        {"sizes": [3], "axis_names": "W"},
        {"sizes": [3, 0], "axes": [0, 1]},
        {"sizes": [3, 0], "axes": [0, 1], "mode": "stretch"},
        {"sizes": [12, 12], "axes": [0, 1], "mode": "not_larger"},
        {"sizes": [-6], "axes": [0]},
        {"sizes": [30, 40], "axes": [0, 1], "max_size": [10, 20]},
        {"sizes": [3, 4], "axes": [0, 1], "roi_start": [1, 1], "roi_end": [5, 3]},
        {"sizes": [3], "axes": [-3], "roi_start": [0.5], "roi_end": [0.1], "roi_relative": True},
    ],
    ids=str,
)
def test_tensor_resize_takes_dalis_arguments(arguments):
    compare("tensor_resize", [noise((6, 8, 3), np.float32)], relative=1e-3, **arguments)
    one, other = (
        ours(graph_of(name, **arguments), [noise((6, 8, 3))])
        for name in ("tensor_resize", "experimental.tensor_resize")
    )
    assert one[0].tobytes() == other[0].tobytes()


# What is refused


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("rotate", {}),
        ("rotate", {"angle": "north"}),
        ("rotate", {"angle": 1.0, "interp_type": 2}),
        ("rotate", {"angle": 1.0, "size": [0, 5]}),
        ("warp_affine", {}),
        ("warp_affine", {"matrix": [1, 2, 3]}),
        ("warp_affine", {"matrix": [1, 0, 0, 0, 1, 0], "size": [1, 2, 3, 4]}),
        ("coord_transform", {"M": 1.0, "MT": 1.0}),
        ("coord_flip", {"layout": "ab"}),
        ("erase", {"anchor": [1, 2, 3], "shape": [1, 2, 3]}),
        ("erase", {"anchor": [1, 2]}),
        ("erase", {"anchor": [1], "shape": [2], "axis_names": "Q"}),
        ("erase", {"anchor": [1, 2], "shape": [1, 2], "normalized": True, "normalized_shape": True}),
        ("grid_mask", {"tile": 0}),
        ("paste", {"ratio": 0.5, "fill_value": 0}),
        ("paste", {"ratio": 2.0}),
        ("paste", {"ratio": 2.0, "fill_value": [1, 2], "n_channels": 3}),
        ("paste", {"ratio": 2.0, "fill_value": 0, "paste_x": 1.5}),
        ("multi_paste", {"in_anchors": [0, 0], "in_anchors_rel": [0.0, 0.0]}),
        ("multi_paste", {"in_ids": [0, 1], "out_anchors": [1, 2, 3]}),
        ("tensor_resize", {}),
        ("tensor_resize", {"sizes": [3], "scales": [2.0]}),
        ("tensor_resize", {"sizes": [3, 3], "axes": [1, 1]}),
        ("tensor_resize", {"sizes": [3], "axes": [1], "axis_names": "W"}),
        ("tensor_resize", {"scales": [2.0], "axes": [1], "mode": "not_larger"}),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_where_they_are_written(operator, arguments):
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        pictures = fn.external_source(source=[[noise((5, 5, 3))]], layout="HWC")
        with pytest.raises(ArgumentError, match=rf"^{operator}: (?s:.*)created at test_geometry\.py:"):
            getattr(fn, operator)(pictures, **arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("transforms.translation", {}),
        ("transforms.scale", {"scale": [1, 2], "center": [1, 2, 3]}),
        ("transforms.scale", {"scale": 2.0, "ndim": 9}),
        ("transforms.rotation", {"angle": 1.0, "axis": [0, 0, 0]}),
        ("transforms.rotation", {"angle": 1.0, "center": [1, 2, 3]}),
        ("transforms.shear", {}),
        ("transforms.shear", {"shear": [1, 2], "angles": [1, 2]}),
        ("transforms.shear", {"shear": [1, 2, 3]}),
        ("transforms.shear", {"angles": [1, 91]}),
        ("transforms.crop", {"from_start": [1, 2], "from_end": [1, 2, 3]}),
    ],
    ids=str,
)
def test_wrong_matrices_are_refused(name, arguments):
    with pytest.raises(ArgumentError, match=rf"^{name}: (?s:.*)created at test_geometry\.py:"):
        operator(HERE, name)(**arguments)


def test_combine_needs_two_matrices():
    with pytest.raises(ArgumentError, match="two matrices"):
        fn.transforms.combine(fn.transforms.scale(scale=[1, 2]))


@pytest.mark.parametrize(
    ("graph", "inputs"),
    [
        (lambda m, x, n: m.fn.warp_affine(x, n, inverse_map=False), np.zeros((2, 3), np.float32)),
        (lambda m, x, n: m.fn.warp_affine(x, matrix=n), np.zeros((3, 4), np.float32)),
        (lambda m, x, n: m.fn.rotate(x, angle=n), np.array(np.nan, np.float32)),
        (lambda m, x, n: m.fn.rotate(x, angle=1.0, size=n), np.array([5, 5, 5], np.float32)),
        (lambda m, x, n: m.fn.erase(x, anchor=n, shape=n), np.array([5, 5, 5], np.float32)),
        (lambda m, x, n: m.fn.multi_paste(x, out_anchors=n), np.array([[1, 0]], np.int32)),
        (lambda m, x, n: m.fn.multi_paste(x, x, shapes=n), np.array([[1, 0]], np.int32)),
        (lambda m, x, n: m.fn.paste(x, ratio=n, fill_value=0), np.array(0.5, np.float32)),
        (lambda m, x, n: m.fn.coord_transform(x, MT=n), np.ones((2, 9), np.float32)),
    ],
)
def test_samples_that_do_not_fit_are_named(graph, inputs):
    with pytest.raises(DataError, match="argument"):
        run(graph, [noise((5, 5, 3))], [inputs])


def test_older_names_are_there():
    for name in (
        "WarpAffine",
        "Rotate",
        "MultiPaste",
        "GridMask",
        "CoordTransform",
        "TransformTranslation",
        "TensorResize",
    ):
        assert hasattr(DALI.ops, name) and hasattr(HERE.ops, name)
    mine, theirs = (
        run(
            lambda m, x: m.ops.WarpAffine(matrix=[1, 0, 2, 0, 1, 3], fill_value=0)(x), [noise((5, 5, 3))], module=module
        )
        for module in (HERE, DALI)
    )
    close(mine[0][0], theirs[0][0])
