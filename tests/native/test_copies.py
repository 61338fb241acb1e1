"""Crops, flips and reordered axes of any type become packed arrays; both instruction sets give what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import noise
from hypothesis import given
from hypothesis import strategies as st
from operator_comparison import on_each_level

from pixelmill.recipe import Recipe

TYPES = [np.uint8, np.int16, np.float32, np.float64]


@given(
    extents=st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 5)),
    dtype=st.sampled_from(TYPES),
    perm=st.permutations([0, 1, 2]),
    flips=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    cut=st.tuples(*[st.integers(0, 39)] * 4),
    channel=st.booleans(),
)
def test_views_become_what_numpy_makes_of_them(extents, dtype, perm, flips, cut, channel):
    array = noise(extents, np.uint8).astype(dtype)
    top, bottom = sorted((cut[0] % extents[0], cut[1] % extents[0]))
    left, right = sorted((cut[2] % extents[1], cut[3] % extents[1]))

    def graph(m, x):
        x = m.fn.flip(x[top : bottom + 1, left : right + 1], horizontal=flips[0], vertical=flips[1])
        return m.fn.transpose(x[:, :, 0] if channel else x, perm=[p for p in perm if p < 2] if channel else perm)

    wanted = array[top : bottom + 1, left : right + 1]
    wanted = wanted[:: -1 if flips[1] else 1, :: -1 if flips[0] else 1]
    wanted = wanted[:, :, 0].transpose([p for p in perm if p < 2]) if channel else wanted.transpose(perm)
    (made,) = on_each_level(graph, [array])
    assert made.dtype == dtype
    np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("shape", [(150, 133, 3), (8, 64, 3), (72, 7, 4), (131, 65, 4), (9, 200, 1)])
@pytest.mark.parametrize("flips", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_images_are_turned_as_numpy_turns_them(shape, flips):
    array = noise(shape, np.uint8)

    def graph(m, x):
        return m.fn.transpose(m.fn.flip(x, horizontal=flips[0], vertical=flips[1]), perm=[1, 0, 2])

    (made,) = on_each_level(graph, [array])
    wanted = array[:: -1 if flips[1] else 1, :: -1 if flips[0] else 1].transpose(1, 0, 2)
    np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_parts_of_larger_arrays_are_what_numpy_makes_of_them(dtype, axis):
    array = noise((7, 19, 3), np.uint8).astype(dtype)
    other = np.ascontiguousarray(array[::-1, ::-1])
    (made,) = on_each_level(lambda m, x, y: m.fn.stack(x, y, axis=axis), [array], [other])
    np.testing.assert_array_equal(made, np.stack([array, other], axis))
    if axis < 3:
        (made,) = on_each_level(lambda m, x, y: m.fn.cat(x, y, axis=axis), [array], [other])
        np.testing.assert_array_equal(made, np.concatenate([array, other], axis))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("parts", [3, 4, 5])
def test_several_parts_lie_side_by_side(dtype, parts):
    arrays = [noise((9, 37, 1), np.uint8, seed).astype(dtype) for seed in range(parts)]
    inputs = [[array] for array in arrays]
    for axis in (2, 3):
        (made,) = on_each_level(lambda m, *x: m.fn.stack(*x, axis=axis), *inputs)  # noqa: B023
        np.testing.assert_array_equal(made, np.stack(arrays, axis))
    (made,) = on_each_level(lambda m, *x: m.fn.cat(*x, axis=2), *inputs)
    np.testing.assert_array_equal(made, np.concatenate(arrays, 2))


# Twenty of these are larger than 16 MiB, so they are written past the caches; rows begin anywhere in a line.
LARGE = [(701, 517, 3), (640, 512, 3), (530, 611, 4), (1200, 1307, 1)]


@pytest.mark.parametrize("shape", LARGE)
@pytest.mark.parametrize("flips", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("cut", [(0, 0), (1, 3), (40, 129)])
def test_large_batches_of_crops_and_flips_are_what_numpy_makes_of_them(shape, flips, cut):
    arrays = [noise(shape, np.uint8, seed=seed % 3) for seed in range(20)]
    (top, left), (bottom, right) = cut, (shape[0] - cut[0], shape[1] - cut[1])

    def graph(m, x):
        return m.fn.flip(x[top:bottom, left:right], horizontal=flips[0], vertical=flips[1])

    made = on_each_level(graph, arrays)
    for result, array in zip(made, arrays, strict=True):
        wanted = array[top:bottom, left:right][:: -1 if flips[1] else 1, :: -1 if flips[0] else 1]
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("size", [(701, 517), (702, 531), (765, 581), (800, 517), (701, 600)])
@pytest.mark.parametrize("fill", [0, 114])
def test_large_batches_of_padded_images_are_what_numpy_makes_of_them(size, fill):
    arrays = [noise((701, 517, 3), np.uint8, seed=seed) for seed in range(20)]
    top, left = (size[0] - 700) // 2, (size[1] - 516) // 2  # half a pixel goes to the upper left

    def graph(m, x):
        return Recipe("pad", steps=({"pad": {"size": list(size), "fill_value": fill}},)).apply(x).image

    made = on_each_level(graph, arrays)
    for result, array in zip(made, arrays, strict=True):
        around = ((top, size[0] - 701 - top), (left, size[1] - 517 - left), (0, 0))
        np.testing.assert_array_equal(result, np.pad(array, around, constant_values=fill))


@pytest.mark.parametrize("step", ["invert", "posterize", "solarize"])
def test_large_batches_of_levels_are_what_numpy_makes_of_them(step):
    arrays = [noise((701, 517, 3), np.uint8, seed=seed) for seed in range(20)]
    arguments = {"posterize": {"bits": 4}, "solarize": {"threshold": 128}}.get(step, {})

    def graph(m, x):
        return Recipe(step, steps=({step: arguments},)).apply(x[3:, 5:]).image

    made = on_each_level(graph, arrays)
    for result, array in zip(made, arrays, strict=True):
        cut = array[3:, 5:]
        wanted = {"invert": 255 - cut, "posterize": cut & 0xF0, "solarize": np.where(cut >= 128, 255 - cut, cut)}
        np.testing.assert_array_equal(result, wanted[step])


# Operators that write lines themselves, and operators that hand over parts of results.
COLORS = {
    "sepia": {"amount": 0.8},
    "to_gray": {"amount": 1.0},
    "rgb_shift": {"shift": [20, -31, 7]},
    "hue": {"hue": 40.0},
    "pca_lighting": {"alpha": [0.3, -0.2, 0.5]},
    "channel_shuffle": {"order": [2, 0, 1]},
    "gamma": {"gamma": 0.7},
}


@pytest.mark.parametrize("shape", [(701, 517, 3), (640, 512, 3)])
@pytest.mark.parametrize("cut", [0, 3])
@pytest.mark.parametrize("name", COLORS)
def test_large_batches_of_colors_are_those_of_small_ones(shape, cut, name):
    arrays = [noise(shape, np.uint8, seed=seed % 3) for seed in range(20)]

    def graph(m, x):
        return getattr(m.fn, name)(x[cut:, cut:], **COLORS[name])

    alone = [on_each_level(graph, [array])[0] for array in arrays[:3]]
    for index, result in enumerate(on_each_level(graph, arrays)):
        np.testing.assert_array_equal(result, alone[index % 3])


@pytest.mark.parametrize("dtype", [None, "INT16", "FLOAT"])
@pytest.mark.parametrize("cut", [0, 3])
def test_large_batches_of_brightness_are_those_of_small_ones(dtype, cut):
    arrays = [noise((640, 512, 3), np.uint8, seed=seed % 3) for seed in range(20)]

    def graph(m, x):
        return m.fn.brightness_contrast(
            x[cut:, cut:], brightness=1.3, contrast=0.6, dtype=dtype and getattr(m.types, dtype)
        )

    alone = [on_each_level(graph, [array])[0] for array in arrays[:3]]
    for index, result in enumerate(on_each_level(graph, arrays)):
        np.testing.assert_array_equal(result, alone[index % 3])
