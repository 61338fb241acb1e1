"""What was drawn here and is handed to DALI gives DALI's pixels: for every operator that draws and that DALI has."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from dali_runs import DALI, close, dali_has, noise, run
from encoded_images import color, encode

from pixelmill.operators import public_operators

SEED = 11
COUNT = 12
IMAGES = [noise((40 + 3 * i, 70 - 2 * i, 3), seed=i) for i in range(COUNT)]
FILES = [encode(color(9, 40 + 3 * i, 70 - 2 * i), "JPEG", subsampling=i % 3) for i in range(COUNT)]
MASKS = [noise((40 + 3 * i, 70 - 2 * i, 1), seed=i) // 100 for i in range(COUNT)]
SHAPES = [np.array(image.shape, np.int64) for image in IMAGES]
CORNERS = np.sort(np.random.default_rng(2).random((COUNT, 5, 2, 2)), axis=2)
BOXES = list(CORNERS.reshape(COUNT, 5, 4).astype(np.float32))


def on_dali(graph, *inputs, layouts="HWC"):
    """Run a graph on DALI, whose windows are int32 and not the int64 that its own operators draw."""
    narrow = [[x.astype(np.int32) if x.dtype == np.int64 else x for x in batch] for batch in inputs]
    with warnings.catch_warnings(record=True):
        return run(graph, *narrow, module=DALI, layouts=layouts)[0]


def here(graph, *inputs, layouts="HWC"):
    return run(graph, *inputs, layouts=layouts)


def equal(mine, theirs, *, level):
    assert len({sample.tobytes() for sample in mine}) > 1, "all draws are the same"
    for got, wanted in zip(mine, theirs, strict=True):
        close(got, wanted, level=level, real=1e-3)


def windows():
    """Return the windows that everything draws which draws windows of images, by the same seed."""
    return here(lambda m, s: m.fn.random_crop_generator(s, seed=SEED), SHAPES, layouts="")


def resized_crop():
    (mine,) = here(lambda m, x: m.fn.random_resized_crop(x, size=(20, 30), seed=SEED), IMAGES)
    anchors, shapes = windows()
    ends = [np.float32(anchor + shape) for anchor, shape in zip(anchors, shapes, strict=True)]
    starts = [np.float32(anchor) for anchor in anchors]
    graph = lambda m, x, a, b: m.fn.resize(x, size=(20, 30), roi_start=a, roi_end=b)  # noqa: E731
    equal(mine, on_dali(graph, IMAGES, starts, ends), level=1)


def decoded_crop():
    (mine,) = here(lambda m, f: m.fn.decoders.image_random_crop(f, seed=SEED), FILES, layouts="")
    graph = lambda m, f, a, s: m.fn.decoders.image_slice(f, start=a, shape=s, axes=[0, 1])  # noqa: E731
    equal(mine, on_dali(graph, FILES, *windows(), layouts=""), level=1)


def generated_windows():
    anchors, shapes = windows()
    (mine,) = here(lambda m, x, a, s: m.fn.slice(x, start=a, shape=s, axes=[0, 1]), IMAGES, anchors, shapes)
    equal(
        mine,
        on_dali(lambda m, x, a, s: m.fn.slice(x, start=a, shape=s, axes=[0, 1]), IMAGES, anchors, shapes),
        level=0,
    )


def boxes_window():
    """The window, and the boxes that are left in it."""
    arguments = {"bbox_layout": "xyXY", "scaling": [0.3, 1.0], "aspect_ratio": [0.5, 2.0], "num_attempts": 50}

    def graph(m, x, b):
        anchor, shape, boxes = m.fn.random_bbox_crop(b, **arguments, thresholds=[0.1, 0.5], seed=SEED)
        return m.fn.slice(x, anchor, shape, axis_names="WH"), anchor, shape, boxes

    mine, anchors, shapes, boxes = here(graph, IMAGES, BOXES)
    equal(mine, on_dali(lambda m, x, a, s: m.fn.slice(x, a, s, axis_names="WH"), IMAGES, anchors, shapes), level=0)
    for anchor, shape, found, given in zip(anchors, shapes, boxes, BOXES, strict=True):
        centres = (given[:, :2] + given[:, 2:]) / 2
        inside = given[np.all((centres >= anchor) & (centres <= anchor + shape), axis=1)]
        moved = (inside - np.tile(anchor, 2)) / np.tile(shape, 2)
        np.testing.assert_allclose(found, moved.clip(0, 1), atol=1e-5)


def region_window():
    arguments = {"crop_shape": [20, 25], "roi_start": [5, 9], "roi_shape": [25, 20], "seed": SEED}
    mine, anchors = here(
        lambda m, x: (lambda a: (m.fn.slice(x, start=a, shape=[20, 25], axes=[0, 1]), a))(
            m.fn.roi_random_crop(x, **arguments)
        ),
        IMAGES,
    )
    equal(
        mine,
        on_dali(lambda m, x, a: m.fn.slice(x, start=a, shape=[20, 25], axes=[0, 1]), IMAGES, anchors),
        level=0,
    )


def object_window():
    def graph(m, x):
        anchor, shape = m.fn.segmentation.random_object_bbox(x, foreground_prob=0.9, seed=SEED)
        return m.fn.slice(x, start=anchor, shape=shape, axes=[0, 1, 2]), anchor, shape

    mine, anchors, shapes = here(graph, MASKS)
    wanted = on_dali(lambda m, x, a, s: m.fn.slice(x, start=a, shape=s, axes=[0, 1, 2]), MASKS, anchors, shapes)
    equal(mine, wanted, level=0)


def mask_pixel():
    def graph(m, x):
        pixel = m.fn.segmentation.random_mask_pixel(x, foreground=1, seed=SEED)
        return m.fn.slice(x, start=pixel, shape=[1, 1, 1], axes=[0, 1, 2]), pixel

    mine, pixels = here(graph, MASKS)
    wanted = on_dali(lambda m, x, a: m.fn.slice(x, start=a, shape=[1, 1, 1], axes=[0, 1, 2]), MASKS, pixels)
    equal([*mine, np.zeros(1)], [*wanted, np.zeros(1)], level=0)
    assert all(value > 0 for value in wanted)


def drawn(graph, use, *, level=1):
    """Draw something here, use it here and on DALI."""
    mine, value = here(lambda m, x: (lambda v: (use(m, x, v), v))(graph(m)), IMAGES)
    equal(mine, on_dali(use, IMAGES, value), level=level)


def gaussian():
    flat = [np.zeros(image.shape, np.float32) for image in IMAGES]
    (grain,) = here(lambda m, x: m.fn.noise.gaussian(x, stddev=20.0, seed=SEED), flat)
    (mine,) = here(lambda m, x: m.fn.noise.gaussian(x, stddev=20.0, seed=SEED), IMAGES)
    equal(mine, on_dali(lambda m, x, n: m.fn.cast(x + n, dtype=m.types.UINT8), IMAGES, grain), level=1)


def salt_and_pepper():
    flat = [np.full(image.shape, 2.0, np.float32) for image in IMAGES]
    (grain,) = here(lambda m, x: m.fn.noise.salt_and_pepper(x, prob=0.3, seed=SEED), flat)
    (mine,) = here(lambda m, x: m.fn.noise.salt_and_pepper(x, prob=0.3, seed=SEED), IMAGES)
    graph = lambda m, x, n: m.fn.cast(x * (n == 2.0) + 255 * (n == 1.0), dtype=m.types.UINT8)  # noqa: E731
    equal(mine, on_dali(graph, IMAGES, grain), level=0)


def permuted():
    same = [np.ascontiguousarray(image[:40, :40]) for image in IMAGES]
    drawn_places = lambda m: m.fn.batch_permutation(seed=SEED)  # noqa: E731
    mine, places = here(lambda m, x: (lambda v: (m.fn.permute_batch(x, indices=v), v))(drawn_places(m)), same)
    equal(mine, on_dali(lambda m, x, v: m.fn.permute_batch(x, indices=v), same, places), level=0)


CASES = {
    "random_resized_crop": resized_crop,
    "decoders.image_random_crop": decoded_crop,
    "random_crop_generator": generated_windows,
    "random_bbox_crop": boxes_window,
    "roi_random_crop": region_window,
    "segmentation.random_object_bbox": object_window,
    "segmentation.random_mask_pixel": mask_pixel,
    "random.uniform": lambda: drawn(
        lambda m: m.fn.random.uniform(range=[-40.0, 40.0], seed=SEED),
        lambda m, x, v: m.fn.rotate(x, angle=v, fill_value=3, interp_type=m.types.INTERP_NN),
    ),
    "random.normal": lambda: drawn(
        lambda m: m.fn.random.normal(mean=1.0, stddev=0.3, seed=SEED),
        lambda m, x, v: m.fn.brightness(x, brightness=v),
    ),
    "random.coin_flip": lambda: drawn(
        lambda m: m.fn.random.coin_flip(seed=SEED), lambda m, x, v: m.fn.flip(x, horizontal=v, vertical=1), level=0
    ),
    "random.choice": lambda: drawn(
        lambda m: m.fn.random.choice([0.5, 1.0, 2.0], seed=SEED), lambda m, x, v: m.fn.hsv(x, saturation=v)
    ),
    "random.beta": lambda: drawn(
        lambda m: m.fn.random.beta(alpha=2.0, beta=0.5, seed=SEED), lambda m, x, v: m.fn.contrast(x, contrast=v)
    ),
    "noise.gaussian": gaussian,
    "noise.salt_and_pepper": salt_and_pepper,
    "batch_permutation": permuted,
}
# How many grains a pixel gets depends on the pixel, so that there is nothing to hand over; their distributions are
# compared in test_noise.py.
NOT_HANDED_OVER = {"jitter", "noise.shot"}


def test_every_operator_that_draws_is_there():
    """Those that DALI does not have run natively on both engines, see test_engine_dali.py."""
    drawing = {name for name, spec in public_operators().items() if spec.draws}
    assert {name for name in drawing if dali_has(name)} == {*CASES, *NOT_HANDED_OVER}


@pytest.mark.parametrize("name", CASES)
def test_draws_that_are_handed_to_dali_give_its_pixels(name):
    CASES[name]()
