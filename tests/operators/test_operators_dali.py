"""Every operator but the resize family against DALI, over sizes and arguments that hypothesis makes up."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE, dali_has, equal, make, noise, numpy_batch, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import peer

from pixelmill import types
from pixelmill.operators import REGISTRY
from pixelmill.operators.dali import DaliCall
from pixelmill.operators.declare import public_operators

dali_backend = peer("nvidia.dali.backend")

POLICIES = ["error", "pad", "trim_to_shape"]
LAYOUTS = ["", "HWC", "CHW", "FHWC", "FCHW", "CFHW", "DHWC", "CDHW"]
CASTS = [
    "UINT8",
    "INT8",
    "UINT16",
    "INT16",
    "UINT32",
    "INT32",
    "UINT64",
    "INT64",
    "FLOAT16",
    "FLOAT",
    "FLOAT64",
    "BOOL",
]
SAMPLES = 3

seeds = st.integers(0, 2**32 - 1)
shares = st.one_of(st.integers(0, 24).map(lambda number: number / 24), st.floats(0, 1, width=32))


@st.composite
def batches(draw, layout="HWC", dtype=np.uint8, least=1, most=24):
    """Make images of different extents and equally many channels and frames."""
    fixed = {"C": draw(st.integers(1, 4)), "F": draw(st.integers(1, 3))}
    side = st.integers(least, most)
    shapes = [[fixed.get(axis) or draw(side) for axis in layout or "HWC"] for _ in range(SAMPLES)]
    seed = draw(seeds)
    return [noise(shape, dtype, seed + i) for i, shape in enumerate(shapes)]


def each(draw, values, dtype=np.float32):
    """Make one value for every sample."""
    return [np.array(draw(values), dtype) for _ in range(SAMPLES)]


def compare(operator, batch, layout, per_sample, *, level=0, real=0.0, **constants):
    """Run an operator by both, with the arguments of each sample as nodes and types by their names."""

    def graph(m, data, *nodes):
        arguments = {key: getattr(m.types, v) if key == "dtype" else v for key, v in constants.items()}
        return getattr(m.fn, operator)(data, **dict(zip(per_sample, nodes, strict=True)), **arguments)

    layouts = [layout] + [""] * len(per_sample)
    return equal(graph, batch, *per_sample.values(), layouts=layouts, level=level, real=real)


# Declarations


def dali_schema(name):
    spec = REGISTRY[name]
    module = DALI.ops
    for part in name.split(".")[:-1]:
        module = getattr(module, part)
    return dali_backend.GetSchema(getattr(module, spec.class_name).schema_name)


# Operators that must have DALI's arguments: those that it has, and those that are declared as a call of DALI.
# DALI writes external_source in Python, and does not repeat the arguments of what has left its experimental module.
DECLARED = sorted(
    name
    for name, spec in public_operators().items()
    if (isinstance(spec.dali, DaliCall) or dali_has(name))
    and name != "external_source"
    and not (name.startswith("experimental.") and name[len("experimental.") :] in REGISTRY)
)


# What readers take beyond DALI's arguments, for files at addresses.
REMOTE_ARGUMENTS = {"cache_size", "read_ahead_bytes", "shuffle_mode", "shuffle_window", "storage_options"}
REMOTE_READERS = {f"readers.{name}" for name in ("coco", "file", "mxnet", "numpy", "tfrecord", "webdataset")}


@pytest.mark.parametrize("name", DECLARED)
def test_arguments_are_those_of_dali(name):
    schema, spec = dali_schema(name), REGISTRY[name]
    known = {*spec.arguments, *spec.ignored, *spec.renamed, "device", "name", "seed"}
    assert set(schema.GetArgumentNames()) - known == set()
    ours = REMOTE_ARGUMENTS if name in REMOTE_READERS else set()
    assert set(spec.arguments) - set(schema.GetArgumentNames()) == ours
    assert schema.MinNumInput() == spec.required_inputs or spec.many_inputs
    assert schema.MaxNumInput() == len(spec.inputs) or spec.many_inputs


@pytest.mark.parametrize("name", DECLARED)
def test_arguments_may_differ_between_samples_where_dalis_may(name):
    schema, spec = dali_schema(name), REGISTRY[name]
    theirs = {key for key in spec.arguments if schema.IsTensorArgument(key)}
    theirs.discard("axes")  # the window of a slice is fused with decoding, so its axes are known when the graph is
    assert theirs - {key for key, argument in spec.arguments.items() if argument.per_sample} == set()


# crop, slice, flip


@given(st.data())
@settings(max_examples=150)
def test_crop_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(LAYOUTS))
    batch = draw(batches(layout, draw(st.sampled_from([np.uint8, np.int16, np.float32])), least=1, most=12))
    solid = "D" in layout
    extent = st.integers(1, 20)
    per_sample = {f"crop_pos_{axis}": each(draw, shares) for axis in ("xyz" if solid else "xy") if draw(st.booleans())}
    if draw(st.booleans()):
        per_sample["crop"] = each(draw, st.lists(extent, min_size=2 + solid, max_size=2 + solid))
    else:
        per_sample |= {f"crop_{axis}": each(draw, extent) for axis in ("hwd" if solid else "hw")}
    constants = {"out_of_bounds_policy": draw(st.sampled_from(POLICIES[1:]))}
    constants["rounding"] = draw(st.sampled_from(["round", "truncate"]))
    if draw(st.booleans()):
        constants["fill_values"] = draw(st.sampled_from([7, [9.0]]))
    if draw(st.booleans()):
        constants["dtype"] = draw(st.sampled_from(["UINT8", "FLOAT", "FLOAT16"]))
    # DALI rounds floats that lie between two halves away from zero here, IEEE 754 and its own cast to even.
    half = 2**-11 if constants.get("dtype") == "FLOAT16" and batch[0].dtype.kind == "f" else 0.0
    compare("crop", batch, layout, per_sample, level=cut_fractions(batch, constants), real=half, **constants)


def cut_fractions(batch, constants):
    """Allow one level where floats become bytes: DALI's crop and slice cut fractions off, ours round as `cast` does."""
    return int(batch[0].dtype.kind == "f" and constants.get("dtype") == "UINT8")


