"""What the effects of recipes mean, in NumPy; tests/support/reference.py makes entries of them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy_operators import SEED, correlated, saturated
from PIL import Image

NOT_DALIS = "DALI has no such operator"
LUMA = np.array([0.299, 0.587, 0.114])
SEPIA = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
AXES = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
SPREAD = np.array([0.2175, 0.0188, 0.0045])
LEVELS = np.arange(256) / 255


def table(curve):
    """Apply a curve of levels from 0 to 1."""
    return lambda x: saturated(255 * np.clip(curve, 0, 1))[x]


def desaturated(amount):
    return (1 - amount) * np.eye(3) + amount * LUMA


def rotated_hue(degrees):
    """Rotate about the gray axis (Rodrigues)."""
    axis = np.ones(3) / np.sqrt(3)
    cross = np.cross(np.eye(3), axis)
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def jittered(x):
    """Saturation, then hue, then contrast, then brightness."""
    colors = x @ (rotated_hue(30) @ desaturated(1 - 1.4)).T
    return saturated(0.9 * (1.2 * (colors - 128) + 128))


def disk(radius):
    reach = int(np.ceil(radius))
    places = (np.arange(8 * (2 * reach + 1)) + 0.5) / 8 - 0.5 - reach
    inside = places[:, None] ** 2 + places**2 <= (radius + 0.5) ** 2
    side = 2 * reach + 1
    counts = inside.reshape(side, 8, side, 8).sum((1, 3))
    return counts / counts.sum()


def zoom_blurred(x, factor, samples):
    if x.size == 0:
        return x
    copies = []
    for scale in np.linspace(1, factor, samples):
        rows, columns = (
            np.clip((side / 2 + (np.arange(side) + 0.5 - side / 2) / scale).astype(int), 0, side - 1)
            for side in x.shape[:2]
        )
        copies.append(x[rows][:, columns].astype(int))
    return ((sum(copies) + samples // 2) // samples).astype(np.uint8)


def filtered(weights):
    return lambda x: saturated(correlated(x, np.array(weights, float)))


def horizontal(size):
    line = np.zeros((size, size))
    places = size // 2 + np.linspace(-1, 1, 4 * size + 1) * (size // 2)
    np.add.at(line[size // 2], places.astype(int), 1 - places % 1)
    np.add.at(line[size // 2], np.minimum(places.astype(int) + 1, size - 1), places % 1)
    return line / line.sum()


def superpixels_filled(image, wanted):
    """Fill all segments of SLIC: every pixel belongs to the nearest of the centers around its cell of the grid."""
    if image.size == 0:
        return image
    extent = np.array(image.shape[:2])
    side = np.sqrt(extent.prod() / wanted)
    grid = np.clip(np.floor(extent / side + 0.5).astype(int), 1, extent)
    step = max(1, int(side) // 8)
    sampled = np.ix_(*(np.arange(min(step // 2, (n - 1) // 2), n, step) for n in extent))
    pixels = np.dstack([*np.mgrid[: extent[0], : extent[1]], image]).astype(np.float32)
    cells = (pixels[..., :2].astype(int) * grid) // extent
    numbers = np.arange(grid.prod()).reshape(grid)
    centers = np.zeros((grid.prod(), pixels.shape[-1]), np.float32)

    def moved(segments):
        for number in np.unique(segments):
            centers[number] = pixels[sampled][segments == number].astype(float).mean(0)

    def assigned(at):
        nearest, segments = np.full(pixels[at].shape[:2], np.inf, np.float32), np.zeros(pixels[at].shape[:2], int)
        for cell in np.ndindex(3, 3):
            neighbor = cells[at] + np.array(cell) - 1
            inside = ((neighbor >= 0) & (neighbor < grid)).all(-1)
            number = numbers[tuple(np.moveaxis(np.clip(neighbor, 0, grid - 1), -1, 0))]
            apart = (pixels[at] - centers[number]) ** 2
            distance = np.float32(3600 / side**2) * (apart[..., 0] + apart[..., 1])
            for channel in range(2, apart.shape[-1]):
                distance = distance + apart[..., channel]
            better = inside & (distance < nearest)
            nearest, segments = np.where(better, distance, nearest), np.where(better, number, segments)
        return segments

    moved(numbers[tuple(np.moveaxis(cells[sampled], -1, 0))])
    for _ in range(5):
        moved(assigned(sampled))
    return (centers[assigned(np.ix_(*map(np.arange, extent)))][..., 2:] + np.float32(0.5)).astype(np.uint8)


def through_webp(image, quality):
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "webp", quality=quality)
    return np.asarray(Image.open(stream).convert("RGB"))


def effects(entry: Any) -> dict[str, Any]:
    """Return the entries; `entry` is the class of them."""

    def exact(graph, reference, **more):
        return entry(graph, reference, unlike_dali=NOT_DALIS, **{"level": 1, **more})

    def drawn(graph):
        return entry(graph, None, draws=True, unlike_dali=NOT_DALIS)

    return {
        "gamma": exact(lambda m, x: m.fn.gamma(x, gamma=0.6), table(LEVELS**0.6)),
        "posterize": exact(lambda m, x: m.fn.posterize(x, bits=3), lambda x: x & 0xE0, level=0),
        "solarize": exact(
            lambda m, x: m.fn.solarize(x, threshold=100), lambda x: np.where(x >= 100, 255 - x, x), level=0
        ),
        "invert": exact(lambda m, x: m.fn.invert(x), lambda x: 255 - x, level=0),
        "tone_curve": exact(
            lambda m, x: m.fn.tone_curve(x, low=0.1, high=0.8),
            table(0.3 * (1 - LEVELS) ** 2 * LEVELS + 2.4 * (1 - LEVELS) * LEVELS**2 + LEVELS**3),
        ),
        "color_jitter": exact(
            lambda m, x: m.fn.color_jitter(
                x, brightness=0.9, contrast=1.2, saturation=1.4, hue=30.0, order=[2, 3, 1, 0]
            ),
            jittered,
        ),
        "to_gray": exact(lambda m, x: m.fn.to_gray(x, amount=0.7), lambda x: saturated(x @ desaturated(0.7).T)),
        "sepia": exact(
            lambda m, x: m.fn.sepia(x, amount=0.5), lambda x: saturated(x @ (0.5 * np.eye(3) + 0.5 * SEPIA).T)
        ),
        "channel_shuffle": exact(
            lambda m, x: m.fn.channel_shuffle(x, order=[1, 2, 0]), lambda x: x[:, :, [1, 2, 0]], level=0
        ),
        "channel_dropout": exact(
            lambda m, x: m.fn.channel_dropout(x, drop=[0, 1, 0]), lambda x: x * np.uint8([1, 0, 1]), level=0
        ),
        "rgb_shift": exact(
            lambda m, x: m.fn.rgb_shift(x, shift=[20, -30, 5]), lambda x: saturated(x + np.float64([20, -30, 5]))
        ),
        "pca_lighting": exact(
            lambda m, x: m.fn.pca_lighting(x, alpha=[0.2, -0.5, 1.0]),
            lambda x: saturated(x + 255 * AXES @ (SPREAD * [0.2, -0.5, 1.0])),
        ),
        "box_blur": exact(lambda m, x: m.fn.box_blur(x, size=5), filtered(np.full((5, 5), 1 / 25)), empty=False),
        "motion_blur": exact(lambda m, x: m.fn.motion_blur(x, size=5), filtered(horizontal(5)), empty=False),
        "defocus": exact(lambda m, x: m.fn.defocus(x, radius=2.0), filtered(disk(2.0)), empty=False),
        "sharpen": exact(
            lambda m, x: m.fn.sharpen(x, alpha=0.3, lightness=1.0),
            filtered([[-0.3] * 3, [-0.3, 0.7 + 2.7, -0.3], [-0.3] * 3]),
            empty=False,
        ),
        "emboss": exact(
            lambda m, x: m.fn.emboss(x, alpha=0.5, strength=1.0),
            filtered([[-1, -0.5, 0], [-0.5, 0.5 + 0.5, 0.5], [0, 0.5, 1]]),
            empty=False,
        ),
        "zoom_blur": exact(lambda m, x: m.fn.zoom_blur(x, factor=1.5, samples=5), lambda x: zoom_blurred(x, 1.5, 5)),
        "webp_compression_distortion": exact(
            lambda m, x: m.fn.webp_compression_distortion(x, quality=30),
            lambda x: through_webp(x, 30),
            level=0,
            empty=False,
        ),
        "downscale": entry(lambda m, x: m.fn.downscale(x, scale=0.5), None, unlike_dali=NOT_DALIS, empty=False),
        "glass_blur": entry(
            lambda m, x: m.fn.glass_blur(x, seed=SEED), None, draws=True, unlike_dali=NOT_DALIS, empty=False
        ),
        "superpixels": exact(
            lambda m, x: m.fn.superpixels(x, segments=6, probability=1.0, seed=SEED),
            lambda x: superpixels_filled(x, 6),
            level=0,
        ),
        "noise.speckle": drawn(lambda m, x: m.fn.noise.speckle(x, stddev=0.2, seed=SEED)),
        "noise.iso": drawn(lambda m, x: m.fn.noise.iso(x, seed=SEED)),
        "coarse_dropout": drawn(lambda m, x: m.fn.coarse_dropout(x, seed=SEED)),
        "random_erasing": drawn(lambda m, x: m.fn.random_erasing(x, seed=SEED)),
        "rain": drawn(lambda m, x: m.fn.rain(x, seed=SEED)),
        "snow": drawn(lambda m, x: m.fn.snow(x, seed=SEED)),
        "fog": drawn(lambda m, x: m.fn.fog(x, seed=SEED)),
        "sun_flare": drawn(lambda m, x: m.fn.sun_flare(x, seed=SEED)),
        "shadow": drawn(lambda m, x: m.fn.shadow(x, seed=SEED)),
        "spatter": drawn(lambda m, x: m.fn.spatter(x, seed=SEED)),
    }
