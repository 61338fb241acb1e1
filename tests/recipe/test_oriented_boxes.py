"""Oriented boxes: against OpenCV, against masks that the same steps have moved, and by hand."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from peers import peer
from test_composition import COMPOSED, HEIGHT, WIDTH, drawn_polygon, overlap, run, smooth_image

from pixelmill.recipe import follow, follow_corners, from_corners, to_corners
from pixelmill.recipe.oriented_boxes import bounds, convex_hull, smallest_rectangle

cv2 = peer("cv2")

SIZE = np.array([WIDTH, HEIGHT])
BOX = np.array([[0.1, 0.2], [0.5, 0.2], [0.5, 0.4], [0.1, 0.4]])  # of an image of 100 x 200 pixels: 80 x 20 pixels


def moved(matrix, after, corners=BOX, before=(100, 200)):
    """Follow one box through one matrix, in pixels; returns pixels."""
    found, visible = follow_corners(np.array([corners]), [(np.array(matrix, np.float64), after)], before)
    return found[0] * np.array(after)[::-1], visible[0]


def test_corners_of_a_rotated_box_by_hand():
    (upright, turned) = to_corners(np.array([[50, 40, 20, 10, 0], [50, 40, 20, 10, 90]]))
    assert upright.tolist() == [[40, 35], [60, 35], [60, 45], [40, 45]]
    # Counterclockwise by 90 degrees: what was the top is at the left, and its left end is at the bottom.
    np.testing.assert_allclose(turned, [[45, 50], [45, 30], [55, 30], [55, 50]], atol=1e-12)


@given(st.floats(-500, 500), st.floats(1, 300), st.floats(1, 300), st.floats(-179, 179))
def test_corners_and_rotated_boxes_say_the_same(center, width, height, angle):
    box = np.array([[center, 2 * center, width, height, angle]])
    np.testing.assert_allclose(from_corners(to_corners(box)), box, atol=1e-6)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=3, max_size=12))
def test_the_smallest_rectangle_is_that_of_opencv(points):
    array = np.array(points, np.float32)
    assume(len(cv2.convexHull(array)) >= 3)
    corners = smallest_rectangle(array)
    width, height = cv2.minAreaRect(array)[1]
    _, _, wide, high, _ = from_corners(corners[None])[0]
    assert wide * high == pytest.approx(width * height, rel=1e-3, abs=0.05)
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):  # all points lie on its inner side
        along = end - start
        assert ((array - start) @ [-along[1], along[0]] >= -1e-3 * np.hypot(*along)).all()


def test_hulls_by_hand():
    assert convex_hull([[0, 0], [2, 0], [1, 1], [2, 2], [0, 2], [1, 0]]).tolist() == [[0, 0], [2, 0], [2, 2], [0, 2]]
    assert convex_hull([[1, 1], [1, 1]]).tolist() == [[1, 1]]
    assert smallest_rectangle(np.array([[1.0, 2], [1, 2]])).tolist() == [[1, 2]] * 4


def test_a_flip_keeps_the_top_at_the_top():
    found, visible = moved([[-1, 0, 200], [0, 1, 0], [0, 0, 1]], (100, 200))
    np.testing.assert_allclose(found, [[100, 20], [180, 20], [180, 40], [100, 40]], atol=1e-4)
    assert visible == 1


def test_a_rotation_moves_each_corner():
    found, _ = moved([[0, 1, 0], [-1, 0, 200], [0, 0, 1]], (200, 100))  # a quarter turn, counterclockwise
    np.testing.assert_allclose(found, [[20, 180], [20, 100], [40, 100], [40, 180]], atol=1e-4)
    assert from_corners(found[None])[0] == pytest.approx([30, 140, 80, 20, 90], abs=1e-4)


def test_a_sheared_box_is_the_smallest_rectangle_around_its_corners():
    matrix = [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]
    found, visible = moved(matrix, (100, 300))
    corners = (np.array(matrix)[:2, :2] @ (BOX * [200, 100]).T).T.astype(np.float32)
    (_, sides, _), area = cv2.minAreaRect(corners), np.prod(from_corners(found[None])[0, 2:4])
    assert area == pytest.approx(np.prod(sides), rel=1e-4) and visible == pytest.approx(1)


def test_what_leaves_the_image_is_cut_off_in_the_direction_of_the_box():
    matrix, after = [[1, 0, -60], [0, 1, 0], [0, 0, 1]], (100, 100)
    found, visible = moved(matrix, after)  # an upright box is cut as plain boxes are
    sides, fraction = follow(np.array([[0.1, 0.2, 0.5, 0.4]]), [(np.array(matrix), after)], (100, 200))
    np.testing.assert_allclose(bounds(found[None] / 100), sides, atol=1e-6)
    assert visible == pytest.approx(fraction[0]) == pytest.approx(0.5)
    turned = to_corners(np.array([[100, 50, 100, 20, 45]]))[0] / [200, 100]
    found, visible = moved([[1, 0, -100], [0, 1, 0], [0, 0, 1]], (100, 100), turned)
    (cx, cy, width, height, angle) = from_corners(found[None])[0]
    assert (height, angle) == pytest.approx((20, 45), abs=1e-4) and visible == pytest.approx(0.5)
    # Half of it is left of the image: the rest begins 10 pixels before the middle, where the lower edge is cut.
    assert width == pytest.approx(60, abs=1e-4)
    assert (cx, cy) == pytest.approx((20 * 2**-0.5, 50 - 20 * 2**-0.5), abs=1e-4)


def test_a_box_outside_of_the_image_is_gone():
    found, visible = moved([[1, 0, 500], [0, 1, 0], [0, 0, 1]], (100, 200))
    assert visible == 0 and not found.any()


def test_no_step_changes_nothing():
    odd = np.array([[[0.1, 0.2], [1.4, 0.3], [0.5, 0.9], [-0.3, 0.3]]], np.float32)
    found, visible = follow_corners(odd, [], (100, 200))
    assert np.array_equal(found, odd) and visible.tolist() == [1]


def test_corners_in_any_order_are_a_box():
    crossed = BOX[[0, 2, 1, 3]]
    found, visible = moved(np.eye(3), (100, 200), crossed)
    assert visible == pytest.approx(1) and np.prod(from_corners(found[None])[0, 2:4]) == pytest.approx(1600)


def test_a_part_behind_the_horizon_is_not_looked_at():
    crop = np.array([[1, 0, -150.0], [0, 1, 0], [0, 0, 1]]), (100, 50)
    # Points with x < -20 would lie behind the viewer; the crop has cut them off.
    tilt = np.array([[1.0, 0, 0], [0, 1, 0], [0.05, 0, 1]]), (100, 50)
    long = np.array([[[0.1, 0.4], [0.9, 0.4], [0.9, 0.6], [0.1, 0.6]]])
    found, visible = follow_corners(long, [crop, tilt], (100, 200))
    rest = np.array([[0, 40], [0, 60], [12, 24], [12, 16]], np.float32)  # x from 0 to 30, divided by 1 and by 2.5
    assert visible[0] == pytest.approx(30 / 160)
    area = np.prod(from_corners(found * [50, 100])[0, 2:4])
    assert area == pytest.approx(np.prod(cv2.minAreaRect(rest)[1]), rel=1e-4)


EXAMPLES = int(os.environ.get("PIXELMILL_COMPOSITIONS", "200"))
BOXES = st.tuples(*[st.floats(*limits) for limits in ((140, 260), (110, 190), (120, 180), (100, 140), (-180, 180))])
_SCALE, _PLACE = {"uniform": [0.8, 1.3]}, {"uniform": [0, 1]}
SIMILAR = st.lists(
    st.sampled_from(
        [
            {"flip": {"horizontal": {"coin": 0.5}, "vertical": {"coin": 0.5}}},
            {"rotate": {"angle": {"uniform": [-180, 180]}, "keep_size": False}},
            {"shift_scale_rotate": {"angle": {"uniform": [-45, 45]}, "scale": _SCALE, "shift_x": 0.05}},
            {"zoom": {"factor": _SCALE, "y": _PLACE, "x": _PLACE}},
            {"letterbox": {"size": [420, 420], "fill_value": 0}},
            {"expand": {"ratio": 1.2, "y": _PLACE, "x": _PLACE}},
            {"rotate90": {"times": {"integers": [0, 3]}}},
            {"transpose": {"p": 0.5}},
        ]
    ),
    min_size=1,
    max_size=5,
)


def run_with_box(steps, seed, box):
    """Return the output of a recipe whose mask shows a box, the corners of the box before, and after in pixels."""
    # Hypothesis likes edges that hit the centers of a whole row of pixels, which are then inside or not.
    corners = to_corners(np.add([box], [0.137, 0.171, 0.113, 0.059, 0.37]))
    mask = drawn_polygon(corners[0], (HEIGHT, WIDTH)).astype(np.uint8)[:, :, None]
    made = run([*steps, {"flip": {"p": 0.5}}], smooth_image(), mask, seed=seed)
    found, visible = follow_corners(corners / SIZE, made.path, made.before)
    return made, corners[0], found[0] * made.after[::-1], visible[0]


@settings(max_examples=EXAMPLES, deadline=None)
@given(steps=SIMILAR, seed=st.integers(0, 2**31), box=BOXES)
def test_a_box_that_keeps_its_shape_covers_its_pixels(steps, seed, box):
    made, _, rectangle, visible = run_with_box(steps, seed, box)
    pixels = made.mask[:, :, 0] > 0
    if visible > 1 - 1e-9 and pixels.sum() > 12000:
        assert overlap(drawn_polygon(rectangle, made.after), pixels) >= 0.98


def in_frame(points, rectangle):
    """Return points in the frame of a rectangle, and its sides."""
    axes = np.stack([rectangle[1] - rectangle[0], rectangle[3] - rectangle[0]])
    sides = np.hypot(*axes.T)
    assert abs(axes[0] @ axes[1]) < 1e-3 * sides.prod()
    return (points - rectangle[0]) @ (axes / sides[:, None]).T, sides


def pixel_size(path):
    """Return how large a pixel of the original image becomes.

    Half of its diagonal is what the drawing of the mask and each of up to two lookups (before and after a mosaic) round
    by; a sharp corner of a sheared box is short of its tip by more.
    """
    whole = np.eye(3)
    for matrix, _ in path:
        whole = matrix @ whole
    middle = np.array([WIDTH / 2, HEIGHT / 2, 1])
    return max(1.0, np.linalg.norm(whole[:2, :2] / (whole[2] @ middle), 2))


@settings(max_examples=EXAMPLES, deadline=None)
@given(steps=COMPOSED, seed=st.integers(0, 2**31), box=BOXES)
def test_a_box_is_the_smallest_one_around_its_pixels(steps, seed, box):
    made, corners, rectangle, visible = run_with_box(steps, seed, box)
    pixels = np.argwhere(made.mask[:, :, 0] > 0)[:, ::-1] + 0.5
    if len(pixels) < 1000:
        return
    # In the frame of the rectangle, pixels reach all of its sides and none is outside.
    places, sides = in_frame(pixels, rectangle)
    outside, short = 1.5 * pixel_size(made.path), 2.5 * pixel_size(made.path)
    assert -outside < places.min() and (places.max(axis=0) < sides + outside).all()
    assert places.min(axis=0).max() < short and (places.max(axis=0) > sides - short).all()
    if visible > 1 - 1e-9:
        moved = corners
        for matrix, _ in made.path:
            homogeneous = np.append(moved, np.ones((4, 1)), axis=1) @ matrix.T
            moved = homogeneous[:, :2] / homogeneous[:, 2:]
        assert sides.prod() == pytest.approx(np.prod(cv2.minAreaRect(moved.astype(np.float32))[1]), rel=1e-3)


@pytest.mark.parametrize("name", ["elastic", "grid_distortion", "optical_distortion", "thin_plate"])
def test_distorted_boxes_are_rectangles_around_the_pixels(name):
    corners = to_corners(np.array([[200, 150, 160, 90, 20]]))
    mask = drawn_polygon(corners[0], (HEIGHT, WIDTH)).astype(np.uint8)[:, :, None]
    made = run([{"crop_part": {"width": 0.62, "x": 0}}, {name: {}}], smooth_image(), mask, seed=4)
    (found,), (visible,) = follow_corners(corners / SIZE, made.path, made.before)
    assert 0.5 < visible < 1
    pixels = np.argwhere(made.mask[:, :, 0] > 0)[:, ::-1] + 0.5
    rectangle = found * made.after[::-1]
    places, sides = in_frame(pixels, rectangle)
    assert np.abs(places.min(axis=0)).max() < 2.5 and np.abs(places.max(axis=0) - sides).max() < 2.5