def test_crop_fills_each_channel_with_its_value_as_dali_does():
    batch = [noise((5, 6, 3)), noise((9, 3, 3))]
    arguments = {"crop": (8, 8), "out_of_bounds_policy": "pad", "fill_values": [1, 250, 5]}
    compare("crop", batch, "HWC", {}, **arguments)
    compare("crop", [np.ascontiguousarray(x.transpose(2, 0, 1)) for x in batch], "CHW", {}, **arguments)


def test_crop_without_a_size_keeps_the_image_as_dali_does():
    compare("crop", [noise((5, 6, 3))], "HWC", {}, crop_pos_x=0.1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"crop": (20, 3)},
        {"crop": (3, 3), "crop_h": 3, "crop_w": 3},
        {"crop_h": 3},
        {"crop": (3, 3), "crop_pos_x": 1.5},
        {"crop": (3, 3), "crop_pos_y": -0.5},
        {"crop": (3, 3, 3, 3)},
        {"crop": (3, 3), "rounding": "up"},
        {"crop": (30, 3), "out_of_bounds_policy": "mirror"},
        {"crop": (30, 3), "out_of_bounds_policy": "pad", "fill_values": [1, 2]},
    ],
    ids=str,
)
def test_crop_refuses_what_dali_refuses(arguments):
    assert refused(lambda m, x: m.fn.crop(x, **arguments), [noise((8, 9, 3))]) == (True, True)


@st.composite
def slice_bounds(draw, batch, axes):
    """Make one of the ways to tell a window; with `shape` and `rel_shape` also without a start."""
    way = draw(
        st.sampled_from(["start end", "start shape", "rel_start rel_end", "rel_start rel_shape", "end", "rel_shape"])
    )
    whole = st.lists(st.integers(0, 14), min_size=len(axes), max_size=len(axes))
    share = st.lists(shares, min_size=len(axes), max_size=len(axes))
    drawn = {key: each(draw, share if key.startswith("rel") else whole, np.float32) for key in way.split()}
    for low, high in (("start", "end"), ("rel_start", "rel_end")):
        if low in drawn and high in drawn:
            pairs = [np.sort([a, b], axis=0) for a, b in zip(drawn[low], drawn[high], strict=True)]
            drawn[low], drawn[high] = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if "rel_shape" in drawn:  # an empty share may end before it starts in DALI's arithmetic
        drawn["rel_shape"] = [np.maximum(shape, np.float32(0.01)) for shape in drawn["rel_shape"]]
    return {key: v if key.startswith("rel") else [x.astype(np.int32) for x in v] for key, v in drawn.items()}


