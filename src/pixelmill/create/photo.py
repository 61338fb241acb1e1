"""Photo-like pictures from a number: natural statistics, no files needed."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pixelmill.errors import ArgumentError

# Three planes (brightness, warm against cold, green against purple) of shape (3, height, width).
Planes = npt.NDArray[np.float32]
Pixels = npt.NDArray[np.uint8]

# What red, green and blue take from the three planes.
_TO_RGB = ((1.0, 0.6, -0.3), (1.0, 0.0, 0.3), (1.0, -0.6, -0.3))


def photo(seed: int, index: int, *, height: int, width: int) -> Pixels:
    """Make one photo-like picture.

    It has what a JPEG decoder and a resampler notice in a photograph: a spectrum that falls with frequency, colours
    that vary less than brightness, surfaces that hide each other behind more or less sharp edges, and sensor noise.

    Args:
        seed: Names the set of pictures.
        index: Names the picture within the set.
        height: Rows of the picture.
        width: Columns of the picture.

    Returns:
        Pixels of shape (height, width, 3). They depend on the arguments alone, not on pictures made before.
    """
    for name, value, least in (("seed", seed, 0), ("index", index, 0), ("height", height, 1), ("width", width, 1)):
        if not least <= value < 2**64:
            raise ArgumentError(f"photo: {name} must be an integer from {least} to 2**64 - 1, got {value!r}")
    rng = np.random.Generator(np.random.Philox(key=np.array([seed, index], np.uint64)))
    texture = _texture(rng, height, width)
    scene = _landscape(rng, texture)
    for _ in range(rng.integers(8, 28)):
        _cover(rng, scene, texture)
    light, warm, green = scene
    light += rng.standard_normal((height, width), np.float32) * rng.uniform(1, 5)  # the sensor's noise
    rgb = np.stack([a * light + b * warm + c * green for a, b, c in _TO_RGB], axis=-1)
    return np.clip(rgb, 0, 255, out=rgb).astype(np.uint8)


def _texture(rng: np.random.Generator, height: int, width: int) -> Planes:
    """Draw planes of unit variance whose amplitude falls with frequency."""
    rows, columns = _round_up(height), _round_up(width)
    squared = np.fft.fftfreq(rows)[:, None] ** 2 + np.fft.fftfreq(columns)[None, :] ** 2
    squared[0, 0] = np.inf  # no mean
    amplitude = squared.astype(np.float32) ** (-0.5 * rng.uniform(0.9, 1.3))
    phases = rng.standard_normal((rows, columns, 2), np.float32).view(np.complex64)[..., 0]
    field = np.fft.ifft2(phases * amplitude)[:height, :width]
    # A complex transform gives two independent planes; turned round, the second serves as the third.
    planes = np.stack([field.real, field.imag, field.imag[::-1, ::-1]]).astype(np.float32, copy=False)
    planes /= np.maximum(planes.std(axis=(1, 2), keepdims=True), 1e-6)
    return planes


def _round_up(size: int) -> int:
    """Find the next size that a Fourier transform is quick for."""
    while True:
        rest = size
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return size
        size += 1


def _colour(rng: np.random.Generator) -> Planes:
    return np.array([rng.uniform(20, 225), rng.normal(0, 30), rng.normal(0, 18)], np.float32)[:, None, None]


def _roughness(rng: np.random.Generator) -> Planes:
    """Draw how strongly a surface is textured: many are nearly smooth, few are rough."""
    light = rng.lognormal(2.6, 0.8)
    return np.array([light, 0.25 * light, 0.1 * light], np.float32)[:, None, None]


def _landscape(rng: np.random.Generator, texture: Planes) -> Planes:
    """Lay out sky above ground, each with its own gradient and texture."""
    _, height, width = texture.shape
    y = np.linspace(0, 1, height, dtype=np.float32)[:, None]
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    horizon = rng.uniform(0.2, 0.8) + rng.normal(0, 0.06) * x + 0.02 * texture[0]
    ground = np.clip((y - horizon) * rng.uniform(20, 200) + 0.5, 0, 1)
    sky, floor = _colour(rng), _colour(rng)
    sky[0] = 0.5 * sky[0] + 120  # mostly the lightest part
    sky = sky + texture * (0.4 * _roughness(rng)) + (y - 0.3) * rng.uniform(10, 60)
    floor = floor + texture * (1.4 * _roughness(rng)) + (y - 0.7) * rng.uniform(-80, 80)
    floor -= sky
    floor *= ground
    sky += floor
    return sky


def _cover(rng: np.random.Generator, scene: Planes, texture: Planes) -> None:
    """Hide a part of the scene behind one shape that is lit from one side."""
    _, height, width = scene.shape
    # Sizes of things follow a power law: few large, many small.
    long = max(max(height, width) * min(0.02 + 0.03 * rng.pareto(1.2), 0.35), 1.5)
    short = max(long * rng.uniform(0.25, 1), 1.5)
    centre_y, centre_x, angle = rng.uniform(0, height), rng.uniform(0, width), rng.uniform(0, math.pi)
    squarings = rng.integers(1, 4)  # 1 an ellipse, 3 nearly a rectangle
    sharpness = short * rng.uniform(0.1, 1)

    reach = 1.5 * long + 2
    top, bottom = max(int(centre_y - reach), 0), min(int(centre_y + reach) + 1, height)
    left, right = max(int(centre_x - reach), 0), min(int(centre_x + reach) + 1, width)
    y = (np.arange(top, bottom, dtype=np.float32) - centre_y)[:, None]
    x = (np.arange(left, right, dtype=np.float32) - centre_x)[None, :]
    along = x * (math.cos(angle) / long) + y * (math.sin(angle) / long)
    across = y * (math.cos(angle) / short) - x * (math.sin(angle) / short)
    shade = rng.uniform(-40, 40) * (along + across)
    for _ in range(squarings):
        along, across = along * along, across * across
    opacity = np.clip((1 - along - across) * sharpness + 0.5, 0, 1)

    from_y, from_x = rng.integers(0, height - (bottom - top) + 1), rng.integers(0, width - (right - left) + 1)
    surface = texture[:, from_y : from_y + bottom - top, from_x : from_x + right - left] * _roughness(rng)
    surface += _colour(rng)
    surface[0] += shade
    behind = scene[:, top:bottom, left:right]
    surface -= behind
    surface *= opacity
    behind += surface
