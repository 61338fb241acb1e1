"""Files of any coefficients, samplings and color spaces are decoded by our decoder, to libjpeg-turbo's pixels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from jpeg_files import LARGEST, SAMPLINGS, Form, check_against_libjpeg, write_jpeg

from pixelmill import _core

SPACES = ["ycc", "adobe", "ids"]


def sparse(rng, largest):
    """Make blocks with some coefficients of any size up to `largest`, most of them small."""

    def coefficient(component, number):
        size = rng.integers(0, int(largest).bit_length() + 1, 64)
        values = rng.integers(-largest, largest + 1, 64) >> (int(largest).bit_length() - size)
        return np.where(rng.random(64) < rng.choice([0.02, 0.2, 1]), values, 0)

    return coefficient


def check_parts(file, form, rng):
    """Compare the whole image and a window of it, at each scale and in each color."""
    assert _core.own_jpeg_decodes(file), "libjpeg decoded the file, so the comparison would show nothing"
    for denominator in (1, 2, 4, 8):
        height, width = -(-form.height // denominator), -(-form.width // denominator)
        y, x = int(rng.integers(height)), int(rng.integers(width))
        part = (y, x, int(rng.integers(1, height - y + 1)), int(rng.integers(1, width - x + 1)))
        for window in ((0, 0, height, width), part):
            for color in (("rgb", 3), ("bgr", 4), ("gray", 1)):
                check_against_libjpeg(file, window, denominator, *color)


@pytest.mark.parametrize(("space", "sampling"), [("gray", (1, 1)), ("gray", (2, 2)), *product(SPACES, SAMPLINGS)])
def test_every_sampling_and_space(space, sampling):
    rng = np.random.default_rng([ord(space[0]), *sampling])
    for _ in range(8):
        height, width = rng.integers(1, 41, 2).tolist()
        step, restart = int(rng.choice([1, 16, 255])), int(rng.choice([0, 1, 5]))
        form = Form(height, width, space, sampling, step, restart)
        check_parts(write_jpeg(form, sparse(rng, rng.choice([3, 100, 1023]))), form, rng)


@pytest.mark.parametrize("step", [1, 255, 65535])
@pytest.mark.parametrize("largest", [1023, LARGEST])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_coefficient_in_every_position(step, largest, sign):
    """One block for each position. Products wrap and sums saturate in libjpeg-turbo's 16-bit registers."""
    rng = np.random.default_rng(1)

    def coefficient(component, number):
        return np.where(np.arange(64) == number % 64, sign * largest, 0)

    for form in (Form(64, 64, "gray", step=step), Form(64, 64, "ycc", (2, 2), step)):
        check_parts(write_jpeg(form, coefficient), form, rng)


@pytest.mark.parametrize("step", [1, 255, 65535])
@pytest.mark.parametrize("largest", [1023, LARGEST])
def test_the_largest_coefficients_together(step, largest):
    """All of a block at once, with signs that add up in some row or column, or at random."""
    rng = np.random.default_rng(2)

    def coefficient(component, number):
        signs = np.ones(64, int) if number % 4 == 0 else rng.choice([-1, 1], 64)
        return signs * (largest if number % 4 else largest // 2)  # a difference of first ones has 15 bits as well

    for form in (Form(40, 40, "gray", step=step), Form(33, 39, "ycc", (2, 1), step)):
        check_parts(write_jpeg(form, clipped_difference(coefficient)), form, rng)


def clipped_difference(coefficient):
    """Keep the first coefficient of each block so small that no difference needs 16 bits."""

    def make(component, number):
        block = coefficient(component, number)
        block[0] = np.clip(block[0], -LARGEST // 2, LARGEST // 2)
        return block

    return make