@given(st.data())
@settings(max_examples=200)
def test_slice_by_names_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(["HWC", "CHW", "DHWC"]))
    batch = draw(batches(layout, draw(st.sampled_from([np.uint8, np.int16, np.float32])), most=12))
    names = draw(st.sampled_from(["WH", "HW", "W", "HC"]))
    constants = {"axis_names": names} if draw(st.booleans()) else {"axes": [layout.index(axis) for axis in names]}
    constants["out_of_bounds_policy"] = draw(st.sampled_from(POLICIES[1:]))
    if draw(st.booleans()):
        constants["fill_values"] = 3  # type: ignore[assignment]
    if draw(st.booleans()):
        constants["dtype"] = draw(st.sampled_from(["UINT8", "FLOAT"]))
    bounds = draw(slice_bounds(batch, names))
    compare("slice", batch, layout, bounds, level=cut_fractions(batch, constants), **constants)


@given(st.data())
@settings(max_examples=200)
def test_slice_by_anchor_and_shape_is_dalis(data):
    draw = data.draw
    batch = draw(batches(dtype=draw(st.sampled_from([np.uint8, np.float32]))))
    whole, share = (st.lists(values, min_size=2, max_size=2) for values in (st.integers(0, 20), shares))
    values, kind = draw(st.sampled_from([(whole, np.int32), (whole, np.float32), (share, np.float32)]))
    anchor, shape = each(draw, values, kind), each(draw, values, kind)
    constants = {"out_of_bounds_policy": draw(st.sampled_from(POLICIES[1:]))}
    constants |= {key: draw(st.booleans()) for key in ("normalized_anchor", "normalized_shape")}
    if draw(st.booleans()):
        constants["axis_names"] = "HW"
    equal(lambda m, *nodes: m.fn.slice(*nodes, **constants), batch, anchor, shape, level=0, real=0)


@pytest.mark.parametrize("positional", [(1, 3), (0.25, 0.5), ([1, 2], [3, 4]), ([0.1, 0.2], [0.3, 0.4])], ids=str)
def test_slice_takes_plain_numbers_as_dali_does(positional):
    axes = [0] if np.ndim(positional[0]) == 0 else [0, 1]
    graph = lambda m, x: m.fn.slice(x, *positional, axes=axes)  # noqa: E731
    equal(graph, [noise((9, 11, 3)), noise((12, 7, 3))], level=0)
    equal(graph, [noise((9, 11)), noise((12, 7))], level=0, layouts="")


@pytest.mark.parametrize(
    "arguments",
    [
        {"start": [0, 0], "end": [99, 3]},
        {"start": [0, 0], "end": [3, 3], "shape": [3, 3]},
        {"start": [0, 0], "rel_start": [0.0, 0.0], "end": [3, 3]},
        {"rel_start": [0.5, 0.5], "rel_end": [0.2, 0.2]},
        {"start": [0, 0, 0], "end": [3, 3, 3]},
        {"start": [0], "end": [3], "axes": [7]},
        {"start": [0], "end": [3], "axis_names": "Q"},
    ],
    ids=str,
)
def test_slice_refuses_what_dali_refuses(arguments):
    assert refused(lambda m, x: m.fn.slice(x, **arguments), [noise((8, 9, 3))]) == (True, True)


@given(st.data())
@settings(max_examples=60)
def test_flip_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(["", "HWC", "CHW", "FHWC", "DHWC", "CDHW"]))
    batch = draw(batches(layout, draw(st.sampled_from([np.uint8, np.uint16, np.float32])), most=9))
    sides = ["horizontal", "vertical", "depthwise"] if "D" in layout else ["horizontal", "vertical"]
    chosen = [side for side in sides if draw(st.booleans())]
    compare("flip", batch, layout, {side: each(draw, st.integers(0, 1), np.int32) for side in chosen})


# crop_mirror_normalize


