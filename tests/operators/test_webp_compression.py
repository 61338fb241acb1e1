"""WebP compression: the bytes of Pillow, in pipelines, in eager mode and in recipes, and what is refused."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pixelmill import DataError, _core, fn, pipeline_def, types
from pixelmill.engine import pillow_webp
from pixelmill.experimental import dynamic
from pixelmill.recipe import Recipe

SMOOTH = np.add.outer(np.arange(50) * 3, np.arange(70) * 2)[:, :, None] * [1, 2, 3] % 256


def picture(height: int = 50, width: int = 70, seed: int = 0) -> Any:
    noise = np.random.default_rng(seed).normal(0, 25, (height, width, 3))
    return (np.resize(SMOOTH, (height, width, 3)) + noise).clip(0, 255).astype(np.uint8)


def expected(image: Any, quality: int) -> Any:
    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(stream, "webp", quality=quality)
    return np.asarray(Image.open(stream).convert("RGB"))


def run(batch: Any, *, threads: int = 1, layout: str = "HWC", **arguments: Any) -> list[Any]:
    @pipeline_def(batch_size=len(batch), num_threads=threads, device_id=None)
    def pipeline() -> Any:
        images = fn.external_source(source=lambda: batch, layout=layout)
        return fn.webp_compression_distortion(images, **arguments)

    made = pipeline()
    try:
        (output,) = made.run()
        return [np.array(output.at(number)) for number in range(len(batch))]
    finally:
        made.close()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(-5, 110))
def test_it_is_what_pillow_makes(height: int, width: int, quality: int) -> None:
    image = picture(height, width)
    (found,) = run([image], quality=quality)
    assert np.array_equal(found, expected(image, min(max(quality, 1), 100)))


def test_threads_and_frames_change_nothing() -> None:
    batch = [picture(seed=seed) for seed in range(12)]
    for found, image in zip(run(batch, threads=4, quality=10), batch, strict=True):
        assert np.array_equal(found, expected(image, 10))
    (frames,) = run([np.stack(batch[:3])], layout="FHWC", quality=10)
    assert np.array_equal(frames, [expected(image, 10) for image in batch[:3]])


def test_views_are_packed_first() -> None:
    image = picture()

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline() -> Any:
        images = fn.external_source(source=lambda: [image], layout="HWC")
        cut = fn.flip(fn.crop(images, crop=[31, 41], crop_pos_x=0, crop_pos_y=0))
        return fn.webp_compression_distortion(cut, quality=fn.cast(fn.constant(idata=[7]), dtype=types.INT32))

    made = pipeline()
    (output,) = made.run()
    assert np.array_equal(np.array(output.at(0)), expected(image[:31, :41][:, ::-1], 7))
    made.close()


def test_eager_mode_and_recipes_give_the_same() -> None:
    image = picture()
    eager = dynamic.webp_compression_distortion(dynamic.as_tensor(image, layout="HWC"), quality=12)
    assert np.array_equal(np.asarray(eager.evaluate()), expected(image, 12))

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline() -> Any:
        images = fn.external_source(source=lambda: [image], layout="HWC")
        return Recipe("x", steps=({"webp_compression_distortion": {"quality": 12}},)).apply(images).image

    made = pipeline()
    (output,) = made.run()
    assert np.array_equal(np.array(output.at(0)), expected(image, 12))
    made.close()


def test_other_images_are_refused() -> None:
    with pytest.raises(DataError, match="webp_compression_distortion: expected images with three channels"):
        run([picture()[:, :, :1]])
    with pytest.raises(DataError, match="must be of type uint8"):
        run([picture().astype(np.float32)])


def test_a_side_that_webp_cannot_have_is_one_bad_sample() -> None:
    with pytest.raises(DataError, match="WebP: encoding error 5"):
        run([np.zeros((1, 16384, 3), np.uint8)])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda *_: (np.zeros((2, 2, 3), np.uint8), "", ""), "WebP: the image changed its size"),
        (lambda *_: (None, "too_large", "WebP: no memory"), "WebP: no memory"),
        (lambda *_: int("x"), "ValueError"),
    ],
)
def test_what_the_codec_may_answer(answer: Any, message: str) -> None:
    _core.set_webp_round_trip(answer)
    try:
        with pytest.raises(DataError, match=message):
            run([picture()])
    finally:
        _core.set_webp_round_trip(pillow_webp.through_webp)
