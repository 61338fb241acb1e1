"""Shapes, joins, parts and constants against DALI: the same bytes, types, shapes and names of axes."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE, make, noise, numpy_batch, refused
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill import ArgumentError, DataError, fn

TYPES = [np.uint8, np.int16, np.int64, np.float32, np.float64, np.bool_]
FIELDS = ["UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT", "FLOAT64"]

# What the tables work on: (samples, names of axes).
DATA = {
    "pictures": ([noise((4, 6, 3)), noise((2, 3, 3), seed=1)], "HWC"),
    "others": ([noise((4, 6, 3), seed=2), noise((2, 3, 3), seed=3)], "HWC"),
    "lower": ([noise((1, 6, 3), seed=4), noise((7, 3, 3), seed=5)], "HWC"),
    "columns": ([noise((4, 1, 3)), noise((2, 1, 3), seed=1)], "HWC"),
    "blocks": ([noise((2, 3, 4)), noise((5, 1, 4), seed=1)], ""),
    "clips": ([noise((5, 4, 3)), noise((5, 2, 3), seed=1)], "FHC"),
    "lists": ([np.array([0, 1, 2, 9, -1], np.int32), np.array([3, 1], np.int32)], ""),
    "rows": ([np.array([0, 1, 2], np.int32), np.array([3, 1], np.int32)], "A"),
    "singles": ([np.array([2], np.int32), np.array([1], np.int32)], ""),
    "numbers": ([np.array(1, np.int32), np.array(-1, np.int32)], ""),
}


def results(module, graph, names, **options):
    """Run a graph on data of the table; give its outputs as (arrays, names of axes)."""
    samples, layouts = zip(*(DATA[name] for name in names), strict=True)
    batches = make(module, graph, *samples, layouts=list(layouts), **options).run()
    return [(numpy_batch(batch), batch.layout()) for batch in batches]


def same(ours, others):
    for (mine, layout), (theirs, wanted) in zip(ours, others, strict=True):
        assert layout == wanted
        for got, expected in zip(mine, theirs, strict=True):
            assert (got.dtype, got.shape, got.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


def as_dali(graph, *names):
    """Demand DALI's results, and the same without fusion; give ours."""
    ours = results(HERE, graph, names)
    same(ours, results(DALI, graph, names))
    same(ours, results(HERE, graph, names, optimize=False))
    return [arrays for arrays, _ in ours]


def refused_by_both(graph, *names):
    samples, layouts = zip(*(DATA[name] for name in names), strict=True)
    assert refused(graph, *samples, layouts=list(layouts)) == (True, True)


def table(cases):
    """Make a test parameter of each `name: (graph, *data)`."""
    return pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in cases.items()])


# Reshaping


