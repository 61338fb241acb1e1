"""The resize family against DALI: sizes, filters, regions, layouts and element types that hypothesis makes up."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, close, equal, noise, refused, run
from hypothesis import given, settings
from hypothesis import strategies as st

FILTERS = ["NN", "LINEAR", "CUBIC", "LANCZOS3", "TRIANGULAR", "GAUSSIAN"]
MODES = ["default", "stretch", "not_larger", "not_smaller"]
TYPES = [np.uint8, np.int16, np.uint16, np.float32]
FLAT = ["", "HWC", "CHW", "FHWC", "FCHW", "CFHW"]
SOLID = ["DHWC", "CDHW", "FDHWC", "FCDHW", "CFDHW"]
LAYOUTS = dict.fromkeys(FLAT, "HW") | dict.fromkeys(SOLID, "DHW")
SAMPLES = 3

sides = st.integers(1, 40)
filters = st.sampled_from(FILTERS)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def batches(draw, layout="HWC", dtype=np.uint8, most=40):
    """Make images of different extents and equally many channels."""
    fixed = {"C": draw(st.integers(1, 4)), "F": draw(st.integers(1, 3))}
    small = {"D": st.integers(1, 7)}
    side = st.integers(1, most)
    shapes = [[fixed.get(axis) or draw(small.get(axis, side)) for axis in layout or "HWC"] for _ in range(SAMPLES)]
    seed = draw(seeds)
    return [noise(shape, dtype, seed + i) for i, shape in enumerate(shapes)]


def each(draw, values):
    """Make one value for every sample."""
    return [np.array(draw(values), np.float32) for _ in range(SAMPLES)]


@st.composite
def wanted_sizes(draw, dims):
    """Make one of the ways to tell the size; values differ from sample to sample, those of volumes are small."""
    most = 50 if dims == 2 else 12
    way = draw(st.sampled_from(["size", "xy", "x", "y", "resize_shorter", "resize_longer"]))
    size = st.one_of(st.integers(1, most), st.floats(0.625, most, width=32))
    if way in ("x", "y"):
        return {f"resize_{way}": each(draw, size)}
    if way == "xy":
        return {"resize_x": each(draw, size), "resize_y": each(draw, size)}
    if way == "size":
        signed = st.one_of(size, st.just(0), st.floats(-most, -0.625, width=32))
        return {"size": each(draw, st.lists(signed, min_size=dims, max_size=dims))}
    return {way: each(draw, size)}


@st.composite
def regions(draw, batch, layout, relative):
    """Make a window for every sample; its start may lie after its end."""
    names = layout or "HWC"
    starts, ends = [], []
    for image in batch:
        extents = [1 if relative else image.shape[names.index(axis)] for axis in LAYOUTS[layout]]
        edges = [sorted(draw(st.tuples(*[st.floats(0, 1, width=32)] * 2))) for _ in extents]
        edges = [(low, max(high, low + 0.05)) for low, high in edges]  # type: ignore[misc]
        edges = [pair[::-1] if draw(st.booleans()) else pair for pair in edges]
        starts.append(np.array([edge[0] * n for edge, n in zip(edges, extents, strict=True)], np.float32))
        ends.append(np.array([edge[1] * n for edge, n in zip(edges, extents, strict=True)], np.float32))
    return {"roi_start": starts, "roi_end": ends}


def compare_resize(batch, layout, per_sample, *, filters, operator="resize", **constants):
    """Resize by both, with arguments of each sample as nodes."""
    names = list(per_sample)

    def graph(m, pictures, *nodes):
        chosen = {key: getattr(m.types, f"INTERP_{name}") for key, name in filters.items()}
        arguments = dict(zip(names, nodes, strict=True))
        return getattr(m.fn, operator)(pictures, **arguments, **chosen, **constants)

    exact = set(filters.values()) == {"NN"}
    layouts = [layout] + [""] * len(names)
    equal(graph, batch, *per_sample.values(), layouts=layouts, level=0 if exact else 1, real=0 if exact else 1e-3)


@given(st.data())
@settings(max_examples=250)
def test_resize_is_dalis_in_every_mode_with_every_filter(data):
    draw = data.draw
    batch = draw(batches(dtype=draw(st.sampled_from(TYPES))))
    per_sample = draw(wanted_sizes(2))
    free = next(iter(per_sample)) not in ("resize_shorter", "resize_longer")
    constants = {"mode": draw(st.sampled_from(MODES))} if free else {}
    constants["subpixel_scale"] = draw(st.booleans())
    constants["antialias"] = draw(st.booleans())
    if draw(st.booleans()):
        constants["max_size"] = draw(st.sampled_from([25, [20, 33], 1.5]))
    compare_resize(batch, "HWC", per_sample, filters={"interp_type": draw(filters)}, **constants)


@given(st.data())
@settings(max_examples=120)
def test_resize_takes_regions_as_dali_does(data):
    draw = data.draw
    batch = draw(batches(dtype=draw(st.sampled_from(TYPES))))
    relative = draw(st.booleans())
    per_sample = draw(wanted_sizes(2)) | draw(regions(batch, "HWC", relative))
    constants = {"roi_relative": relative, "antialias": draw(st.booleans()), "subpixel_scale": draw(st.booleans())}
    compare_resize(batch, "HWC", per_sample, filters={"interp_type": draw(filters)}, **constants)


@given(st.data())
@settings(max_examples=80)
def test_filters_for_shrinking_and_growing_are_chosen_as_dali_does(data):
    draw = data.draw
    batch = draw(batches())
    chosen = {"min_filter": draw(filters), "mag_filter": draw(filters)}
    if draw(st.booleans()):
        del chosen[draw(st.sampled_from(sorted(chosen)))]
        chosen["interp_type"] = draw(filters)
    per_sample = {"size": each(draw, st.tuples(st.integers(1, 60), st.integers(1, 60)))}
    compare_resize(batch, "HWC", per_sample, filters=chosen, antialias=draw(st.booleans()))


@given(st.data())
@settings(max_examples=120)
def test_resize_takes_every_layout_dali_takes(data):
    draw = data.draw
    layout = draw(st.sampled_from(sorted(LAYOUTS)))
    batch = draw(batches(layout, draw(st.sampled_from(TYPES)), most=16))
    per_sample = draw(wanted_sizes(len(LAYOUTS[layout])))
    if draw(st.booleans()):
        per_sample |= draw(regions(batch, layout, relative=True))
    constants = {"roi_relative": True, "dtype": draw(st.sampled_from([None, "FLOAT"]))}
    names = list(per_sample)
    interp = draw(filters)

    def graph(m, pictures, *nodes):
        given = dict(constants)
        if given.pop("dtype"):
            given["dtype"] = m.types.FLOAT
        if "roi_start" not in names:
            del given["roi_relative"]
        filter_type = getattr(m.types, f"INTERP_{interp}")
        return m.fn.resize(pictures, **dict(zip(names, nodes, strict=True)), interp_type=filter_type, **given)

    layouts = [layout] + [""] * len(names)
    real = {np.uint8: 1e-3, np.float32: 1e-3}.get(batch[0].dtype.type, 0.25)  # of 65535, as much as 1e-3 of 255
    equal(graph, batch, *per_sample.values(), layouts=layouts, level=0 if interp == "NN" else 1, real=real)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_save_attrs_gives_dalis_old_extents(layout):
    shape = {"H": 9, "W": 14, "C": 3, "D": 4, "F": 2}
    batch = [noise([shape[axis] + (axis in "HW") * i for axis in layout or "HWC"], seed=i) for i in range(SAMPLES)]
    equal(lambda m, x: m.fn.resize(x, resize_x=7, save_attrs=True), batch, layouts=layout)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"size": 5, "resize_x": 5},
        {"resize_shorter": 5, "resize_longer": 5},
        {"resize_shorter": 5, "mode": "stretch"},
        {"size": 5, "roi_start": [0.0, 0.0]},
        {"size": [5, 6, 7]},
        {"size": 5, "mode": "sideways"},
        {"resize_y": [4, 5]},
    ],
    ids=str,
)
def test_resize_refuses_what_dali_refuses(arguments):
    batch = [noise((9, 8, 3))]
    assert refused(lambda m, x: m.fn.resize(x, **arguments), batch) == (True, True)


def test_two_axes_without_names_are_refused_as_in_dali():
    assert refused(lambda m, x: m.fn.resize(x, size=4), [noise((9, 8))], layouts="") == (True, True)


@given(st.data())
@settings(max_examples=120)
def test_resize_crop_mirror_is_dalis(data):
    draw = data.draw
    batch = draw(batches(dtype=draw(st.sampled_from([np.uint8, np.float32]))))
    per_sample = {"resize_shorter": each(draw, st.integers(5, 40))}
    per_sample |= {name: each(draw, st.floats(0, 1, width=32)) for name in ("crop_pos_x", "crop_pos_y")}
    per_sample["mirror"] = [np.array(draw(st.integers(0, 1)), np.int32) for _ in range(SAMPLES)]
    constants = {"crop": draw(st.tuples(st.integers(1, 5), st.integers(1, 5))), "antialias": draw(st.booleans())}
    constants["rounding"] = draw(st.sampled_from(["round", "truncate"]))
    chosen = {"interp_type": draw(filters)}
    compare_resize(batch, "HWC", per_sample, filters=chosen, operator="resize_crop_mirror", **constants)


@pytest.mark.parametrize("interp", FILTERS)
@pytest.mark.parametrize("size", [(224, 224), (100, 37), (511, 700)])
def test_images_of_real_sizes_resize_as_dalis(interp, size):
    batch = [noise((333, 500, 3)), noise((480, 301, 3))]
    graph = lambda m, x: m.fn.resize(x, size=size, interp_type=getattr(m.types, f"INTERP_{interp}"))  # noqa: E731
    equal(graph, batch, level=0 if interp == "NN" else 1)


def test_random_resized_crop_resamples_its_window_as_dali_does():
    """An operator of the same seed tells which window was drawn; DALI is handed that."""
    batch = [noise((61, 83, 3)), noise((40, 200, 3)), noise((150, 30, 3)), noise((1, 9, 3)), noise((9, 1, 3))]
    shapes = [np.array(image.shape, np.int64) for image in batch]
    size = (24, 31)

    def drawn(m, pictures, shape):
        return *m.fn.random_crop_generator(shape, seed=5), m.fn.random_resized_crop(pictures, size=size, seed=5)

    anchors, extents, mine = run(drawn, batch, shapes)
    ends = [anchor + extent for anchor, extent in zip(anchors, extents, strict=True)]
    edges = [[edge.astype(np.float32) for edge in side] for side in (anchors, ends)]
    resized = lambda m, x, start, end: m.fn.resize(x, size=size, roi_start=start, roi_end=end)  # noqa: E731
    (theirs,) = run(resized, batch, *edges, module=DALI)
    for got, wanted in zip(mine, theirs, strict=True):
        close(got, wanted)
