"""Reductions and normalization against DALI, over shapes, types and axes that hypothesis makes up."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE, make, noise, numpy_batch, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_comparison import VIEWS, near, on_each_level

from pixelmill import ArgumentError, DataError, fn, types

INTEGERS = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]
REDUCTIONS = ["sum", "mean", "mean_square", "rms", "min", "max"]
AROUND = ["variance", "std_dev"]


def numbers(shape, dtype, seed=0):
    """Make elements whose squares DALI can add up without an overflow."""
    random = np.random.default_rng([seed, *shape])
    if np.dtype(dtype).kind == "f":
        return random.normal(3, 10, shape).astype(dtype)
    most = min(np.iinfo(dtype).max, 40000 if dtype != np.uint16 else 30000)
    return random.integers(max(np.iinfo(dtype).min, -most), most, shape, dtype, endpoint=True)


@st.composite
def batches(draw, dtype, least=1):
    """Make arrays of one rank and of different extents."""
    rank = draw(st.integers(1, 4))
    shapes = [tuple(draw(st.integers(least, 7)) for _ in range(rank)) for _ in range(2)]
    return [numbers(shape, dtype, i) for i, shape in enumerate(shapes)]


def as_dali(graph, *inputs, layouts=None, relative=1e-4):
    """Demand DALI's results, types, shapes and names of axes."""
    names = layouts or [""] * len(inputs)
    theirs, mine, apart = (
        make(module, graph, *inputs, layouts=names, **options).run()
        for module, options in ((DALI, {}), (HERE, {}), (HERE, {"optimize": False}))
    )
    for here, there, alone in zip(mine, theirs, apart, strict=True):
        assert here.layout() == there.layout()
        for got, wanted, other in zip(*map(numpy_batch, (here, there, alone)), strict=True):
            finite = np.isfinite(wanted)
            np.testing.assert_array_equal(got[~finite], wanted[~finite])
            near(np.where(finite, got, 0), np.where(finite, wanted, 0), level=0, relative=relative)
            assert got.tobytes() == other.tobytes()


def ours(graph, *inputs, layouts=None):
    return [numpy_batch(batch) for batch in make(HERE, graph, *inputs, layouts=layouts or [""] * len(inputs)).run()]


def reduced(module, name):
    return getattr(module.fn.reductions, name)


# Reductions


@pytest.mark.parametrize("name", REDUCTIONS)
@given(st.data())
@settings(max_examples=40)
def test_reductions_are_dalis(name, data):
    batch = data.draw(batches(data.draw(st.sampled_from([*INTEGERS, np.float32]))))
    rank = batch[0].ndim
    arguments = {"keep_dims": data.draw(st.booleans())}
    layout = data.draw(st.sampled_from(["", "ABCD"[:rank]]))
    if data.draw(st.booleans()):
        arguments["axes"] = data.draw(st.lists(st.integers(0, rank - 1), max_size=rank, unique=True))
        arguments["axes"] = [axis - rank * data.draw(st.booleans()) for axis in arguments["axes"]]
    elif layout and data.draw(st.booleans()):
        arguments["axis_names"] = "".join(data.draw(st.lists(st.sampled_from(layout), min_size=1, unique=True)))
    as_dali(lambda m, x: reduced(m, name)(x, **arguments), batch, layouts=[layout])


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axes", [None, [0], [1], [2], [0, 1], [1, 2], [0, 2]], ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
def test_large_samples_are_reduced_as_dalis(name, axes, dtype):
    batch = [numbers((97, 131, channels), dtype) for channels in (1, 3, 5)]
    for x in batch:
        as_dali(lambda m, x: reduced(m, name)(x, axes=axes), [x], layouts=["HWC"])


@pytest.mark.parametrize("name", [*REDUCTIONS, *AROUND])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_instructions_change_no_bit(name, dtype):
    extra = [100.0] if name in AROUND else []
    batch = [numbers((97, 131, 3), dtype)]
    on_each_level(lambda m, x: reduced(m, name)(x, *extra, axes=[0, 1]), batch)
    on_each_level(lambda m, x: reduced(m, name)(x, *extra), batch)


@pytest.mark.parametrize("name", [*REDUCTIONS, *AROUND])
@pytest.mark.parametrize("view", VIEWS)
def test_views_are_reduced_like_copies(name, view):
    batch = [noise((40, 33, 3)), noise((9, 11, 3), seed=1)]

    def graph(m, x):
        turned = VIEWS[view](m, x)
        extra = [m.fn.reductions.mean(turned, axes=[0, 1])] if name in AROUND else []
        return reduced(m, name)(turned, *extra, axes=[0, 1])

    as_dali(graph, batch, layouts=["HWC"])


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize("dtype", [*INTEGERS, np.float32])
@pytest.mark.parametrize("axes", [None, [0], [0, 1], [1, 2]], ids=str)
@pytest.mark.parametrize("keep_dims", [False, True])
def test_distances_from_a_mean_are_dalis(name, dtype, axes, keep_dims):
    batch = [numbers((7, 5, 3), dtype), numbers((33, 40, 3), dtype)]

    def graph(m, x):
        mean = m.fn.reductions.mean(x, axes=axes, keep_dims=keep_dims)
        return [reduced(m, name)(x, mean, axes=axes, keep_dims=keep_dims, ddof=ddof) for ddof in (0, 1)]

    as_dali(graph, batch, layouts=["HWC"], relative=2e-4)


