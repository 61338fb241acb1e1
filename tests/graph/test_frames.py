"""Arguments that differ from frame to frame."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import HERE, equal, make, noise, run

from pixelmill.errors import ArgumentError

VIDEOS = [noise((3, 20, 24, 3), seed=n) for n in range(2)]
SHIFTS = [np.float32([[0, 0], [3, 1], [6, 2]]) + n for n in range(2)]
NUMBERS = [np.float32([0.5, 1, 1.5]) + 0.1 * n for n in range(2)]


def check(graph, *inputs):
    return equal(graph, VIDEOS, *inputs, layouts=["FHWC", *[""] * len(inputs)])


@pytest.mark.parametrize(
    "graph",
    [
        lambda m, v, x: m.fn.rotate(v, angle=m.fn.per_frame(x) * 20, keep_size=True, fill_value=0),
        lambda m, v, x: m.fn.gaussian_blur(v, sigma=m.fn.per_frame(x)),
        lambda m, v, x: m.fn.brightness_contrast(v, brightness=m.fn.per_frame(x), contrast=1.2),
        lambda m, v, x: m.fn.hsv(v, saturation=m.fn.per_frame(x), hue=10.0),
        lambda m, v, x: m.fn.hue(v, hue=m.fn.per_frame(np.float32([0, 30, 60]))),
        lambda m, v, x: (m.fn.per_frame(x) * 2.0, m.fn.per_frame(x)),
    ],
)
def test_numbers_for_each_frame_apply_as_in_dali(graph):
    check(graph, NUMBERS)


@pytest.mark.parametrize(
    "graph",
    [
        lambda m, v, mt: m.fn.warp_affine(v, matrix=mt, fill_value=1, inverse_map=False),
        lambda m, v, mt: m.fn.warp_affine(v, mt, fill_value=1),
        lambda m, v, mt: m.fn.transforms.rotation(mt, angle=20.0),
        lambda m, v, mt: m.fn.transforms.combine(mt, m.fn.transforms.scale(scale=[1.5, 2.0])),
        lambda m, v, mt: m.fn.coord_transform(m.fn.per_frame(np.float32([[[1, 2]], [[3, 4]], [[5, 6]]])), MT=mt),
    ],
)
def test_matrices_for_each_frame_apply_as_in_dali(graph):
    check(lambda m, v, x: graph(m, v, m.fn.transforms.translation(offset=m.fn.per_frame(x))), SHIFTS)


def test_operators_that_have_no_such_arguments_in_dali_have_them_here():
    graph = lambda m, v: m.fn.flip(v, horizontal=m.fn.per_frame(np.int32([1, 0, 1])))  # noqa: E731
    (flipped,) = run(graph, VIDEOS, layouts="FHWC")
    for made, video in zip(flipped, VIDEOS, strict=True):
        assert np.array_equal(made, [video[0][:, ::-1], video[1], video[2][:, ::-1]])


def test_random_operators_draw_other_numbers_for_each_frame_and_sample():
    graph = lambda m, v: m.fn.noise.gaussian(v, stddev=m.fn.per_frame(np.float32([0, 10, 20])))  # noqa: E731
    flat = [np.full((3, 20, 20, 1), 128, np.uint8)] * 2
    first, again = (np.array(run(graph, flat, layouts="FHWC")[0]).astype(int) for _ in range(2))
    assert np.array_equal(first, again)
    assert (first[:, 0] == 128).all() and not np.array_equal(first[0], first[1])
    assert abs(first[:, 1].std() - 10) < 1 and abs(first[:, 2].std() - 20) < 2


def test_sequences_of_different_lengths_and_frames_of_different_sizes_are_refused():
    def four(m, v):
        return m.fn.brightness(v, brightness=m.fn.per_frame(np.float32([1, 1, 1, 1])))

    def sizes(m, v):
        return m.fn.rotate(v, angle=m.fn.per_frame(np.float32([0, 30, 45])))

    for graph, words in [(four, r"same number of frames, got \[3, 4\]"), (sizes, "frames .* must have the same shape")]:
        with pytest.raises(ArgumentError, match=words):
            make(HERE, graph, VIDEOS, layouts="FHWC").run()
