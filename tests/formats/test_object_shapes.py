"""Polygons, keypoints and run-length masks: what is refused, and what is left when objects are dropped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from dataset_cases import objects, oriented
from hypothesis import given
from hypothesis import strategies as st

from pixelmill.errors import ArgumentError
from pixelmill.formats.object_rows import objects_from_json, objects_to_json
from pixelmill.formats.sample import Boxes
from pixelmill.formats.shapes import MOST_KEYPOINTS, Keypoints, Polygons, RunMask


def test_dropped_objects_take_everything_with_them() -> None:
    whole = objects()
    kept = whole.only(np.array([True, False, True]))
    assert kept.names == ("dog", "") and kept.labels is not None and kept.labels.tolist() == [3, 1]
    assert kept.polygons is not None and kept.polygons.rings.tolist() == [[0, 0, 3], [0, 3, 7]]
    assert kept.masks == (None, None)
    assert kept.keypoints is not None and kept.keypoints.visibility.tolist() == [[2, 0], [1, -1]]
    assert kept.attributes == {"area": (702.1057499999998, 0.5), "iscrowd": (0, 0), "note": ("é", True)}
    assert whole.only(np.array([False, True, True])).polygons == Polygons.of([[], []])
    assert whole.only(np.ones(3, bool)) == whole != kept


@pytest.mark.parametrize("part", ["labels", "names", "polygons", "masks", "keypoints", "attributes"])
def test_objects_that_differ_in_one_part_are_different(part: str) -> None:
    changed: dict[str, Any] = {
        "labels": [3, 0, 2],
        "names": ("dog", "cat", ""),
        "polygons": Polygons.of([[], [], []]),
        "masks": (None, RunMask(9, 13, np.array([117])), None),
        "keypoints": Keypoints.of([np.empty((0, 3))] * 3),
        "attributes": {"iscrowd": (0, 0, 0)},
    }
    whole = objects()
    assert Boxes(**{**vars(whole), part: changed[part]}) != whole == Boxes(**vars(whole))
    assert replace(oriented(), oriented=False) != oriented() == oriented().only(np.ones(2, bool))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"labels": [1]}, "2 rectangles with 1 labels"),
        ({"names": ("a", "b", "c")}, "2 rectangles with 3 names"),
        ({"masks": (None,)}, "2 rectangles with 1 masks"),
        ({"keypoints": Keypoints.of([np.empty((0, 3))])}, "2 rectangles with 1 keypoints"),
        ({"attributes": {"area": (1,)}}, "2 rectangles with 1 area"),
        ({"polygons": Polygons.of([[], [], [np.zeros((3, 2))]])}, "a polygon of object 2"),
    ],
)
def test_parts_of_other_lengths_are_refused(part: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Boxes(np.zeros((2, 4)), **part)


@pytest.mark.parametrize(
    ("points", "rings", "message"),
    [
        ([[0, np.nan]], [[0, 0, 1]], "not a finite number"),
        ([[0, 0]], [], "do not divide"),
        ([[0, 0]], [[0, 0, 2]], "do not divide"),
        ([[0, 0]], [[0, 0, 1], [0, 1, 0]], "do not divide"),
        ([[0, 0]], [[1, 0, 1], [0, 1, 1]], "order of their objects"),
        ([[0, 0]], [[-1, 0, 1]], "order of their objects"),
    ],
)
def test_polygons_that_cannot_be(points: Any, rings: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Polygons(np.array(points, np.float32), np.array(rings, np.int64))


def test_keypoints_that_cannot_be() -> None:
    with pytest.raises(ArgumentError, match="visibility must be 0, 1 or 2"):
        Keypoints.of([np.array([[0.5, 0.5, 3]])])
    with pytest.raises(ArgumentError, match="not a finite number"):
        Keypoints.of([np.array([[np.inf, 0.5, 2]])])
    with pytest.raises(ArgumentError, match=f"more than {MOST_KEYPOINTS}"):
        Keypoints.of([np.zeros((MOST_KEYPOINTS + 1, 3))])
    with pytest.raises(ArgumentError, match="points of shape"):
        Keypoints(np.zeros((1, 2)), np.zeros((1, 2)))


@pytest.mark.parametrize("counts", [[5], [7], [-1, 7], [2**62, 2**62, 6], []])
def test_runs_that_do_not_cover_the_image(counts: list[int]) -> None:
    with pytest.raises(ArgumentError, match="add up to 2 x 3 pixels"):
        RunMask(2, 3, np.array(counts, np.int64))


def test_runs_follow_the_size_of_the_image() -> None:
    mask = RunMask.of(np.array([[True, False], [False, True]]))
    assert mask.resized(4, 2).bitmap().tolist() == [[True, False], [True, False], [False, True], [False, True]]
    assert mask.resized(2, 2) == mask


def test_runs_go_down_the_columns() -> None:
    mask = RunMask(2, 3, np.array([1, 2, 3]))
    assert mask.bitmap().tolist() == [[False, True, False], [True, False, False]]
    assert RunMask.of(mask.bitmap()) == mask


@given(data=st.data(), height=st.integers(1, 9), width=st.integers(1, 9))
def test_rectangles_cover_exactly_the_pixels(data: st.DataObject, height: int, width: int) -> None:
    bits = data.draw(st.lists(st.booleans(), min_size=height * width, max_size=height * width))
    bitmap = np.array(bits).reshape(height, width)
    mask = RunMask.of(bitmap)
    assert np.array_equal(mask.bitmap(), bitmap)
    drawn = np.zeros((height, width), int)
    for ring in mask.rings():
        left, top = np.rint(ring.min(axis=0) * [width, height]).astype(int)
        right, bottom = np.rint(ring.max(axis=0) * [width, height]).astype(int)
        drawn[top:bottom, left:right] += 1
    assert np.array_equal(drawn, bitmap.astype(int))


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"other": 1},
        {"names": ["a"]},
        {"names": [1, 2, 3]},
        {"names": ["\ud800", "", ""]},
        {"polygons": [[], [], [], []]},
        {"polygons": [[[1]], [], []]},
        {"polygons": [[["x", 1]], [], []]},
        {"masks": [{"size": [2, 3], "counts": [1]}, None, None]},
        {"masks": [{"size": [2]}, None, None]},
        {"masks": [{}, None, None]},
        {"keypoints": [[[1, 2]], [], []]},
        {"keypoints": [[[1, 2, 9]], [], []]},
        {"keypoints": [[[1, 2, float("nan")]], [], []]},
        {"attributes": []},
        {"attributes": {"a": [1]}},
        {"attributes": {"a": 1}},
    ],
)
def test_rows_that_cannot_be_used_raise_what_readers_expect(value: Any) -> None:
    from pixelmill.formats.object_rows import UNUSABLE

    with pytest.raises(UNUSABLE):
        objects_from_json(value, Boxes(np.zeros((3, 4)), np.zeros(3)))


def test_what_is_written_as_json_is_read() -> None:
    whole = objects()
    assert objects_from_json(objects_to_json(whole), Boxes(whole.ltrb, whole.labels)) == whole
    assert objects_to_json(Boxes(whole.ltrb, whole.labels)) == {}