@pytest.mark.parametrize("ddof", [3, 5])
def test_more_degrees_of_freedom_than_elements_are_dalis(ddof):
    batch = [np.array([1, 2, 4], np.float32)]
    as_dali(lambda m, x: m.fn.reductions.variance(x, m.fn.reductions.mean(x), ddof=ddof), batch)
    as_dali(lambda m, x: m.fn.reductions.std_dev(x, x, axes=[]), batch)


def test_one_mean_serves_all_results():
    # DALI reads beyond the end of a mean with one element where there are several results.
    x = numbers((6, 3), np.float32)
    ((got,),) = ours(lambda m, x: m.fn.reductions.variance(x, 2.0, axes=[0]), [x])
    np.testing.assert_allclose(got, ((x - 2.0) ** 2).mean(axis=0), rtol=1e-5)


def test_squares_of_uint16_do_not_overflow():
    # In DALI they do.
    x = np.array([65535, 60000, 3], np.uint16)
    ((square,), (root,)) = ours(lambda m, x: (m.fn.reductions.mean_square(x), m.fn.reductions.rms(x)), [x])
    np.testing.assert_allclose(square, (x.astype(float) ** 2).mean(), rtol=1e-6)
    np.testing.assert_allclose(root, np.sqrt((x.astype(float) ** 2).mean()), rtol=1e-6)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_nothing_are_dalis(name):
    for dtype in (np.float32, np.int32):
        batch = [np.zeros((0, 3), dtype)]
        as_dali(lambda m, x: (reduced(m, name)(x, axes=[0]), reduced(m, name)(x, axes=[1])), batch)
    as_dali(lambda m, x: reduced(m, name)(x), [np.float32(3)])


@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes_pass_over_what_is_no_number_as_dalis(name):
    as_dali(lambda m, x: reduced(m, name)(x), [np.array([1, np.nan, -4, np.inf], np.float32)])


@pytest.mark.parametrize("dtype", ["UINT8", "UINT64", "FLOAT"])
def test_sums_have_the_type_that_is_asked_for_as_dalis(dtype):
    as_dali(lambda m, x: m.fn.reductions.sum(x, dtype=getattr(m.types, dtype)), [noise((50, 3))])


def test_means_of_integers_may_be_integers():
    # DALI adds up in the type of the result, where most sums overflow.
    x = noise((40, 30))
    ((mean,), (square,)) = ours(
        lambda m, x: (m.fn.reductions.mean(x, dtype=types.UINT8), m.fn.reductions.mean_square(x, dtype=types.UINT64)),
        [x],
    )
    assert (mean.dtype, square.dtype) == (np.uint8, np.uint64)
    assert mean == int(x.mean()) and square == int((x.astype(float) ** 2).mean())


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.bool_])
def test_other_types_are_reduced_too(dtype):
    x = (noise((6, 7)) > 100).astype(dtype) if dtype == np.bool_ else numbers((6, 7), np.float32).astype(dtype)
    results = ours(lambda m, x: [reduced(m, name)(x, axes=[0]) for name in ("sum", "mean", "min", "max")], [x])
    wide = x.astype(np.float64)
    expected = [wide.sum(axis=0), wide.mean(axis=0), wide.min(axis=0), wide.max(axis=0)]
    for (got,), wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(got.astype(float), wanted, rtol=2e-3)