@table(
    {
        "flat": (lambda m, x: m.fn.reshape(x, shape=[-1]), "pictures"),
        "one number": (lambda m, x: m.fn.reshape(x, shape=-1), "pictures"),
        "any negative number": (lambda m, x: m.fn.reshape(x, shape=[-2, 3]), "pictures"),
        "named": (lambda m, x: m.fn.reshape(x, shape=[-1, 3], layout="AB"), "pictures"),
        "names are kept": (lambda m, x: m.fn.reshape(x, shape=[3, -1, 1]), "pictures"),
        "names are taken away": (lambda m, x: m.fn.reshape(x, shape=[3, -1, 1], layout=""), "pictures"),
        "names only": (lambda m, x: m.fn.reshape(x, layout="ABC"), "pictures"),
        "no axes": (lambda m, x: m.fn.reshape(x[0:1, 0, 0], shape=[]), "pictures"),
        "shares": (lambda m, x: m.fn.reshape(x, rel_shape=[0.5, 2, 1]), "pictures"),
        "shares and the rest": (lambda m, x: m.fn.reshape(x, rel_shape=[0.5, -1]), "pictures"),
        "a share is rounded": (lambda m, x: m.fn.reshape(x, rel_shape=[0.3, -1]), "pictures"),
        "more shares than axes": (lambda m, x: m.fn.reshape(x, rel_shape=[1, 1, 1, -1]), "pictures"),
        "shares of other axes": (lambda m, x: m.fn.reshape(x, rel_shape=[1, -1], src_dims=[2, 1]), "pictures"),
        "other axes": (lambda m, x: m.fn.reshape(x, src_dims=[2, 0, 1]), "pictures"),
        "axes of 1": (lambda m, x: m.fn.reshape(x, src_dims=[-1, 0, 1, -1, 2], layout="ABCDE"), "pictures"),
        "an axis of 1 is left out": (lambda m, x: m.fn.reshape(x, src_dims=[0, 2], layout="AB"), "columns"),
        "shape beside src_dims": (lambda m, x: m.fn.reshape(x, shape=[-1, 3], src_dims=[0, 1]), "pictures"),
        "shape as input": (lambda m, x: m.fn.reshape(x, m.types.Constant([3, -1]), layout="AB"), "pictures"),
        "shape of each sample": (
            lambda m, x: m.fn.reshape(x, shape=m.fn.stack(x.shape()[2], x.shape()[0] * x.shape()[1]), layout="AB"),
            "pictures",
        ),
        "other type of one size": (lambda m, x: m.fn.reinterpret(x, dtype=m.types.INT8), "pictures"),
        "other type of another": (lambda m, x: m.fn.reinterpret(x, dtype=m.types.UINT32), "blocks"),
        "smaller type": (lambda m, x: m.fn.reinterpret(x, dtype=m.types.UINT8), "lists"),
        "half": (lambda m, x: m.fn.reinterpret(x, dtype=m.types.FLOAT16), "lists"),
        "bool": (lambda m, x: m.fn.reinterpret(x[:2], dtype=m.types.BOOL), "lists"),
        "type and shape": (lambda m, x: m.fn.reinterpret(x, dtype=m.types.UINT16, shape=[2, -1]), "blocks"),
        "type and shares": (lambda m, x: m.fn.reinterpret(x, dtype=m.types.UINT16, rel_shape=[1, -1]), "blocks"),
        "number": (lambda m, x: m.fn.reinterpret(x, dtype=m.types.FLOAT), "numbers"),
        "reinterpreted names": (lambda m, x: m.fn.reinterpret(x, layout="ABC"), "pictures"),
        "squeeze": (lambda m, x: m.fn.squeeze(x, axes=[1]), "columns"),
        "squeeze by name": (lambda m, x: m.fn.squeeze(x, axis_names="W"), "columns"),
        "squeeze nothing": (lambda m, x: m.fn.squeeze(x, axes=[]), "columns"),
        "expand": (lambda m, x: m.fn.expand_dims(x, axes=[0]), "pictures"),
        "expand and name": (lambda m, x: m.fn.expand_dims(x, axes=[0], new_axis_names="F"), "pictures"),
        "expand twice": (lambda m, x: m.fn.expand_dims(x, axes=[1, 3], new_axis_names="AB"), "pictures"),
        "expand in any order": (lambda m, x: m.fn.expand_dims(x, axes=[3, 1], new_axis_names="AB"), "pictures"),
        "expand at the end": (lambda m, x: m.fn.expand_dims(x, axes=[3, 4]), "pictures"),
        "expand nothing": (lambda m, x: m.fn.expand_dims(x, axes=[]), "pictures"),
        "expand a number": (lambda m, x: m.fn.expand_dims(x, axes=[0], new_axis_names="C"), "numbers"),
    }
)
def test_shapes_change_as_in_dali(case):
    graph, *names = case
    as_dali(graph, *names)


@table(
    {
        "another size": (lambda m, x: m.fn.reshape(x, shape=[5, 5]), "pictures"),
        "zero": (lambda m, x: m.fn.reshape(x, shape=[0, 5]), "pictures"),
        "two unknown": (lambda m, x: m.fn.reshape(x, shape=[-1, -1]), "pictures"),
        "no divisor": (lambda m, x: m.fn.reshape(x, shape=[-1, 7]), "pictures"),
        "nothing to do": (lambda m, x: m.fn.reshape(x), "pictures"),
        "too few names": (lambda m, x: m.fn.reshape(x, layout="AB"), "pictures"),
        "too many names": (lambda m, x: m.fn.reshape(x, shape=[-1, 3], layout="ABC"), "pictures"),
        "two shapes": (lambda m, x: m.fn.reshape(x, shape=[-1], rel_shape=[-1]), "pictures"),
        "too many shares": (lambda m, x: m.fn.reshape(x, rel_shape=[1, 1, 1, 1]), "pictures"),
        "shares and axes differ": (lambda m, x: m.fn.reshape(x, rel_shape=[1, -1, 1], src_dims=[2, 1]), "pictures"),
        "an axis twice": (lambda m, x: m.fn.reshape(x, src_dims=[0, 0]), "pictures"),
        "no such axis": (lambda m, x: m.fn.reshape(x, src_dims=[0, 1, 5]), "pictures"),
        "rows do not divide": (lambda m, x: m.fn.reinterpret(x, dtype=m.types.UINT32), "pictures"),
        "nothing to reinterpret": (lambda m, x: m.fn.reinterpret(x), "pictures"),
        "squeeze what is wide": (lambda m, x: m.fn.squeeze(x, axes=[0]), "columns"),
        "squeeze what": (lambda m, x: m.fn.squeeze(x), "columns"),
        "squeeze twice": (lambda m, x: m.fn.squeeze(x, axes=[1, 1]), "columns"),
        "squeeze by both": (lambda m, x: m.fn.squeeze(x, axes=[1], axis_names="W"), "columns"),
        "expand too far": (lambda m, x: m.fn.expand_dims(x, axes=[4]), "pictures"),
        "expand from the end": (lambda m, x: m.fn.expand_dims(x, axes=[-1]), "pictures"),
        "expand in one place": (lambda m, x: m.fn.expand_dims(x, axes=[1, 1]), "pictures"),
        "two names for one axis": (lambda m, x: m.fn.expand_dims(x, axes=[1], new_axis_names="AB"), "pictures"),
        "a name without the others": (lambda m, x: m.fn.expand_dims(x, axes=[1], new_axis_names="A"), "blocks"),
    }
)
def test_shapes_that_dali_refuses_are_refused(case):
    graph, *names = case
    refused_by_both(graph, *names)


