"""Masks against DALI: objects and pixels that are drawn, by their distribution, and polygons that are kept."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE, equal, noise, refused, run
from distributions import MANY, drawn_alike
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_comparison import graph_of, ours, seeds

from pixelmill import ArgumentError, DataError, fn

TYPES = [np.bool_, np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32]


def scene(dtype=np.uint8):
    """Make a mask of three objects of class 1, one of class 2 and one of class 5; some touch at a corner."""
    mask = np.zeros((20, 30, 1), dtype)
    for label, rows, columns in (
        (1, (2, 6), (3, 9)),
        (1, (6, 9), (9, 11)),
        (2, (6, 8), (4, 9)),
        (5, (12, 19), (20, 29)),
    ):
        mask[slice(*rows), slice(*columns)] = label
    mask[15, 2] = 1
    return mask


def objects_of(mask):
    """List the boxes of all groups of equal pixels that share a side, by flooding."""
    left, boxes = {tuple(place) for place in np.argwhere(mask)}, set()
    while left:
        todo = [left.pop()]
        label, group = mask[todo[0]], [todo[0]]
        while todo:
            place = todo.pop()
            for axis in range(mask.ndim):
                for step in (-1, 1):
                    beside = (*place[:axis], place[axis] + step, *place[axis + 1 :])
                    if beside in left and mask[beside] == label:
                        left.remove(beside)
                        todo.append(beside)
                        group.append(beside)
        boxes.add((int(label), *np.min(group, axis=0).tolist(), *(np.max(group, axis=0) + 1).tolist()))
    return boxes


# Objects


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"output_class": True},
        {"format": "box", "output_class": True, "foreground_prob": 0.6},
        {"format": "start_end", "ignore_class": True},
        {"classes": [1, 5], "class_weights": [1, 3], "output_class": True},
        {"class_weights": [1, 2, 0, 4, 1], "output_class": True},
        {"k_largest": 2},
        {"k_largest": 2, "ignore_class": True},
        {"threshold": [3, 3, 1], "output_class": True},
        {"background": 1, "output_class": True},
        {"classes": [0, 1], "output_class": True},
    ],
    ids=str,
)
def test_objects_are_drawn_as_dali_draws_them(arguments):
    drawn_alike(graph_of("segmentation.random_object_bbox", **arguments), [scene()] * MANY, layouts="HWC")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "arguments", [{"classes": [1], "k_largest": 1}, {"foreground_prob": 0.0}, {"threshold": 50}], ids=str
)
def test_where_there_is_no_choice_the_box_is_dalis(dtype, arguments):
    mask = [(scene() == 1).astype(dtype)]
    graph = graph_of("segmentation.random_object_bbox", output_class=True, format="box", **arguments)
    equal(lambda m, x: graph(m, x), mask, level=0)


@given(st.data())
@settings(max_examples=40)
def test_every_object_is_found(data):
    draw = data.draw
    shape = [draw(st.integers(1, 7)) for _ in range(draw(st.integers(1, 4)))]
    mask = np.random.default_rng(draw(seeds)).integers(0, 3, shape).astype(np.uint8)
    graph = graph_of("segmentation.random_object_bbox", format="box", output_class=True)
    boxes, labels = run(graph, [mask] * 40, layouts="")
    wanted = objects_of(mask) or {(0, *[0] * mask.ndim, *mask.shape)}
    assert {(int(label), *box.tolist()) for box, label in zip(boxes, labels, strict=True)} <= wanted


def test_all_objects_come_up():
    boxes = run(graph_of("segmentation.random_object_bbox", format="box"), [scene()] * 200)[0]
    assert {tuple(box.tolist()) for box in boxes} == {box[1:] for box in objects_of(scene())}


@pytest.mark.parametrize("shape", [(0, 4, 1), (1, 1, 1), (1,), (3, 1)])
def test_small_and_empty_masks_have_a_box(shape):
    anchor, extent = run(graph_of("segmentation.random_object_bbox"), [np.zeros(shape, np.uint8)], layouts="")
    assert anchor[0].tolist() == [0] * len(shape) and extent[0].tolist() == list(shape)


# Pixels


@pytest.mark.parametrize("dtype", [*TYPES, np.int64, np.uint64, np.float32])
@pytest.mark.parametrize(
    "arguments", [{}, {"foreground": 1}, {"foreground": 1, "value": 1}, {"foreground": 1, "threshold": 0.5}]
)
def test_pixels_are_drawn_as_dali_draws_them(dtype, arguments):
    count = MANY if dtype in (np.uint8, np.float32) else 200
    drawn_alike(graph_of("segmentation.random_mask_pixel", **arguments), [scene(dtype)] * count, layouts="HWC")


@pytest.mark.parametrize(
    "arguments", [{"value": 5}, {"threshold": 2.5}, {"value": 2}, {"value": 300}, {"threshold": -1.0}], ids=str
)
def test_drawn_pixels_belong_to_the_foreground(arguments):
    mask = scene()
    allowed = mask == arguments["value"] if "value" in arguments else mask > arguments["threshold"]
    for place in ours(graph_of("segmentation.random_mask_pixel", foreground=1, **arguments), [mask] * 100):
        assert allowed[tuple(place)] or not allowed.any()
        assert (place >= 0).all() and (place < mask.shape).all()


def test_foreground_may_differ_from_sample_to_sample():
    mask = scene()
    graph = graph_of("segmentation.random_mask_pixel", ("foreground", "value"))
    wanted = [np.int32(number % 2) for number in range(60)], [np.int32([1, 2, 5][number % 3]) for number in range(60)]
    places = ours(graph, [mask] * 60, *wanted)
    assert all(mask[tuple(place)] == value for place, flag, value in zip(places, *wanted, strict=True) if flag)
    assert any(mask[tuple(place)] == 0 for place, flag in zip(places, wanted[0], strict=True) if not flag)


# Polygons


@given(st.data())
@settings(max_examples=25)
def test_select_masks_is_dalis(data):
    draw = data.draw
    counts = draw(st.lists(st.integers(0, 5), min_size=1, max_size=5))
    ends = np.cumsum(counts)
    names = draw(st.permutations(range(10, 10 + len(counts))))
    polygons = np.stack([names, ends - counts, ends], axis=1).astype(np.int32)
    vertices = noise((int(ends[-1]), draw(st.integers(1, 3))), draw(st.sampled_from([np.float32, np.int16])))
    chosen = np.array(draw(st.lists(st.sampled_from(names), unique=True)), np.int32)
    renumber = draw(st.booleans())
    graph = lambda m, *nodes: m.fn.segmentation.select_masks(*nodes, reindex_masks=renumber)  # noqa: E731
    equal(graph, [chosen], [polygons], [vertices], layouts=["", "", ""], level=0, real=0)


def test_all_polygons_of_a_mask_are_kept():
    """DALI keeps the last one alone."""
    polygons, vertices = np.int32([[4, 0, 3], [9, 3, 7], [4, 7, 10]]), np.arange(20, dtype=np.float32).reshape(10, 2)
    kept, points = run(
        lambda m, *nodes: m.fn.segmentation.select_masks(*nodes), [np.int32([4])], [polygons], [vertices], layouts=""
    )
    assert kept[0].tolist() == [[4, 0, 3], [4, 3, 6]]
    np.testing.assert_array_equal(points[0], vertices[[0, 1, 2, 7, 8, 9]])


# What is refused


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("random_object_bbox", {"ignore_class": True, "output_class": True}),
        ("random_object_bbox", {"ignore_class": True, "classes": [1]}),
        ("random_object_bbox", {"k_largest": 0}),
        ("random_object_bbox", {"format": "corners"}),
        ("random_object_bbox", {"foreground_prob": 1.5}),
        ("random_mask_pixel", {"value": 1, "threshold": 1.0}),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_where_they_are_written(operator, arguments):
    with pytest.raises(
        ArgumentError, match=rf"^segmentation\.{operator}: (?s:.*)created at test_segmentation_ops\.py:"
    ):
        getattr(fn.segmentation, operator)(scene(), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [{"classes": [0], "background": 0}, {"classes": [1], "class_weights": [1, 2]}, {"threshold": [1, 2]}],
    ids=str,
)
def test_masks_that_do_not_fit_are_refused_as_by_dali(arguments):
    assert refused(graph_of("segmentation.random_object_bbox", **arguments), [scene()]) == (True, True)


@pytest.mark.parametrize("chosen", [[5], [1, 1]])
def test_masks_that_are_not_there_are_refused_as_by_dali(chosen):
    graph = lambda m, *nodes: m.fn.segmentation.select_masks(*nodes)  # noqa: E731
    inputs = [np.int32(chosen)], [np.int32([[1, 0, 3]])], [np.zeros((3, 2), np.float32)]
    assert refused(graph, *inputs, layouts="") == (True, True)
    wrong = [np.int32([1])], [np.int32([[1, 0, 4]])], [np.zeros((3, 2), np.float32)]
    assert refused(graph, *wrong, layouts="") == (True, True)


def test_masks_of_fractions_have_no_objects():
    with pytest.raises(DataError, match="whole numbers"):
        run(graph_of("segmentation.random_object_bbox"), [scene(np.float32)])


def test_classes_have_dalis_names():
    for name in ("RandomObjectBBox", "RandomMaskPixel", "SelectMasks"):
        assert hasattr(DALI.ops.segmentation, name) and hasattr(HERE.ops.segmentation, name)
