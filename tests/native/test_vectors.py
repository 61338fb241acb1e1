"""Kernels with vectors, at images that fill none, one or several of them: each level gives what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import noise
from operator_comparison import near, on_each_level

WIDTHS = [1, 2, 7, 8, 9, 10, 11, 16, 21, 63, 64, 65, 128, 131, 200]


def sorted_median(picture, size):
    reach = size // 2
    padded = np.pad(picture, ((reach, reach), (reach, reach), (0, 0)), "edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (0, 1))
    return np.sort(windows.reshape(*picture.shape, -1), -1)[..., size * size // 2]


# Rows of one vector, of one block of 1536 bytes, and of a block and a few; more channels than blocks allow.
@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        (np.uint8, (6, 64, 1)),
        (np.uint8, (5, 512, 3)),
        (np.uint8, (4, 513, 3)),
        (np.uint8, (3, 99, 16)),
        (np.uint8, (3, 99, 17)),
        (np.uint16, (4, 257, 3)),
        (np.int32, (4, 130, 3)),
        (np.float32, (7, 16, 1)),
        (np.float32, (4, 128, 3)),
        (np.float32, (4, 129, 3)),
        (np.float32, (3, 260, 3)),
        (np.float32, (3, 30, 16)),
    ],
)
def test_medians_of_rows_of_several_blocks(size, dtype, shape):
    picture = noise(shape, dtype)
    for graph, wanted in (
        (lambda m, x: m.fn.experimental.median_blur(x, window_size=size), picture),
        (lambda m, x: m.fn.experimental.median_blur(x[:, 3:], window_size=size), picture[:, 3:]),
    ):
        (made,) = on_each_level(graph, [picture])
        np.testing.assert_array_equal(made, sorted_median(wanted, size))


@pytest.mark.parametrize("width", WIDTHS)
def test_casts_of_floats_to_bytes_round_halves_away_from_zero(width):
    halves = np.arange(-3, 260, 0.5, dtype=np.float32)
    near_halves = np.concatenate(
        [np.nextafter(halves, np.float32(-1e9)), halves, np.nextafter(halves, np.float32(1e9))]
    )
    special = np.float32([np.nan, np.inf, -np.inf, 1e30, -1e30, -0.0, 0.49999997])
    numbers = np.resize(np.concatenate([special, near_halves]), (40, width, 3))
    with np.errstate(invalid="ignore"):
        wanted = np.floor(np.clip(np.nan_to_num(numbers, nan=0), 0, 255).astype(np.float64) + 0.5).astype(np.uint8)
    (made,) = on_each_level(lambda m, x: m.fn.cast(x, dtype=m.types.UINT8), [numbers])
    np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_mirrored_pixels_of_three(width, dtype):
    picture = noise((3, width + 2, 3), np.uint8).astype(dtype)
    (made,) = on_each_level(lambda m, x: m.fn.flip(x[:, 1:-1]), [picture])
    np.testing.assert_array_equal(made, picture[:, 1:-1][:, ::-1])


@pytest.mark.parametrize("width", WIDTHS)
def test_color_matrices_of_floats(width):
    picture = noise((3, width + 2, 3), np.float32)
    for cut in (slice(None), slice(1, -1)):
        (made,) = on_each_level(
            lambda m, x: m.fn.color_twist(x[:, cut], hue=40.0, saturation=1.5, contrast=0.7, brightness=1.2),  # noqa: B023
            [picture],
        )
        # A matrix: what becomes of black and of the three colors says what becomes of all others.
        colors = np.concatenate([np.zeros((1, 1, 3)), np.eye(3)[None]], 1).astype(np.float32)
        (basis,) = on_each_level(
            lambda m, x: m.fn.color_twist(x, hue=40.0, saturation=1.5, contrast=0.7, brightness=1.2), [colors]
        )
        black, weights = basis[0, 0].astype(float), basis[0, 1:].astype(float) - basis[0, 0].astype(float)
        np.testing.assert_allclose(made, picture[:, cut].astype(float) @ weights + black, atol=3e-6)


@pytest.mark.parametrize("width", WIDTHS)
def test_gray_becomes_three_channels(width):
    picture = noise((3, width + 2, 1), np.uint8)
    for cut in (slice(None), slice(1, -1)):
        graph = lambda m, x: m.fn.color_space_conversion(  # noqa: E731
            x[:, cut],  # noqa: B023
            image_type=m.types.GRAY,
            output_type=m.types.RGB,
        )
        (made,) = on_each_level(graph, [picture])
        np.testing.assert_array_equal(made, np.repeat(picture[:, cut], 3, -1))


# Enlarged, a little smaller, and so much smaller that 64 gray pixels or 16 colors lie within 128 bytes, or do not.
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("width", [1, 15, 16, 63, 64, 65, 200, 257])
@pytest.mark.parametrize("source", [1, 40, 50, 64, 127, 128, 129, 300, 400, 401, 1000])
@pytest.mark.parametrize("mirrored", [False, True])
def test_nearest_pixels(width, source, mirrored, channels):
    picture = noise((3, source, channels), np.uint8)
    ends = {"roi_start": [0.0, 1.0], "roi_end": [1.0, 0.0], "roi_relative": True} if mirrored else {}
    (made,) = on_each_level(
        lambda m, x: m.fn.resize(x, size=[3, width], interp_type=m.types.INTERP_NN, **ends), [picture]
    )
    (wide,) = on_each_level(  # pixels of two bytes take another path
        lambda m, x: m.fn.resize(x, size=[3, width], interp_type=m.types.INTERP_NN, **ends), [picture.astype(np.int16)]
    )
    np.testing.assert_array_equal(made, wide.astype(np.uint8))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("options", [{}, {"scale": 0.3}, {"smoothing_size": 1}, {"normalized_kernel": True}], ids=str)
def test_the_smallest_laplacian_of_floats(width, options):
    picture = noise((5, width, 3), np.float32)
    (made,) = on_each_level(lambda m, x: m.fn.laplacian(x, window_size=3, **options), [picture])
    smooth = [0, 1, 0] if "smoothing_size" in options else [1, 2, 1]
    scale = options.get("scale", 2.0**-2 if "normalized_kernel" in options else 1.0)
    weights = scale * (np.outer([1, -2, 1], smooth) + np.outer(smooth, [1, -2, 1]))
    margins = ((1, 1), (1, 1), (0, 0)) if width > 1 else ((1, 1), (0, 0), (0, 0))
    padded = np.pad(picture.astype(float), margins, "reflect")
    if width == 1:
        padded = np.pad(padded, ((0, 0), (1, 1), (0, 0)), "edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (0, 1))
    near(made, np.einsum("yxcij,ij->yxc", windows, weights).astype(np.float32), least=16 * float(np.abs(picture).max()))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("fill", [0.0, 77.0, 0.3])
def test_places_outside_of_the_image_have_the_fill(dtype, fill):
    picture = noise((20, 30, 3), np.uint8).astype(dtype)
    matrix = [1.0, 0.0, -20.0, 0.0, 1.0, -9.0, 0.0, 0.0, 1.0]  # whole steps: nothing is blended
    (made,) = on_each_level(
        lambda m, x: m.fn.experimental.warp_perspective(x, matrix=matrix, fill_value=[fill], pixel_origin="center"),
        [picture],
    )
    wanted = np.full(picture.shape, np.float32(fill), np.float32)
    wanted = np.floor(wanted + 0.5).astype(dtype) if dtype != np.float32 else wanted
    wanted[9:, 20:] = picture[:-9, :-20]
    np.testing.assert_array_equal(made, wanted)


def test_floats_outside_of_the_image_are_blended_as_everywhere_else():
    step, begin, fill = 11 / 299, -101.0, np.float32(0.1)
    x = (step * np.arange(300.0) + begin).astype(np.float32)
    across = x - np.floor(x)
    wanted = fill * (1 - across) + fill * across
    assert (wanted != fill).any()
    matrix = [step, 0.0, begin, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    options = {"matrix": matrix, "size": [4, 300], "fill_value": [0.1], "pixel_origin": "center"}
    picture = noise((20, 30, 3), np.float32)
    (made,) = on_each_level(lambda m, image: m.fn.experimental.warp_perspective(image, **options), [picture])
    np.testing.assert_array_equal(made, np.broadcast_to(wanted[None, :, None], made.shape))