def test_axes_to_leave_out_may_be_counted_from_the_end():
    # DALI passes over axes that are negative or not there.
    ((got, layout),) = results(HERE, lambda m, x: m.fn.squeeze(x, axes=[-2]), ["columns"])
    assert layout == "HC" and got[0].tobytes() == DATA["columns"][0][0].tobytes()
    with pytest.raises(ArgumentError, match="axis 3 does not exist in the layout 'HWC'"):
        results(HERE, lambda m, x: m.fn.squeeze(x, axes=[3]), ["columns"])


@given(st.data())
@settings(max_examples=80)
def test_any_reshape_is_dalis(data):
    extents = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    new = list(data.draw(st.permutations(extents)))
    if data.draw(st.booleans()):
        new[data.draw(st.integers(0, len(new) - 1))] = -1
    dtype = data.draw(st.sampled_from(TYPES))
    batch = [noise(tuple(extents)).astype(dtype), noise(tuple(reversed(extents)), seed=1).astype(dtype)]
    outputs = [make(m, lambda m, x: m.fn.reshape(x, shape=new), batch, layouts="").run()[0] for m in (HERE, DALI)]
    same(*([(numpy_batch(out), out.layout())] for out in outputs))


# Joining


@table(
    {
        "cat": (lambda m, x, y: m.fn.cat(x, y), "pictures", "lower"),
        "cat from the end": (lambda m, x, y: m.fn.cat(x, y, axis=-3), "pictures", "lower"),
        "cat columns": (lambda m, x, y: m.fn.cat(x, y, axis=1), "pictures", "others"),
        "cat by name": (lambda m, x, y: m.fn.cat(x, y, axis_name="W"), "pictures", "others"),
        "cat channels": (lambda m, x, y: m.fn.cat(x, y, x, y, x, axis=2), "pictures", "others"),
        "cat one": (lambda m, x: m.fn.cat(x), "pictures"),
        "cat a view": (lambda m, x: m.fn.cat(m.fn.flip(x), x[:, :1], axis=1), "pictures"),
        "cat without names": (lambda m, x, y: m.fn.cat(m.fn.reshape(x, layout=""), y), "pictures", "lower"),
        "cat other names": (lambda m, x, y: m.fn.cat(x, m.fn.reshape(y, layout="ABC")), "pictures", "lower"),
        "cat a constant": (lambda m, x: m.fn.cat(m.fn.cast(x, dtype=m.types.INT32), np.array([5, 6])), "lists"),
        "stack": (lambda m, x, y: m.fn.stack(x, y), "pictures", "others"),
        "stack inside": (lambda m, x, y: m.fn.stack(x, y, axis=1), "pictures", "others"),
        "stack last": (lambda m, x, y: m.fn.stack(x, y, axis=3), "pictures", "others"),
        "stack from the end": (lambda m, x, y: m.fn.stack(x, y, axis=-2), "pictures", "others"),
        "stack and name": (lambda m, x, y: m.fn.stack(x, y, axis=2, axis_name="F"), "pictures", "others"),
        "stack and name the last": (lambda m, x, y: m.fn.stack(x, y, axis=-1, axis_name="F"), "pictures", "others"),
        "stack numbers": (lambda m, x: m.fn.stack(x, x, x, axis_name="C"), "numbers"),
        "stack constants": (lambda m, x: (m.fn.stack(1, 2, 3), x), "numbers"),
    }
)
def test_joins_are_dalis(case):
    graph, *names = case
    as_dali(graph, *names)