@given(st.data())
@settings(max_examples=250)
def test_crop_mirror_normalize_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(["", "HWC", "HWC", "CHW", "FHWC", "DHWC"]))
    batch = draw(batches(layout, draw(st.sampled_from([np.uint8, np.uint8, np.int16, np.float32])), most=14))
    channels = batch[0].shape[(layout or "HWC").index("C")]
    policy = draw(st.sampled_from(POLICIES[1:]))
    per_sample = {"mirror": each(draw, st.integers(0, 1), np.int32)}
    if draw(st.booleans()):
        count = 2 + ("D" in layout)
        per_sample["crop"] = each(draw, st.lists(st.integers(1, 18), min_size=count, max_size=count))
        per_sample |= {f"crop_pos_{axis}": each(draw, shares) for axis in "xy"}
    constants = {"out_of_bounds_policy": policy, "pad_output": draw(st.booleans())}
    constants["dtype"] = draw(st.sampled_from(["FLOAT", "FLOAT", "FLOAT16", "UINT8", "INT8"]))
    values = st.one_of(
        st.floats(0, 200, width=32), st.lists(st.floats(0, 200, width=32), min_size=channels, max_size=channels)
    )
    if draw(st.booleans()):
        constants["mean"] = draw(values)
    if draw(st.booleans()):
        constants["std"] = draw(st.sampled_from([58.0, [57.375], [4.5] * channels]))
    if draw(st.booleans()):
        constants |= {"scale": draw(st.sampled_from([0.5, 127.0])), "shift": draw(st.sampled_from([1.0, -3.25, 128.0]))}
    if draw(st.booleans()):
        constants["output_layout"] = draw(st.sampled_from(output_layouts(layout)))
    elif layout not in ("", "HWC", "CHW"):
        constants["output_layout"] = layout
    if policy == "pad" and draw(st.booleans()):
        constants["fill_values"] = draw(st.sampled_from([7.0, [100.0]]))
    largest = max(float(np.abs(x.astype(np.float64)).max()) for x in batch)
    compare(
        "crop_mirror_normalize", batch, layout, per_sample, level=1, real=tolerance(constants, largest), **constants
    )


def output_layouts(layout):
    return {"FHWC": ["FHWC", "FCHW"], "DHWC": ["DHWC", "CDHW"]}.get(layout, ["HWC", "CHW"])


def tolerance(constants, largest):
    """Say what one rounding of the largest result is, in the type of the result; but at least DALI's 1e-3."""
    smallest_std = np.min(constants.get("std", 1.0))
    value = constants.get("scale", 1.0) * (largest + np.max(constants.get("mean", 0.0))) / smallest_std
    return max(1e-3, (value + 128) * (2**-10 if constants["dtype"] == "FLOAT16" else 2**-22))


def test_each_channel_has_its_fill_after_the_normalization_as_in_dali():
    constants = {"mean": [1.0, 2.0, 3.0], "std": [4.0, 5.0, 6.0], "fill_values": [7.0, 8.0, 9.0]}
    batch = [noise((6, 7, 3)), noise((20, 3, 3))]
    compare("crop_mirror_normalize", batch, "HWC", {}, crop=(9, 9), out_of_bounds_policy="pad", real=1e-3, **constants)


def test_mean_and_std_may_differ_between_samples_as_in_dali():
    batch = [noise((6, 7, 3), seed=i) for i in range(2)]
    mean, std = ([np.array(v, np.float32) for v in rows] for rows in (([1, 2, 3], [4, 5, 6]), ([7, 8, 9], [2, 3, 4])))
    compare("crop_mirror_normalize", batch, "HWC", {"mean": mean, "std": std}, real=1e-3)


@pytest.mark.parametrize(
    "arguments",
    [
        {"crop": (20, 3)},
        {"mean": [1.0, 2.0]},
        {"std": [1.0, 2.0]},
        {"dtype": "INT32"},
        {"output_layout": "HW"},
        {"output_layout": "XYZ"},
    ],
    ids=str,
)
def test_crop_mirror_normalize_refuses_what_dali_refuses(arguments):
    def graph(m, x):
        given = {key: getattr(m.types, v) if key == "dtype" else v for key, v in arguments.items()}
        return m.fn.crop_mirror_normalize(x, **given)

    assert refused(graph, [noise((8, 9, 3))]) == (True, True)