@pytest.mark.parametrize(
    "arguments",
    [
        {"axes": [0, 0]},
        {"axes": [3]},
        {"axes": [-4]},
        {"axes": [0], "axis_names": "H"},
        {"axis_names": "F"},
        {"dtype": -1},
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_when_the_graph_is_built(arguments):
    x = fn.external_source(source=lambda: [noise((2, 3, 4))], layout="HWC")
    with pytest.raises(ArgumentError, match=r"^reductions\.sum: .*\n  created at test_reductions\.py:\d+   fn\.red"):
        fn.reductions.sum(x, **arguments)


def test_axes_without_names_are_refused_when_they_are_met():
    with pytest.raises(DataError, match="there is no axis 3 among 3"):
        ours(lambda m, x: m.fn.reductions.sum(x, axes=[3]), [noise((2, 3, 4))])
    with pytest.raises(DataError, match="a mean of shape float32"):
        ours(lambda m, x: m.fn.reductions.variance(x, np.ones(2, np.float32), axes=[0]), [noise((2, 3))])
    assert refused(lambda m, x: m.fn.reductions.sum(x, axes=[3]), [noise((2, 3, 4))], layouts="") == (True, True)


# Normalisation


BATCH = [numbers((7, 5, 3), np.float32), numbers((3, 6, 3), np.float32, 1)]
NORMALIZE = [
    {},
    {"axes": [0]},
    {"axes": [1, 2], "ddof": 1},
    {"axes": [0, 1], "epsilon": 2.0},
    {"axes": [0, 1], "ddof": 70},
    {"axes": [0, 1], "ddof": 70, "epsilon": 1.0},
    {"axis_names": "HW", "scale": 3.0, "shift": 2.0},
    {"mean": 1.0, "stddev": 2.0},
    {"mean": 1.0, "stddev": 2.0, "epsilon": 12.0, "shift": -1.0},
    {"mean": 1.0},
    {"mean": 1.0, "axes": [0]},
    {"stddev": 2.0, "axes": [0]},
    {"mean": 1.0, "stddev": 0.0},
    {"batch": True},
    {"batch": True, "axes": [0, 1]},
    {"batch": True, "mean": 2.0},
    {"batch": True, "stddev": 2.0, "axis_names": "HW"},
    {"batch": True, "axes": [0, 1], "ddof": 60},
    {"batch": True, "axes": [0, 1], "ddof": 60, "epsilon": 1.0},
    {"batch": True, "mean": 1.0, "stddev": 2.0},
]


@pytest.mark.parametrize("arguments", NORMALIZE, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int16])
def test_normalize_is_dalis(arguments, dtype):
    batch = [np.abs(x).astype(dtype) for x in BATCH]
    as_dali(lambda m, x: m.fn.normalize(x, **arguments), batch, layouts=["HWC"], relative=1e-3)


@pytest.mark.parametrize("dtype", ["INT8", "UINT8", "INT16", "UINT16", "INT32", "FLOAT"])
def test_normalize_rounds_and_cuts_as_dalis(dtype):
    def graph(m, x):
        return m.fn.normalize(x, scale=40.0, shift=100.0, dtype=getattr(m.types, dtype))

    theirs, mine = (numpy_batch(make(module, graph, BATCH).run()[0]) for module in (DALI, HERE))
    for got, wanted in zip(mine, theirs, strict=True):
        near(got, wanted, level=1, relative=1e-3)


@pytest.mark.parametrize("arguments", [{}, {"axes": [0, 1]}, {"epsilon": 1.0}, {"ddof": 1}], ids=str)
@pytest.mark.parametrize("given_", [("mean",), ("stddev",), ("mean", "stddev")], ids="+".join)
def test_means_and_deviations_of_samples_are_dalis(arguments, given_):
    arrays = {"mean": [numbers((1, 1, 3), np.float32, i) for i in range(2)]}
    arrays["stddev"] = [np.abs(x) + 1 for x in arrays["mean"]]

    def graph(m, x, *nodes):
        return m.fn.normalize(x, **dict(zip(given_, nodes, strict=True)), **arguments)

    inputs = [arrays[name] for name in given_]
    as_dali(graph, BATCH, *inputs, layouts=["HWC"] + [""] * len(inputs), relative=1e-3)


def test_arrays_may_be_means_as_in_dali():
    mean = np.array([[[1.0, 2.0, 3.0]]], np.float32)
    as_dali(lambda m, x: m.fn.normalize(x, mean=mean), BATCH, layouts=["HWC"], relative=1e-3)
    as_dali(
        lambda m, x: m.fn.normalize(x, mean=m.types.Constant(mean), stddev=2.0), BATCH, layouts=["HWC"], relative=1e-3
    )


def test_constant_and_empty_samples_are_normalized_as_dalis():
    as_dali(lambda m, x: m.fn.normalize(x, axes=[0], shift=7.0), [np.ones((2, 2), np.float32)])
    as_dali(lambda m, x: m.fn.normalize(x, axes=[0]), [np.zeros((0, 3), np.float32)])
    # DALI gives remains of earlier batches for a number without axes.
    (((number,)),) = ours(lambda m, x: m.fn.normalize(x), [np.array(3, np.float32)])
    assert number == 0 and number.shape == ()


@pytest.mark.parametrize(
    "arguments",
    [
        {"mean": 1.0, "stddev": 2.0, "axes": [0]},
        {"axes": [5]},
        {"axes": []},
        {"axes": [0], "axis_names": "H"},
        {"mean": [1.0, 2.0, 3.0]},
        {"dtype": types.BOOL},
    ],
    ids=str,
)
def test_wrong_arguments_of_normalize_are_refused_when_the_graph_is_built(arguments):
    x = fn.external_source(source=lambda: BATCH, layout="HWC")
    with pytest.raises(ArgumentError, match=r"^normalize: .*\n  created at test_reductions\.py:\d+   fn\.normalize"):
        fn.normalize(x, **arguments)


def test_what_does_not_fit_is_refused_when_it_is_met():
    three = [np.zeros(3, np.float32)] * 2
    assert refused(lambda m, x, y: m.fn.normalize(x, mean=y), BATCH, three) == (True, True)
    assert refused(lambda m, x, y: m.fn.normalize(x, mean=y, batch=True), BATCH, three) == (True, True)
    assert refused(lambda m, x: m.fn.normalize(x, axes=[2], batch=True), BATCH) == (True, True)
    with pytest.raises(ArgumentError, match=r"with batch=True, samples must agree .*\n  created at test_reductions"):
        ours(lambda m, x: m.fn.normalize(x, axes=[2], batch=True), BATCH)