@table(
    {
        "no axis": (lambda m, x, y: m.fn.cat(x, y, axis=3), "pictures", "others"),
        "no axis from the end": (lambda m, x, y: m.fn.cat(x, y, axis=-4), "pictures", "others"),
        "no name": (lambda m, x, y: m.fn.cat(x, y, axis_name="F"), "pictures", "others"),
        "axis twice": (lambda m, x, y: m.fn.cat(x, y, axis=0, axis_name="H"), "pictures", "others"),
        "shapes": (lambda m, x, y: m.fn.cat(x, y, axis=1), "pictures", "lower"),
        "types": (lambda m, x, y: m.fn.cat(x, m.fn.cast(y, dtype=m.types.INT16)), "pictures", "lower"),
        "numbers of axes": (lambda m, x, y: m.fn.cat(x, y[0]), "pictures", "lower"),
        "numbers": (lambda m, x: m.fn.cat(x, x), "numbers"),
        "stacked shapes": (lambda m, x, y: m.fn.stack(x, y), "pictures", "lower"),
        "no place": (lambda m, x, y: m.fn.stack(x, y, axis=4), "pictures", "others"),
        "no place from the end": (lambda m, x, y: m.fn.stack(x, y, axis=-4), "pictures", "others"),
        "long name": (lambda m, x, y: m.fn.stack(x, y, axis_name="FG"), "pictures", "others"),
        "name without names": (lambda m, x: m.fn.stack(x, x, axis_name="F"), "blocks"),
    }
)
def test_joins_that_dali_refuses_are_refused(case):
    graph, *names = case
    refused_by_both(graph, *names)


# Parts


@table(
    {
        "first": (lambda m, x, i: x[0], "pictures", "numbers"),
        "last": (lambda m, x, i: x[-1], "pictures", "numbers"),
        "one element": (lambda m, x, i: x[0, 0, 0], "pictures", "numbers"),
        "from": (lambda m, x, i: x[1:], "pictures", "numbers"),
        "to": (lambda m, x, i: x[:-1], "pictures", "numbers"),
        "mixed": (lambda m, x, i: x[1:3, :, 0], "pictures", "numbers"),
        "beyond": (lambda m, x, i: (x[5:], x[-100:100], x[2:100]), "pictures", "numbers"),
        "nothing": (lambda m, x, i: (x[1:1], x[3:1]), "pictures", "numbers"),
        "all": (lambda m, x, i: (x[:], x[:, :], x[::1]), "pictures", "numbers"),
        "steps": (lambda m, x, i: (x[::2], x[::-1], x[-1:0:-2], x[:, 1::3]), "pictures", "numbers"),
        "by a node": (lambda m, x, i: (x[i], x[:, :i], x[:, i:], x[i, i - 1 :, 0]), "pictures", "numbers"),
        "by a constant": (lambda m, x, i: (x[m.types.Constant(1)], x[np.int64(1)]), "pictures", "numbers"),
        "new axis": (lambda m, x, i: (x[m.newaxis], x[:, m.newaxis]), "pictures", "numbers"),
        "new axis with a name": (lambda m, x, i: (x[m.newaxis("F")], x[:, m.newaxis("N")]), "pictures", "numbers"),
        "two": (lambda m, x, i: x[m.newaxis("A"), :, m.newaxis("B")], "pictures", "numbers"),
        "beside an index": (lambda m, x, i: (x[0, m.newaxis("A")], x[m.newaxis("A"), 0]), "pictures", "numbers"),
        "between": (lambda m, x, i: (x[0, m.newaxis("A"), :, 1], x[1:, m.newaxis, :]), "pictures", "numbers"),
        "after all axes": (lambda m, x, i: x[:, :, :, m.newaxis], "pictures", "numbers"),
        "of a number": (lambda m, x, i: i[m.newaxis], "pictures", "numbers"),
        "elements of clips": (lambda m, x: m.fn.element_extract(x, element_map=[0, 3, 3]), "clips"),
        "one element of clips": (lambda m, x: m.fn.element_extract(x, element_map=2), "clips"),
        "without names": (lambda m, x: m.fn.element_extract(x, element_map=[0]), "blocks"),
    }
)
def test_parts_are_dalis(case):
    graph, *names = case
    as_dali(graph, *names)


