"""Iterators for PaddlePaddle; without it, the error that says how to install it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from pixelmill import ArgumentError, Pipeline, fn
from pixelmill.plugin.base_iterator import LastBatchPolicy

needs_paddle = pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="paddle is not installed")


def test_without_paddle_the_next_step_is_named() -> None:
    program = "import sys; sys.modules['paddle'] = None; import pixelmill.plugin.paddle"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'pixelmill[paddle]'" in result.stderr


def iterator(output_map: list[Any], samples: list[Any], **options: Any) -> Any:
    from pixelmill.plugin import paddle

    pipe = Pipeline(len(samples), 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(source=[samples, samples]))
    return paddle.DALIGenericIterator(pipe, output_map, **options)


@needs_paddle
def test_dense_batches_are_tensors_of_the_same_type() -> None:
    for dtype in (np.uint8, np.int32, np.int64, np.float32):
        samples = [np.arange(6, dtype=dtype).reshape(2, 3) + k for k in range(2)]
        (batch,) = next(iterator(["data"], samples))
        assert np.array(batch["data"]).dtype == dtype
        np.testing.assert_array_equal(np.array(batch["data"]), samples)


@needs_paddle
def test_samples_of_different_lengths_have_a_level() -> None:
    samples = [np.full((length, 2), length, np.float32) for length in (1, 3)]
    (batch,) = next(iterator([("boxes", 1)], samples))
    np.testing.assert_array_equal(np.array(batch["boxes"]), np.concatenate(samples))
    assert batch["boxes"].lod() == [[0, 1, 4]]
    with pytest.raises(ArgumentError, match=r"use \('boxes', 1\)"):
        iterator(["boxes"], samples)
    with pytest.raises(ArgumentError, match="no LoD level 3"):
        iterator([("boxes", 3)], samples)


@needs_paddle
def test_partial_batches_are_cut() -> None:
    samples = [np.array([k], np.int64) for k in range(4)]
    batches = iterator(["label"], samples, size=6, last_batch_policy=LastBatchPolicy.PARTIAL)
    assert [np.array(batch[0]["label"]).ravel().tolist() for batch in batches] == [[0, 1, 2, 3], [0, 1]]
