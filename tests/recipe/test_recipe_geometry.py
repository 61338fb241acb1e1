"""Boxes that follow an image, with expected values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pixelmill.recipe import geometry

SIZE = (100, 200)  # height and width
BOX = np.array([[0.2, 0.2, 0.6, 0.8]], np.float32)


@pytest.mark.parametrize("scale", [0.1, 0.4, 0.5, 1.0, 3.0])
def test_a_resize_leaves_boxes_whole(scale: float) -> None:
    after = np.array([SIZE[0] * scale, SIZE[1] * scale, 3])
    boxes, visible = geometry.follow(BOX, [geometry.resized(np.array([*SIZE, 3]), after)], SIZE)
    np.testing.assert_allclose(boxes, BOX, atol=1e-6)
    np.testing.assert_allclose(visible, 1.0, atol=1e-9)


def test_a_crop_after_a_resize_counts_what_is_cut_off_and_not_the_resize() -> None:
    # Half the size: the box reaches from (20, 10) to (60, 40). The crop keeps x below 40, half of its width.
    path = [
        geometry.resized(np.array([100, 200]), np.array([50, 100])),
        geometry.cropped(np.array([0, 0]), np.array([50, 40])),
    ]
    boxes, visible = geometry.follow(BOX, path, SIZE)
    np.testing.assert_allclose(visible, 0.5)
    np.testing.assert_allclose(boxes, [[20 / 40, 10 / 50, 1, 40 / 50]], atol=1e-6)


def test_flips_and_turns_by_right_angles_move_corners() -> None:
    mirrored, visible = geometry.follow(BOX, [geometry.flipped(np.array(SIZE), np.array(1), np.array(0))], SIZE)
    np.testing.assert_allclose(mirrored, [[0.4, 0.2, 0.8, 0.8]], atol=1e-6)
    turn = geometry.rotated(np.array([100, 200]), np.array([200, 100]), np.array(90.0))
    turned, whole = geometry.follow(
        BOX, [turn], SIZE
    )  # counterclockwise: x becomes y, and the right edge is at the top
    np.testing.assert_allclose(turned, [[0.2, 0.4, 0.8, 0.8]], atol=1e-6)
    np.testing.assert_allclose([visible, whole], 1.0, atol=1e-9)


def test_a_box_outside_of_the_crop_is_gone() -> None:
    boxes, visible = geometry.follow(BOX, [geometry.cropped(np.array([0, 150]), np.array([100, 50]))], SIZE)
    assert visible.tolist() == [0.0] and not boxes.any()


def test_what_lies_outside_of_the_image_is_cut_off_before_anything_else() -> None:
    boxes, visible = geometry.follow(np.array([[-0.5, -0.5, 0.5, 0.5], [0.5, 0.75, 1.5, 1.25]]), [], SIZE)
    np.testing.assert_allclose(boxes, [[0, 0, 0.5, 0.5], [0.5, 0.75, 1, 1]], atol=1e-6)
    np.testing.assert_allclose(visible, [0.25, 0.25])


def test_what_is_cut_at_an_edge_ends_there() -> None:
    """Not beyond it by rounding, which readers of such boxes refuse."""
    rng = np.random.default_rng(5)
    boxes = np.sort(rng.uniform(0, 1, (200, 2, 2)), axis=1).reshape(200, 4)
    for angle in rng.uniform(-180, 180, 40):
        turn = geometry.rotated(np.array(SIZE), np.array(SIZE), np.array(angle))
        moved, visible = geometry.follow(boxes, [turn], SIZE)
        assert (visible < 1).any()
        assert moved.min() >= 0 and moved.max() <= 1
