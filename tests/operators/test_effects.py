"""Effects against OpenCV, and what drawn effects have in common whatever is drawn."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from operator_comparison import on_each_level
from peers import peer
from reference_effects import superpixels_filled

from pixelmill import ArgumentError, Pipeline, fn
from pixelmill.errors import DataError

cv2 = peer("cv2")

RNG = np.random.default_rng(5)
IMAGE = cv2.GaussianBlur(RNG.integers(0, 256, (120, 160, 3), np.uint8), (9, 9), 2)
GRAY = np.full((200, 300, 3), 120, np.uint8)


def apply(name, image, **arguments):
    operator: Any = fn
    for part in name.split("."):
        operator = getattr(operator, part)
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, seed=1)
    with pipeline:
        pipeline.set_outputs(operator(fn.external_source(source=lambda: [image], layout="HWC"), **arguments))
    (made,) = pipeline.run()
    result = made.at(0).copy()
    pipeline.close()
    return result


def test_filters_are_opencvs():
    np.testing.assert_allclose(apply("box_blur", IMAGE, size=5), cv2.blur(IMAGE, (5, 5)).astype(int), atol=1)
    sharp = np.array([[-1, -1, -1], [-1, 9, -1], [-1, -1, -1]], np.float32) * np.float32(0.4)
    sharp[1, 1] += 0.6
    expected = cv2.filter2D(IMAGE, -1, sharp).astype(int)
    np.testing.assert_allclose(apply("sharpen", IMAGE, alpha=0.4), expected, atol=1)


def test_tables_are_opencvs():
    curve = np.clip(((np.arange(256) / 255) ** 1.7) * 255, 0, 255)
    expected = cv2.LUT(IMAGE, curve.round().astype(np.uint8)).astype(int)
    np.testing.assert_allclose(apply("gamma", IMAGE, gamma=1.7), expected, atol=1)


@pytest.mark.parametrize("angle", [0, 30, 90, 137])
@pytest.mark.parametrize("size", [3, 7, 9, 15])
def test_filters_of_few_taps_in_integers_are_those_in_floats(angle, size):
    """A mean of at most 32 pixels has 16-bit products: off by a fraction of a level, and even areas stay."""
    arguments = {"size": size, "angle": float(angle)}
    for value in (1, 77, 128, 255):
        even = np.full((20, 90, 3), value, np.uint8)
        np.testing.assert_array_equal(apply("motion_blur", even, **arguments), even)
    noisy = np.random.default_rng(2).integers(0, 256, (61, 83, 3), np.uint8)
    noisy[:, 40:] = np.where(noisy[:, 40:] < 128, 0, 255)
    (made,) = on_each_level(lambda m, x: m.fn.motion_blur(x, **arguments), [noisy])
    exact = apply("motion_blur", noisy.astype(np.float32), **arguments)
    assert np.abs(made - exact).max() < 0.5 + 32 / 128


def test_a_motion_along_a_column_blurs_columns_only():
    image = np.zeros((31, 31, 3), np.uint8)
    image[15] = 200
    across = apply("motion_blur", image, size=9, angle=0.0)
    along = apply("motion_blur", image, size=9, angle=90.0)
    np.testing.assert_array_equal(across, image)
    assert (along[:, 15, 0] > 0).sum() == 9 and along.max() < 60


def test_downscale_repeats_pixels():
    small = apply("downscale", IMAGE, scale=0.25)
    assert small.shape == IMAGE.shape
    blocks = small.reshape(30, 4, 40, 4, 3)
    assert (blocks == blocks[:, :1, :, :1]).all()
    assert set(map(tuple, small.reshape(-1, 3))) <= set(map(tuple, IMAGE.reshape(-1, 3)))


@pytest.mark.parametrize("seed", range(5))
def test_holes_have_the_size_that_was_asked_for(seed):
    one = apply("coarse_dropout", GRAY, holes=[1], height=[0.2], width=[0.1], seed=seed)
    rows, columns = np.nonzero((one == 0).all(-1))
    assert len(rows) == 40 * 30 and np.ptp(rows) == 39 and np.ptp(columns) == 29
    many = apply("coarse_dropout", GRAY, holes=[3, 5], height=[0.1, 0.2], width=[0.1], fill_value=[1, 2, 3], seed=seed)
    filled = (many == [1, 2, 3]).all(-1)
    assert 0 < filled.sum() <= 5 * 40 * 30 and (many[~filled] == 120).all()
    erased = (apply("random_erasing", GRAY, area=[0.1, 0.3], seed=seed) == 0).all(-1).mean()
    assert 0.08 < erased < 0.31


def test_noise_has_its_deviation():
    speckle = apply("noise.speckle", GRAY, stddev=0.1, seed=3).astype(float)
    assert 11 < speckle.std() < 13 and abs(speckle.mean() - 120) < 1
    assert (np.ptp(speckle, axis=-1) == 0).all()  # one number for all channels
    numbers = speckle[..., 0].ravel()
    for distance in range(1, 5):  # and another one for each pixel
        assert abs(np.corrcoef(numbers[distance:], numbers[:-distance])[0, 1]) < 0.02
    iso = apply("noise.iso", GRAY, luma=0.0, color=0.05, seed=3).astype(float)
    assert 12 < iso.std() < 13.5 and abs(np.corrcoef(iso.reshape(-1, 3).T)[0, 1]) < 0.02


def test_weather_changes_what_it_should():
    assert apply("fog", GRAY, density=0.5, seed=1).min() > 120
    assert apply("shadow", GRAY, intensity=0.5, seed=1).max() == 120
    dark = (apply("shadow", GRAY, intensity=0.5, seed=1) < 120).mean()
    assert 0.02 < dark < 0.8
    sun = apply("sun_flare", GRAY, x=0.25, y=0.5, radius=0.2, seed=1)
    assert sun[100, 75, 0] > 240 and sun[100, 75, 0] == sun.max()
    assert apply("rain", GRAY, amount=0.0, seed=1).max() == 105  # darkened, no drops
    assert apply("rain", GRAY, amount=0.5, seed=1).max() > 130
    snowy = apply("snow", IMAGE, amount=1.0, brightness=1.5, seed=1).astype(int)
    assert (snowy >= IMAGE).all() and (snowy > IMAGE).any()
    drops = apply("spatter", GRAY, amount=0.5, lightness=0.0, seed=1)
    assert drops.max() == 120 and 0.02 < (drops < 120).mean() < 0.7


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("posterize", {"bits": 9}),
        ("channel_shuffle", {"order": [0, 1]}),
        ("channel_shuffle", {"order": [0, 1, 7]}),
        ("color_jitter", {"order": [0, 1, 2, 2]}),
        ("coarse_dropout", {"height": [2.0]}),
        ("downscale", {"scale": 0.0}),
        ("coarse_dropout", {"fill_value": [1, 2]}),
        ("zoom_blur", {"factor": 0.5}),
        ("superpixels", {"segments": 0}),
        ("superpixels", {"probability": 1.5}),
    ],
)
def test_arguments_that_cannot_be_are_refused(name, arguments):
    with pytest.raises((ArgumentError, DataError)) as caught:
        apply(name, GRAY, **arguments)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["gamma", "noise.iso", "fog", "zoom_blur", "superpixels"])
def test_types_that_cannot_be_are_refused(name):
    with pytest.raises((ArgumentError, DataError), match="uint8"):
        apply(name, np.zeros((4, 4, 3), np.float32))


@pytest.mark.parametrize("segments", [1, 7, 60, 3000])
@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 300, 1), (200, 150, 3), (37, 83, 4)])
def test_superpixels_are_those_of_slic(shape, segments):
    y, x, k = np.mgrid[: shape[0], : shape[1], : shape[2]]
    image = (127 + 80 * np.sin(x / 13 + k) * np.cos(y / 17) + np.random.default_rng(9).normal(0, 15, shape)).clip(
        0, 255
    )
    image = image.astype(np.uint8)
    filled = superpixels_filled(image, segments)
    np.testing.assert_array_equal(apply("superpixels", image, segments=segments, probability=1.0), filled)
    np.testing.assert_array_equal(apply("superpixels", image, segments=segments, probability=0.0), image)


def test_superpixels_are_filled_as_often_as_wanted():
    image = np.random.default_rng(9).integers(0, 256, (200, 200, 3), np.uint8)
    filled = superpixels_filled(image, 400)
    made = apply("superpixels", image, segments=400, probability=0.3, seed=4)
    of_segment = (made == filled).all(-1)
    np.testing.assert_array_equal(np.where(of_segment[..., None], filled, image), made)
    assert 0.22 < of_segment.mean() < 0.38
    assert (apply("superpixels", image, segments=400, probability=0.3, seed=5) != made).any()


LEVELS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ("snow", "channel_shuffle", "channel_dropout", "sepia", "to_gray", "tone_curve")),
    *((name, {}) for name in ("noise.iso", "noise.speckle", "equalize", "grid_mask", "downscale", "sharpen", "emboss")),
    *(("box_blur", {"size": size}) for size in (3, 5, 15, 21)),
    *(("zoom_blur", {"factor": 1.4, "samples": samples}) for samples in (2, 7, 64)),
    ("gamma", {"gamma": 0.7}),
    ("rgb_shift", {"shift": [30.5, -90.0, 4.0]}),
    ("color_jitter", {"saturation": 1.7, "hue": 40.0, "brightness": 1.4}),
    ("brightness_contrast", {"brightness": 1.3, "contrast": 1.2}),
    ("motion_blur", {"size": 9, "angle": 30.0}),
    ("defocus", {"radius": 4.0}),
    ("superpixels", {"segments": 30, "probability": 0.5}),
]


def print_hashes():
    """Print a hash of what each effect makes; run in other processes, which choose their instructions at the start."""
    for width in (5, 83):
        image = np.random.default_rng(7).integers(0, 256, (37, width, 3), np.uint8)
        for name, arguments in LEVELS:
            print(name, arguments, width, hashlib.sha256(apply(name, image, **arguments).tobytes()).hexdigest())


def test_effects_have_the_same_bytes_with_all_instructions():
    found = []
    for level in ("base", "avx2", None):  # None: the best of this machine
        environment = {name: value for name, value in os.environ.items() if name != "PIXELMILL_SIMD"}
        if level is not None:
            environment["PIXELMILL_SIMD"] = level
        folders = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]
        program = f"import sys; sys.path[:0] = {folders}; import test_effects; test_effects.print_hashes()"
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.splitlines())
    assert len(found[0]) == 2 * len(LEVELS)
    assert found[0] == found[1]
    assert found[0] == found[2]


def test_zoom_blur_rounds_to_the_nearest_mean():
    image = np.random.default_rng(8).integers(0, 256, (9, 33, 3), np.uint8)
    for samples in (2, 3, 5, 7, 11, 23, 47, 63, 64):
        places = []
        for extent in image.shape[:2]:
            scales = 1 + 0.5 * np.arange(samples) / (samples - 1)
            at = extent / 2 + (np.arange(extent) + 0.5 - extent / 2) / scales[:, None]
            places.append(np.clip(at.astype(int), 0, extent - 1))
        copies = np.stack([image[rows][:, columns] for rows, columns in zip(*places, strict=True)]).astype(int)
        expected = (copies.sum(0) + samples // 2) // samples
        np.testing.assert_array_equal(apply("zoom_blur", image, samples=samples, factor=1.5), expected)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0, 2.2, 63.9, 64.0, 500.0])
def test_gamma_is_a_power(gamma):
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    wanted = 255 * (levels / 255.0) ** gamma
    np.testing.assert_array_equal(apply("gamma", levels, gamma=gamma), np.floor(wanted + 0.5).astype(np.uint8))