# cast, transpose, pad


def cast_samples(dtype):
    """Make values at and around the limits of all types."""
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return np.array([True, False])
    if kind.kind == "f":
        limits = [
            127,
            128,
            255,
            256,
            32767,
            32768,
            65504,
            65520,
            65535,
            65536,
            2**31 - 1,
            2**31,
            2**32,
            2**53,
            2**63,
            2**64,
        ]
        values = [
            0,
            0.25,
            0.49,
            0.5,
            0.51,
            1,
            1.5,
            2.5,
            3.5,
            1e-3,
            1e-8,
            np.inf,
            np.nan,
            *limits,
            *(x + 0.5 for x in limits[:8]),
        ]
        with np.errstate(over="ignore"):
            return np.array([*values, *(-x for x in values)], dtype)
    whole = np.iinfo(kind)
    near = [
        0,
        1,
        2,
        2049,  # halfway between two numbers of half precision
        2051,
        127,
        128,
        200,
        255,
        256,
        32767,
        32768,
        65535,
        2**31 - 1,
        2**31,
        2**63 - 1,
        whole.max - 1,
        whole.max,
    ]
    near += [-x for x in near] + [whole.min]
    return np.array([x for x in near if whole.min <= x <= whole.max], dtype)


NUMPY = {name: types.to_numpy_type(getattr(types, name)) for name in CASTS}


@pytest.mark.parametrize("source", CASTS)
def test_cast_rounds_and_saturates_as_dali_does(source):
    batch = [cast_samples(NUMPY[source])]
    for target in CASTS:
        graph = lambda m, x: m.fn.cast(x, dtype=getattr(m.types, target))  # noqa: B023, E731
        theirs, mine = (numpy_batch(make(m, graph, batch, layouts="").run()[0])[0] for m in (DALI, HERE))
        assert mine.dtype == theirs.dtype, target
        np.testing.assert_array_equal(mine, theirs, err_msg=target)


@given(st.data())
@settings(max_examples=60)
def test_transpose_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(["HWC", "HW", "DHWC", "FDHWC", ""]))
    batch = draw(batches(layout, draw(st.sampled_from([np.uint8, np.int64, np.float32, np.float16])), most=9))
    ndim = batch[0].ndim
    constants = {"perm": draw(st.permutations(range(ndim)))} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        constants["transpose_layout"] = draw(st.booleans())
    if draw(st.booleans()):
        constants["output_layout"] = "ABCDE"[:ndim]
        constants.pop("transpose_layout", None)
    compare("transpose", batch, layout, {}, **constants)


@pytest.mark.parametrize("perm", [[0, 1], [0, 1, 1], [0, 1, 3], [0, 1, 2, 3]], ids=str)
def test_transpose_refuses_what_dali_refuses(perm):
    assert refused(lambda m, x: m.fn.transpose(x, perm=perm), [noise((3, 4, 2))]) == (True, True)


@given(st.data())
@settings(max_examples=120)
def test_pad_is_dalis(data):
    draw = data.draw
    layout = draw(st.sampled_from(["HWC", "HW"]))
    batch = draw(batches(layout, draw(st.sampled_from([np.uint8, np.int16, np.float32])), most=9))
    axes = draw(st.lists(st.integers(0, len(layout) - 1), unique=True, min_size=1))
    constants, per_sample = {"fill_value": draw(st.sampled_from([0, 1, 100.0]))}, {}
    named = draw(st.sampled_from([None, "axes", "axis_names"]))
    if named:
        constants[named] = axes if named == "axes" else "".join(layout[axis] for axis in axes)
    count = len(axes) if named else len(layout)
    if draw(st.booleans()):
        per_sample["align"] = each(draw, st.lists(st.integers(1, 5), min_size=count, max_size=count), np.int32)
    if draw(st.booleans()):
        per_sample["shape"] = each(draw, st.lists(st.integers(-1, 12), min_size=count, max_size=count), np.int32)
    compare("pad", batch, layout, per_sample, **constants)


def test_pad_takes_a_fill_of_each_sample_as_dali_does():
    batch = [noise((3, 4)), noise((5, 2))]
    compare("pad", batch, "HW", {"fill_value": [np.float32(3), np.float32(9)]})
