"""Ctrl-C while Python decodes an image ends the program's call, and is no damaged sample."""

from __future__ import annotations

import io
import time
from typing import Any

import numpy as np
import pytest
from PIL import Image

from pixelmill import Pipeline, fn


def test_ctrl_c_in_a_decoder_is_no_damaged_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO()
    Image.new("RGB", (8, 6), (200, 10, 30)).save(stream, "webp", lossless=True)
    data = np.frombuffer(stream.getvalue(), np.uint8)
    calls: list[int] = []
    opened = Image.open

    def interrupted(*arguments: Any, **options: Any) -> Any:
        calls.append(len(calls))
        if len(calls) == 1:
            raise KeyboardInterrupt
        return opened(*arguments, **options)

    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1, on_error="fill")
    with pipeline:
        pipeline.set_outputs(fn.decoders.image(fn.external_source(source=lambda: [data])))
    monkeypatch.setattr(Image, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            pipeline.run()
            time.sleep(0.001)
    assert len(calls) > 1
    assert len(pipeline.errors) == 0
    (images,) = pipeline.run()
    assert np.asarray(images[0])[0, 0].tolist() == [200, 10, 30]
    pipeline.close()