@table(
    {
        "outside": (lambda m, x: x[9], "pictures"),
        "outside from the end": (lambda m, x: x[-5], "pictures"),
        "too many": (lambda m, x: x[0, 0, 0, 0], "pictures"),
        "too many slices": (lambda m, x: x[:, :, :, :], "pictures"),
        "float": (lambda m, x: x[1.0], "pictures"),
        "float node": (lambda m, x, i: x[m.fn.cast(i, dtype=m.types.FLOAT)], "pictures", "numbers"),
        "string": (lambda m, x: x["a"], "pictures"),
        "list": (lambda m, x: x[[0, 1]], "pictures"),
        "some names": (lambda m, x: x[m.newaxis("A"), :, m.newaxis], "pictures"),
        "no clip": (lambda m, x: m.fn.element_extract(x, element_map=[0]), "pictures"),
        "no such element": (lambda m, x: m.fn.element_extract(x, element_map=[5]), "clips"),
        "from the end": (lambda m, x: m.fn.element_extract(x, element_map=[-1]), "clips"),
    }
)
def test_parts_that_dali_refuses_are_refused(case):
    graph, *names = case
    refused_by_both(graph, *names)


ends = st.one_of(st.none(), st.integers(-6, 6))
slices = st.builds(slice, ends, ends)
stepping = st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, -1, -2]))
BOXES = [noise((3, 5, 2)), noise((2, 2, 4), seed=1)]


@given(st.lists(st.one_of(st.integers(-2, 1), slices), min_size=1, max_size=3))
@settings(max_examples=80)
def test_any_part_is_dalis(key):
    mine, theirs = (make(m, lambda m, x: x[tuple(key)], BOXES).run()[0] for m in (HERE, DALI))
    same([(numpy_batch(mine), mine.layout())], [(numpy_batch(theirs), theirs.layout())])


@given(st.lists(st.one_of(st.integers(-2, 1), stepping), min_size=1, max_size=3), st.sampled_from(TYPES))
@settings(max_examples=80)
def test_any_part_is_numpys(key, dtype):
    # Some steps that leave nothing end DALI's whole process.
    batch = [x.astype(dtype) for x in BOXES]
    for got, x in zip(numpy_batch(make(HERE, lambda m, x: x[tuple(key)], batch).run()[0]), batch, strict=True):
        np.testing.assert_array_equal(got, x[tuple(key)])


# Padding and order of axes


@table(
    {
        "to the largest": (lambda m, x: m.fn.pad(x), "pictures"),
        "one extent for all": (lambda m, x: m.fn.pad(x, shape=[8]), "pictures"),
        "an extent for each": (lambda m, x: m.fn.pad(x, shape=[8, 9, 4]), "pictures"),
        "some axes": (lambda m, x: m.fn.pad(x, axes=[0, 1], shape=[8, 9]), "pictures"),
        "from the end": (lambda m, x: m.fn.pad(x, axes=[-2], shape=[15]), "pictures"),
        "by name": (lambda m, x: m.fn.pad(x, axis_names="WH", shape=[8, 10]), "pictures"),
        "multiples": (lambda m, x: m.fn.pad(x, axes=[0, 1], align=[8, 4]), "pictures"),
        "multiples of one number": (lambda m, x: m.fn.pad(x, align=5), "pictures"),
        "both": (lambda m, x: m.fn.pad(x, axes=(0, 1), shape=[5, -1], align=[3, 4]), "pictures"),
        "smaller": (lambda m, x: m.fn.pad(x, axes=[0], shape=[1], fill_value=7), "pictures"),
        "no axes": (lambda m, x: m.fn.pad(x, axes=[]), "pictures"),
        "without names": (lambda m, x: m.fn.pad(x, shape=[8, 9, 4]), "blocks"),
        "transpose": (lambda m, x: (m.fn.transpose(x), m.fn.transpose(x, perm=[2, 0, 1])), "pictures"),
        "transpose and name": (lambda m, x: m.fn.transpose(x, perm=[2, 0, 1], output_layout="ABC"), "pictures"),
        "names stay": (lambda m, x: m.fn.transpose(x, perm=[2, 0, 1], transpose_layout=False), "pictures"),
    }
)
def test_padding_and_order_of_axes_are_dalis(case):
    graph, *names = case
    as_dali(graph, *names)


