"""Windows of a fixed size: every position occurs, the first and the last included."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE, make, numpy_batch, run

from pixelmill import DataError, fn, pipeline_def


def test_the_last_position_of_a_window_is_drawn_too() -> None:
    count = 64

    @pipeline_def(batch_size=count, num_threads=1, device_id=None, seed=3)
    def windows() -> object:
        boxes = fn.external_source(source=lambda: [np.float32([[0.4, 0.4, 0.6, 0.6]])] * count)
        # 12 columns and 9 rows, windows of 10 by 8: first columns 0 to 2, first rows 0 and 1.
        return fn.random_bbox_crop(
            boxes, crop_shape=[10, 8], input_shape=[12, 9], thresholds=[0.0], allow_no_crop=False, bbox_layout="xyXY"
        )[0]

    (anchors,) = windows().run()
    found = np.stack([np.asarray(anchors.at(place)) for place in range(count)])
    assert set(found[:, 0].tolist()) == {0.0, 1.0, 2.0}
    assert set(found[:, 1].tolist()) == {0.0, 1.0}


def windows_of(module, crop_shape, count=400):
    """Return anchors, shapes and boxes of windows of an image with 100 columns and 80 rows."""
    return [
        np.stack(numpy_batch(batch))
        for batch in make(
            module,
            lambda m, boxes: m.fn.random_bbox_crop(
                boxes, bbox_layout="xyXY", input_shape=[100, 80], crop_shape=crop_shape, thresholds=[0.0], seed=3
            ),
            [np.float32([[0.4, 0.4, 0.6, 0.6]])] * count,
            layouts=[""],
        ).run()
    ]


@pytest.mark.parametrize("crop_shape", [[130, 90], [130, 40], [40, 200], [100, 80]])
@pytest.mark.filterwarnings("ignore")
def test_windows_may_be_larger_than_the_image(crop_shape) -> None:
    (anchors, shapes, boxes), (theirs, their_shapes, _) = (windows_of(module, crop_shape) for module in (HERE, DALI))
    np.testing.assert_array_equal(shapes, their_shapes)
    np.testing.assert_array_equal(anchors, np.round(anchors))
    spread = np.ptp(theirs, axis=0)
    for got, wanted in (
        (anchors.min(0), theirs.min(0)),
        (anchors.max(0), theirs.max(0)),
        (anchors.mean(0), theirs.mean(0)),
    ):
        assert (np.abs(got - wanted) <= 0.1 * spread).all()
    size = np.array([100, 80])
    corners = np.concatenate([0.4 * size - anchors, 0.6 * size - anchors], axis=1) / np.tile(shapes, 2)
    np.testing.assert_allclose(boxes[:, 0], corners.clip(0, 1), atol=1e-5)


@pytest.mark.parametrize("extent", [0, -5, 2**40])
def test_extents_that_no_window_has_are_refused(extent) -> None:
    with pytest.raises(DataError, match="random_bbox_crop: an extent of"):
        windows_of(HERE, [extent, 10], count=2)


@pytest.mark.parametrize("box", [[-0.1, 0.1, 0.4, 0.4], [0.5, 0.5, 1.2, 0.8]])
def test_boxes_outside_of_the_image_are_refused_as_on_dali(box) -> None:
    def graph(m, boxes):
        return m.fn.random_bbox_crop(boxes, bbox_layout="xyXY")

    for module in (HERE, DALI):
        with pytest.raises(RuntimeError, match="out of bounds"):
            run(graph, [np.float32([box])] * 2, layouts=[""], module=module)
