"""Windows of a fixed size: every position occurs, the first and the last included."""

from __future__ import annotations

import numpy as np

from pixelmill import fn, pipeline_def


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