@table(
    {
        "two extents for three axes": (lambda m, x: m.fn.pad(x, shape=[8, 9]), "pictures"),
        "four": (lambda m, x: m.fn.pad(x, shape=[8, 9, 4, 5]), "pictures"),
        "three for two": (lambda m, x: m.fn.pad(x, axes=[0, 1], shape=[8, 9, 9]), "pictures"),
        "without names": (lambda m, x: m.fn.pad(x, shape=[8, 9]), "blocks"),
        "multiples for two of three": (lambda m, x: m.fn.pad(x, align=[8, 4]), "pictures"),
        "multiples for three of two": (lambda m, x: m.fn.pad(x, axes=[0, 1], align=[8, 4, 4]), "blocks"),
        "multiples of zero": (lambda m, x: m.fn.pad(x, align=[0]), "pictures"),
        "an axis twice": (lambda m, x: m.fn.pad(x, axes=[1, 1], shape=[15, 3]), "pictures"),
        "an axis twice without names": (lambda m, x: m.fn.pad(x, axes=[1, -2], shape=[15, 3]), "blocks"),
        "no such axis": (lambda m, x: m.fn.pad(x, axes=[5], shape=[15]), "blocks"),
        "no such name": (lambda m, x: m.fn.pad(x, axis_names="D", shape=[8]), "pictures"),
        "axes and names": (lambda m, x: m.fn.pad(x, axis_names="WH", axes=[0, 1]), "pictures"),
        "an order from the end": (lambda m, x: m.fn.transpose(x, perm=[-1, 0, 1]), "pictures"),
        "too few names": (lambda m, x: m.fn.transpose(x, perm=[2, 0, 1], output_layout="AB"), "pictures"),
    }
)
def test_padding_that_dali_refuses_is_refused(case):
    graph, *names = case
    refused_by_both(graph, *names)


def test_extents_that_do_not_fit_are_an_error_with_the_line():
    text = r"^pad: shape must be one number, or one for each of 3 axes, got \[8, 9\]\n  created at test_shapes\.py:\d+"
    with pytest.raises(ArgumentError, match=text):
        fn.pad(fn.external_source(source=list, layout="HWC"), shape=[8, 9])
    with pytest.raises(ArgumentError, match=r"^pad: shape must be one number.*\n  created at test_shapes\.py:\d+"):
        results(HERE, lambda m, x: m.fn.pad(x, shape=[8, 9]), ["blocks"])
    with pytest.raises(DataError, match="pad: align must be one number, or one for each of 3 axes, got 2"):
        results(HERE, lambda m, x: m.fn.pad(x, align=[8, 9]), ["blocks"])


def test_what_pads_is_rounded_and_cut():
    # DALI cuts its fraction off and takes its low byte.
    for value, wanted in ((1.5, 2), (300, 255), (-3, 0)):
        ((got, _),) = results(HERE, lambda m, x: m.fn.pad(x, fill_value=value), ["pictures"])  # noqa: B023
        assert (got[1][2:] == wanted).all()


# Constants


@table(
    {
        "full": (lambda m, x: (m.fn.full(3, shape=[2, 3]), m.fn.full(3.5, shape=[2, 3]), x), "numbers"),
        "full without a shape": (lambda m, x: (m.fn.full(3.5), m.fn.full(True, shape=[]), x), "numbers"),
        "full of nothing": (lambda m, x: (m.fn.full(3, shape=[2, 0]), m.fn.full(4, shape=3), x), "numbers"),
        "full of a list": (lambda m, x: m.fn.full([1, 2, 3], shape=[2, 3], layout="HW"), "numbers"),
        "full of a node": (lambda m, x: m.fn.full(x, shape=[2, 3]), "numbers"),
        "full of a shape": (lambda m, x: m.fn.full(x[0, 0, 0], shape=x.shape(dtype=m.types.INT32)), "pictures"),
        "full_like": (lambda m, x: [m.fn.full_like(x, v) for v in (7, 300, -5, 1.5, 2.5, [1, 2, 3])], "pictures"),
        "full_like a node": (lambda m, x: m.fn.full_like(x, x[0, 0]), "pictures"),
        "zeros": (lambda m, x: (m.fn.zeros(), m.fn.zeros(shape=[2, 3], layout="AB"), x), "numbers"),
        "zeros_like": (lambda m, x: (m.fn.zeros_like(x), m.fn.zeros_like(x, dtype=m.types.FLOAT)), "pictures"),
        "ones of a shape": (lambda m, x: m.fn.ones(shape=x.shape(dtype=m.types.INT32)), "pictures"),
        "ones_like": (lambda m, x: (m.fn.ones_like(x), m.fn.ones_like(x, dtype=m.types.FLOAT64)), "pictures"),
        "shape": (lambda m, x: [x.shape(dtype=getattr(m.types, t)) for t in FIELDS[4:]], "pictures"),
        "shape of a number": (lambda m, x: x.shape(), "numbers"),
        "properties": (lambda m, x: (x.property("layout"), x.source_info()), "pictures"),
        "no names": (lambda m, x: m.fn.get_property(x, key="layout"), "blocks"),
        "copy": (lambda m, x: m.fn.copy(m.fn.flip(x)), "pictures"),
        "cast_like": (lambda m, x: [m.fn.cast_like(x, y) for y in (np.float32(1), True, x.shape())], "pictures"),
        "numbers": (lambda m, x: (m.types.Constant(3), m.types.Constant(2.5), m.types.Constant(True), x), "numbers"),
        "shaped": (lambda m, x: (m.types.Constant(3, shape=[2]), x), "numbers"),
        "halves": (lambda m, x: (m.types.Constant([2049, 2051, -2053, 70000], m.types.FLOAT16), x), "numbers"),
        "named": (lambda m, x: (m.types.Constant(np.ones((2, 2), np.float32), layout="AB"), x), "numbers"),
        "cut": (lambda m, x: (m.types.Constant(np.array([1, -2], np.int8), dtype=m.types.UINT8), x), "numbers"),
        "constant": (lambda m, x: (m.fn.constant(fdata=[1.5, 2, 3], shape=[3, 1]), x), "numbers"),
        "repeated": (lambda m, x: (m.fn.constant(idata=[7], shape=[3, 2], layout="AB"), x), "numbers"),
        "rounded": (lambda m, x: (m.fn.constant(fdata=[7.5, -2.5, 300], dtype=m.types.UINT8), x), "numbers"),
        "true": (lambda m, x: (m.fn.constant(fdata=[0, 0.3, 0.6, 2], dtype=m.types.BOOL), x), "numbers"),
    }
)
def test_constants_and_properties_are_dalis(case):
    graph, *names = case
    as_dali(graph, *names)


