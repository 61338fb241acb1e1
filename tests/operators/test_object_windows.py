"""random_object_bbox, roi_random_crop and one_hot with the shapes, classes and layouts that DALI accepts."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import equal, refused

MASK = np.zeros((12, 14), np.int32)
MASK[2:5, 3:7] = 1
TWO = MASK.copy()
TWO[8:11, 9:13] = 2
LINE = np.zeros(5, np.uint8)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"format": "box"},
        {"format": "start_end"},
        {"format": "box", "output_class": True},
        {"classes": [1]},
        {"classes": 1},
        {"classes": [1, 2], "class_weights": [1, 0], "output_class": True},
        {"classes": [5]},
        {"classes": [0]},
        {"class_weights": [1.0]},
        {"background": 1},
        {"ignore_class": True, "k_largest": 1},
        {"k_largest": 1},
        {"threshold": [2, 2]},
        {"threshold": 2},
        {"threshold": [20, 20]},
        {"foreground_prob": 0.0, "output_class": True},
    ],
    ids=str,
)
def test_objects_are_dalis(arguments):
    equal(lambda m, x: m.fn.segmentation.random_object_bbox(x, **arguments), [MASK] * 2, layouts=[""])


@pytest.mark.parametrize(
    "arguments",
    [{"classes": [2]}, {"classes": 2, "output_class": True}, {"classes": [1, 2], "class_weights": [0.0, 1.0]}],
    ids=str,
)
def test_the_class_of_an_object_is_chosen_as_on_dali(arguments):
    equal(lambda m, x: m.fn.segmentation.random_object_bbox(x, **arguments), [TWO] * 2, layouts=[""])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.bool_])
def test_masks_have_any_integer_type(dtype):
    equal(lambda m, x: m.fn.segmentation.random_object_bbox(x), [MASK.astype(dtype)] * 2, layouts=[""])


@pytest.mark.parametrize(
    ("mask", "layout"),
    [
        (MASK, "HW"),
        (MASK[..., None], "HWC"),
        (np.stack([MASK, MASK]), "DHW"),
        (MASK[3], ""),
        (np.zeros((3, 4), np.int32), ""),
        (np.zeros((0, 4), np.int32), ""),
    ],
)
def test_masks_have_any_shape(mask, layout):
    equal(lambda m, x: m.fn.segmentation.random_object_bbox(x, format="box"), [mask] * 2, layouts=[layout])


@pytest.mark.parametrize(
    ("name", "value"),
    [("classes", np.int32([1])), ("classes", np.int32(1)), ("threshold", np.int32([2, 2]))],
)
def test_classes_and_thresholds_may_be_nodes(name, value):
    given = [np.array(value)] * 2
    equal(lambda m, x, y: m.fn.segmentation.random_object_bbox(x, **{name: y}), [MASK] * 2, given, layouts=["", ""])


@pytest.mark.parametrize(
    "arguments",
    [
        {"ignore_class": True, "output_class": True},
        {"background": 1, "classes": [1]},
        {"classes": [1, 2], "class_weights": [1.0]},
        {"k_largest": 0},
        {"format": "corners"},
    ],
    ids=str,
)
def test_arguments_that_dali_refuses_are_refused(arguments):
    graph = lambda m, x: m.fn.segmentation.random_object_bbox(x, **arguments)  # noqa: E731
    assert refused(graph, [MASK] * 2, layouts=[""]) == (True, True)


@pytest.mark.parametrize(
    "arguments",
    [
        {"crop_shape": 5, "roi_start": 0, "roi_end": 5},
        {"crop_shape": 5, "roi_start": 0, "roi_shape": 5},
        {"crop_shape": [5.0], "roi_start": [0], "roi_shape": [5]},
    ],
    ids=str,
)
def test_windows_of_regions_take_scalars(arguments):
    equal(lambda m, x: m.fn.roi_random_crop(x, **arguments), [LINE] * 2, layouts=[""])
    equal(lambda m, x: m.fn.roi_random_crop(in_shape=5, **arguments), [LINE] * 2, layouts=[""])


def test_windows_of_regions_take_scalar_nodes_and_one_number_for_all_axes():
    equal(
        lambda m, x, n: m.fn.roi_random_crop(x, crop_shape=n, roi_start=m.types.Constant(0), roi_end=n),
        [LINE] * 2,
        [np.array(5, np.int32)] * 2,
        layouts=["", ""],
    )
    cube = np.zeros((6, 6, 6), np.uint8)
    equal(lambda m, x: m.fn.roi_random_crop(x, crop_shape=6, roi_start=0, roi_end=6), [cube] * 2)


TABLE = np.array([[1, 0], [2, 1]], np.int32)


@pytest.mark.parametrize(
    ("data", "layout", "arguments"),
    [
        (TABLE[0], "W", {}),
        (TABLE[0], "W", {"axis": 0}),
        (TABLE, "HW", {"axis": 0}),
        (TABLE, "HW", {"axis": 1, "axis_name": "C"}),
        (TABLE, "HW", {"axis": 0, "axis_name": "C"}),
        (TABLE, "HW", {"axis_name": "C"}),
        (TABLE.astype(np.float32), "HW", {"axis": 0, "on_value": 3.5, "off_value": -1.25}),
        (TABLE[:, :1, None], "HWC", {"axis": -1}),
        (np.int32(2), "", {"axis_name": "C"}),
        (np.int32([2]), "", {"axis_name": "C"}),
        (np.int32([2]), "X", {}),
    ],
)
def test_the_layout_of_one_hot_is_dalis(data, layout, arguments):
    equal(lambda m, x: m.fn.one_hot(x, num_classes=3, **arguments), [np.array(data)] * 2, layouts=[layout])


@pytest.mark.parametrize(
    ("layout", "arguments"), [("", {"axis_name": "C"}), ("HW", {"axis": -2}), ("HW", {"axis_name": "CC"})]
)
def test_layouts_that_one_hot_cannot_have_are_refused(layout, arguments):
    graph = lambda m, x: m.fn.one_hot(x, num_classes=3, **arguments)  # noqa: E731
    assert refused(graph, [TABLE] * 2, layouts=[layout]) == (True, True)
