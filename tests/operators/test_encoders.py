"""Writing images: what Pillow writes, and back."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from dali_runs import HERE, make, run
from encoded_images import JPEG_CONTENTS, encode, pillow
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_comparison import on_each_level
from PIL import Image

from pixelmill import fn
from pixelmill.errors import ArgumentError, DataError


def pictures(seed, height, width, channels):
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (height // 5 + 1, width // 5 + 1, channels), np.uint8)
    return np.repeat(np.repeat(coarse, 5, axis=0), 5, axis=1)[:height, :width]


def written(picture, **options):
    return run(lambda _, data: fn.encoders.image(data, **options), [picture])[0][0]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    height=st.integers(1, 60),
    width=st.integers(1, 60),
    gray=st.booleans(),
    quality=st.integers(1, 100),
    subsampling=st.sampled_from(["4:4:4", "4:2:2", "4:2:0"]),
)
def test_jpeg_holds_the_pixels_that_pillow_writes(seed, height, width, gray, quality, subsampling):
    picture = pictures(seed, height, width, 1 if gray else 3)
    file = written(picture, quality=quality, subsampling=subsampling)
    reference = Image.fromarray(picture[..., 0] if gray else picture)
    options = {} if gray else {"subsampling": subsampling}
    np.testing.assert_array_equal(
        pillow(file, None), pillow(encode(reference, "JPEG", quality=quality, **options), None)
    )


@settings(max_examples=80, deadline=None)
@given(
    content=st.sampled_from(sorted(JPEG_CONTENTS)),
    seed=st.integers(0, 2**32 - 1),
    height=st.integers(1, 130),
    width=st.integers(1, 130),
    gray=st.booleans(),
    quality=st.integers(1, 100),
    subsampling=st.sampled_from(["4:4:4", "4:2:2", "4:2:0"]),
)
def test_jpeg_files_of_every_level_are_equal(content, seed, height, width, gray, quality, subsampling):
    """Both levels code alike; test_jpeg_encoder.py compares them with libjpeg."""
    picture = JPEG_CONTENTS[content](np.random.default_rng(seed), height, width)
    picture = picture[..., :1] if gray else picture
    on_each_level(lambda m, data: m.fn.encoders.image(data, quality=quality, subsampling=subsampling), [picture])


@pytest.mark.parametrize("quality", [50, 100])
def test_long_streams_of_every_level_are_equal(quality):
    """Large files in turns with small ones."""
    rng = np.random.default_rng(3)
    large, small = (JPEG_CONTENTS["noise"](rng, *size) for size in ((500, 700), (9, 7)))
    on_each_level(lambda m, data: m.fn.encoders.image(data, quality=quality), [large, small, large])


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), height=st.integers(1, 60), width=st.integers(1, 60), gray=st.booleans())
def test_png_loses_nothing(seed, height, width, gray):
    picture = pictures(seed, height, width, 1 if gray else 3)
    np.testing.assert_array_equal(pillow(written(picture, format="png"), None), picture[..., 0] if gray else picture)


def test_views_are_written_as_they_are_seen():
    picture = pictures(7, 40, 50, 3)
    graph = lambda _, data: fn.encoders.image(fn.flip(fn.crop(data, crop=(20, 30))), format="png")  # noqa: E731
    np.testing.assert_array_equal(pillow(run(graph, [picture])[0][0]), picture[10:30, 10:40][:, ::-1])


def test_quality_may_differ_between_samples():
    picture = pictures(8, 64, 64, 3)
    qualities = [np.int32(20), np.int32(95)]
    files = run(lambda _, x, q: fn.encoders.image(x, quality=q), [picture, picture], qualities, layouts=["HWC", ""])[0]
    assert len(files[0]) < len(files[1])


@pytest.mark.parametrize("options", [{"format": "gif"}, {"subsampling": "4:1:1"}])
def test_wrong_arguments_are_refused_when_the_graph_is_built(options):
    with pytest.raises(ArgumentError, match=next(iter(options))):
        make(HERE, lambda _, data: fn.encoders.image(data, **options), [pictures(1, 4, 4, 3)])


def test_what_is_no_image_is_refused():
    for wrong in (pictures(1, 4, 4, 2), pictures(1, 4, 4, 3).astype(np.float32)):
        with pytest.raises((DataError, ArgumentError), match=r"encoders\.image"):
            written(wrong)


def test_other_libraries_do_not_lend_their_zlib():
    """TensorFlow exports its own; what PNG files hold must not depend on who was imported first."""
    pytest.importorskip("tensorflow")
    program = "{}from pixelmill import _core; print(_core.codec_versions())"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", program.format(before)],
            env=environment,
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for before in ("", "import tensorflow; ")
    )
    assert first == second and b"zlib" in first