@pytest.mark.parametrize("dtype", [*FIELDS, "FLOAT16", "BOOL"])
def test_constants_of_every_type_are_dalis(dtype):
    def graph(m, x):
        given_type = getattr(m.types, dtype)
        filled = [make_(shape=[2, 3], dtype=given_type) for make_ in (m.fn.ones, m.fn.zeros)]
        if dtype != "FLOAT64":  # of which DALI has no lists
            filled.append(m.types.Constant([1, 0, 1], dtype=given_type))
        return [*filled, m.fn.ones_like(x, dtype=given_type)]

    as_dali(graph, "pictures")


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_])
def test_arrays_are_constants_as_in_dali(dtype):
    array = np.array([[1, 0], [0, 1]], dtype)
    as_dali(lambda m, x: (m.types.Constant(array), m.fn.cast(array, dtype=m.types.FLOAT), x), "numbers")


@table(
    {
        "names": (lambda m, x: m.fn.full(3, shape=[2, 3], layout="H"), "pictures"),
        "negative": (lambda m, x: m.fn.full(3, shape=[2, -3]), "pictures"),
        "does not fill": (lambda m, x: m.fn.full([1, 2], shape=[2, 3]), "pictures"),
        "does not fill the like": (lambda m, x: m.fn.full_like(x, [1, 2]), "pictures"),
        "no property": (lambda m, x: m.fn.get_property(x, key="nope"), "pictures"),
        "no data": (lambda m, x: m.fn.constant(shape=[3]), "pictures"),
        "two data": (lambda m, x: m.fn.constant(idata=[7], fdata=[3.0]), "pictures"),
        "too little": (lambda m, x: m.fn.constant(idata=[7, 8], shape=[3]), "pictures"),
        "names of a constant": (lambda m, x: m.types.Constant(np.ones((2, 2)), layout="A"), "pictures"),
    }
)
def test_constants_that_dali_refuses_are_refused(case):
    graph, *names = case
    refused_by_both(graph, *names)


def test_shapes_is_dalis():
    with pytest.warns(DeprecationWarning, match="deprecated"):  # DALI wants `.shape()` to be written
        as_dali(lambda m, x: (m.fn.shapes(x), m.fn.shapes(x, dtype=m.types.FLOAT)), "pictures")


# Classes and tables


@table(
    {
        "rows": (lambda m, x: m.fn.one_hot(x, num_classes=4), "lists"),
        "single numbers": (lambda m, x: m.fn.one_hot(x, num_classes=4), "singles"),
        "numbers": (lambda m, x: (m.fn.one_hot(x, num_classes=4), m.fn.one_hot(x, num_classes=4, axis=0)), "numbers"),
        "first": (lambda m, x: m.fn.one_hot(x, num_classes=4, axis=0), "lists"),
        "any axis of singles": (lambda m, x: [m.fn.one_hot(x, num_classes=4, axis=a) for a in (-1, 0, 1)], "singles"),
        "named": (lambda m, x: m.fn.one_hot(x, num_classes=4, axis=0, axis_name="C"), "rows"),
        "named last": (lambda m, x: (m.fn.one_hot(x, num_classes=4, axis_name="C"), m.fn.one_hot(x)), "rows"),
        "pictures": (lambda m, x: m.fn.one_hot(x, num_classes=256, axis=1, axis_name="X"), "pictures"),
        "other values": (
            lambda m, x: m.fn.one_hot(x, num_classes=4, on_value=300.5, off_value=-2, dtype=m.types.UINT8),
            "lists",
        ),
        "floats": (lambda m, x: m.fn.one_hot(m.fn.cast(x, dtype=m.types.FLOAT) + 0.5, num_classes=4), "lists"),
        "table": (lambda m, x: m.fn.lookup_table(x, keys=[1, 200, 36], values=[0.5, 3, 9]), "pictures"),
        "the last counts": (lambda m, x: m.fn.lookup_table(x, keys=[36, 36], values=[5, 9]), "pictures"),
        "no table": (lambda m, x: m.fn.lookup_table(x), "pictures"),
        "outside": (lambda m, x: m.fn.lookup_table(x, keys=[1, 9], values=[2, 3], default_value=-1.5), "lists"),
        "large": (lambda m, x: m.fn.lookup_table(x * 60000, keys=[60000, 65535], values=[2, 3]), "lists"),
    }
)
def test_classes_and_tables_are_dalis(case):
    graph, *names = case
    as_dali(graph, *names)


@pytest.mark.parametrize("dtype", [*FIELDS, "FLOAT16", "BOOL"])
def test_tables_of_every_type_are_dalis(dtype):
    def graph(m, x):
        table_ = {"keys": [1, 2, 3], "values": [2.5, -7.5, 1e6], "default_value": 400}
        return m.fn.lookup_table(x, **table_, dtype=getattr(m.types, dtype))

    as_dali(graph, "lists")


@pytest.mark.parametrize("dtype", FIELDS)
def test_classes_of_every_type_are_dalis(dtype):
    as_dali(lambda m, x: m.fn.one_hot(x, num_classes=3, dtype=getattr(m.types, dtype)), "lists")
    as_dali(lambda m, x: m.fn.one_hot(m.fn.cast(x, dtype=getattr(m.types, dtype)), num_classes=3), "lists")


@table(
    {
        "no place": (lambda m, x: m.fn.one_hot(x, num_classes=4, axis=2), "lists"),
        "no place from the end": (lambda m, x: m.fn.one_hot(x, num_classes=4, axis=-2), "lists"),
        "long name": (lambda m, x: m.fn.one_hot(x, num_classes=4, axis_name="CD"), "rows"),
        "name without names": (lambda m, x: m.fn.one_hot(x, num_classes=4, axis=0, axis_name="C"), "lists"),
        "negative": (lambda m, x: m.fn.one_hot(x, num_classes=-1), "lists"),
        "no value": (lambda m, x: m.fn.lookup_table(x, keys=[1], values=[]), "lists"),
        "negative key": (lambda m, x: m.fn.lookup_table(x, keys=[1, -1], values=[2, 3]), "lists"),
        "large key": (lambda m, x: m.fn.lookup_table(x, keys=[65536], values=[2]), "lists"),
        "float": (lambda m, x: m.fn.lookup_table(m.fn.cast(x, dtype=m.types.FLOAT), keys=[1], values=[2]), "lists"),
        "bool": (lambda m, x: m.fn.lookup_table(x > 1, keys=[1], values=[2]), "lists"),
    }
)
def test_classes_and_tables_that_dali_refuses_are_refused(case):
    graph, *names = case
    refused_by_both(graph, *names)


# Places in the batch


@table(
    {
        "swapped": (lambda m, x: m.fn.permute_batch(x, indices=[1, 0]), "pictures"),
        "repeated": (lambda m, x: m.fn.permute_batch(x, indices=[1, 1]), "pictures"),
        "by a node": (lambda m, x, i: m.fn.permute_batch(x, indices=(1 - i) // 2), "pictures", "numbers"),
    }
)
def test_places_are_dalis(case):
    graph, *names = case
    as_dali(graph, *names)


@pytest.mark.parametrize("indices_", [[1, 2], [1, -1], [1], [1, 0, 0], 1, None], ids=str)
def test_places_that_are_not_there_are_refused(indices_):
    refused_by_both(lambda m, x: m.fn.permute_batch(x, indices=indices_), "pictures")


@pytest.mark.parametrize("options", [{}, {"no_fixed_points": True}, {"allow_repetitions": True}], ids=str)
def test_drawn_places_keep_dalis_rules(options):
    for module in (HERE, DALI):
        pipe = make(module, lambda m: m.fn.batch_permutation(**options), batch_size=4)
        drawn = np.array([numpy_batch(pipe.run()[0]) for _ in range(60)])
        assert drawn.dtype == np.int32 and drawn.shape == (60, 4) and drawn.min() == 0 and drawn.max() == 3
        assert all(sorted(row) == [0, 1, 2, 3] for row in drawn.tolist()) != ("allow_repetitions" in options)
        assert (drawn != np.arange(4)).all() == ("no_fixed_points" in options)
