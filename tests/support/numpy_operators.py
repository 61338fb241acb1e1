"""Operators in NumPy: the slow and plain way, for one sample."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

SEED = 5
MASK = 2**32 - 1


# Numbers


def philox(counter, key):
    """Philox4x32-10, as its authors wrote it."""
    c, k = list(counter), [key & MASK, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def mix(x):
    """The finaliser of splitmix64."""
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


class Draws:
    """The numbers of an operator with the seed SEED, in the first epoch, for one sample."""

    def __init__(self, sample):
        identity = int.from_bytes(hashlib.blake2b(b"", digest_size=8).digest(), "little")
        self.key, self.sample, self.used = mix(SEED ^ mix(identity)), sample, 0

    def word(self):
        block, place = divmod(self.used, 4)
        self.used += 1
        return philox([block, self.sample, 0, 0], self.key)[place]

    def unit(self):
        return self.word() / 2**32

    def below(self, bound):
        high, low = self.word(), self.word()
        return int(((high << 32 | low) >> 11) / 2**53 * bound)


def drawn_uniform(sample, low=-1.0, high=1.0):
    return np.float32(low + Draws(sample).unit() * (high - low))


def drawn_normals(sample, count):
    draws, values = Draws(sample), []
    for _ in range(0, count, 2):
        radius = np.sqrt(-2 * np.log((draws.word() + 0.5) / 2**32))
        angle = 2 * np.pi * draws.unit()
        values += [radius * np.cos(angle), radius * np.sin(angle)]
    return np.array(values[:count], np.float32)


def drawn_coins(sample, count, probability):
    draws = Draws(sample)
    return np.array([draws.unit() < probability for _ in range(count)], np.int32)


def drawn_choices(sample, a, count):
    draws = Draws(sample)
    return np.array([a[draws.below(len(a))] for _ in range(count)], np.int32)


def drawn_window(sample, shape, area=(0.08, 1.0), ratio=(0.75, 4 / 3), attempts=10):
    """The window of a random crop, in single precision."""
    one, height, width = np.float32, int(shape[0]), int(shape[1])
    draws, pixels = Draws(sample), np.float32(height) * np.float32(width)
    area, ratio = [one(x) for x in area], [one(x) for x in ratio]
    wide = (height, max(1, int(one(height) * ratio[1])))
    tall = (max(1, int(one(width) * (one(1) / ratio[0]))), width)
    size = next((part for part in (wide, tall) if one(part[0]) * one(part[1]) < pixels * area[0]), None)
    for _ in range(attempts):
        if size is not None:
            break
        share = one(area[0] + draws.unit() * (float(area[1]) - float(area[0]))) * pixels
        logs = [float(np.log(x)) for x in ratio]
        shape_ratio = np.exp(one(logs[0] + draws.unit() * (logs[1] - logs[0])))
        tried = [max(1, round_half_up(np.sqrt(x))) for x in (share / shape_ratio, share * shape_ratio)]
        got = one(tried[1]) / one(tried[0])
        if tried[0] <= height and tried[1] <= width and ratio[0] <= got <= ratio[1]:
            size = tried[0], tried[1]
    if size is None:
        whole = one(width) / one(height)
        size = wide if whole > ratio[1] else tall if whole < ratio[0] else (height, width)
        shrink = np.sqrt(min(one(1), area[1] * pixels / (one(size[0]) * one(size[1]))))
        size = max(1, int(one(size[0]) * shrink)), max(1, int(one(size[1]) * shrink))
    size = min(size[0], height), min(size[1], width)
    anchor = [draws.below(side - extent + 1) for side, extent in zip((height, width), size, strict=True)]
    return np.array(anchor, np.int32), np.array(size, np.int32)


# Images


def round_half_up(x):
    return int(np.floor(float(x) + 0.5))


def saturated(x, dtype=np.uint8):
    """Round half away from zero, and cut to the range."""
    limits = np.iinfo(dtype)
    return np.clip(np.trunc(x + np.copysign(0.5, x)), limits.min, limits.max).astype(dtype)


def window(x, start, extent):
    return x[start[0] : start[0] + extent[0], start[1] : start[1] + extent[1]]


def centred(x, height, width, y=0.5, x_=0.5):
    start = [
        round_half_up(at * (side - want)) for at, side, want in zip((y, x_), x.shape, (height, width), strict=False)
    ]
    return window(x, start, (height, width))


def triangle_weights(low, high, out, source):
    """Weights of a linear filter that is widened when it shrinks; one row for each output, edges repeated."""
    scale = (high - low) / out
    radius = max(abs(scale), 1.0)
    weights = np.zeros((out, source))
    for i in range(out):
        centre = low + (i + 0.5) * scale
        taps = np.arange(int(np.floor(centre - radius)) - 1, int(np.ceil(centre + radius)) + 2)
        share = np.maximum(0, 1 - np.abs(taps + 0.5 - centre) / radius)
        np.add.at(weights[i], np.clip(taps, 0, source - 1), share / share.sum())
    return weights


def resized(x, size, start=None, end=None):
    """Resample a window of an image by the linear filter, rows first; result in floats."""
    start, end = start or (0, 0), end or x.shape[:2]
    rows, columns = (triangle_weights(start[d], end[d], size[d], x.shape[d]) for d in range(2))
    return np.einsum("yh,xw,hwc->yxc", rows, columns, x.astype(float))


def normalized(x, mean, std):
    return ((x.astype(np.float32) - np.float32(mean)) / np.float32(std)).transpose(2, 0, 1)


def random_part(sample, x, size):
    anchor, extent = drawn_window(sample, x.shape)
    return saturated(resized(x, size, list(anchor), list(anchor + extent)))


YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
YCBCR = np.array([[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]]) / 255


def twisted(x, hue=0.0, saturation=1.0, brightness=1.0, contrast=1.0):
    """Turn the hue and scale the saturation in YIQ, then the contrast about 128, then the brightness."""
    cosine, sine = np.cos(np.radians(hue)) * saturation, np.sin(np.radians(hue)) * saturation
    matrix = np.linalg.inv(YIQ) @ [[1, 0, 0], [0, cosine, sine], [0, -sine, cosine]] @ YIQ
    return saturated(brightness * (contrast * (x @ matrix.T - 128) + 128))


def correlated(x, weights, mode="reflect"):
    """Weigh the neighbours of every pixel by a filter, in floats; `mode` says what lies beyond the edges."""
    if x.size == 0:
        return x.astype(float)
    height, width = weights.shape
    before, after = (height // 2, width // 2), ((height - 1) // 2, (width - 1) // 2)
    padded = np.pad(x.astype(float), [(before[0], after[0]), (before[1], after[1]), (0, 0)], mode)
    windows = np.lib.stride_tricks.sliding_window_view(padded, weights.shape, (0, 1))
    return np.einsum("yxchw,hw->yxc", windows, weights)


def bell(sigma):
    places = np.arange(-np.ceil(3 * sigma), np.ceil(3 * sigma) + 1)
    weights = np.exp(-(places**2) / (2 * sigma**2))
    return np.outer(weights, weights) / weights.sum() ** 2


def median(x, size):
    if x.size == 0:
        return x
    padded = np.pad(x, [(size // 2, size // 2)] * 2 + [(0, 0)], "edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (0, 1))
    return np.median(windows, axis=(3, 4)).astype(x.dtype)


def equalized(x):
    """Replace every level by its rank among those above the lowest, channel by channel."""
    out = x.copy()
    for c in range(x.shape[2] if x.size else 0):
        lowest = (x[..., c] == x[..., c].min()).sum()
        ranks = np.searchsorted(np.sort(x[..., c].ravel()), x[..., c], side="right") - lowest
        if lowest < x[..., c].size:
            out[..., c] = np.rint(ranks * np.float32(255 / (x[..., c].size - lowest)))
    return out


def displaced(x, columns, rows):
    """Take every pixel from another place, 0 from outside."""
    columns, rows = (np.floor(np.nan_to_num(at, nan=-1.0)).astype(int) for at in (columns, rows))
    inside = (columns >= 0) & (columns < x.shape[1]) & (rows >= 0) & (rows < x.shape[0])
    return np.where(inside[..., None], x[np.where(inside, rows, 0), np.where(inside, columns, 0)], 0) if x.size else x


def on_a_ball(x):
    (height, width), one = x.shape[:2], np.float32
    rows, columns = (np.indices((height, width)) + one(0.5) - np.array([[[height]], [[width]]], one) / 2).astype(one)
    with np.errstate(all="ignore"):
        rise = np.sqrt(columns**2 + rows**2) / one(max(height, width) // 2)
        return displaced(x, one(width / 2) + rise * columns, one(height / 2) + rise * rows)


def under_water(x, amplitude, frequency):
    rows, columns = np.indices(x.shape[:2]).astype(np.float32)
    across = np.float32(amplitude) * np.sin(np.float32(frequency) * rows.astype(float)).astype(np.float32)
    down = np.float32(amplitude) * np.cos(np.float32(frequency) * columns.astype(float)).astype(np.float32)
    return displaced(x, columns + across, rows + down)


def noisy(sample, x, deviation):
    return saturated(x + np.float64(deviation) * drawn_normals(sample, x.size).reshape(x.shape))


def salted(sample, x, probability):
    draws = Draws(sample)
    words = np.array([draws.unit() for _ in range(x.shape[0] * x.shape[1])]).reshape(*x.shape[:2], 1)
    return np.where(words < probability / 2, 255, np.where(words < probability, 0, x)).astype(np.uint8)


def blotted(x, rows, columns, value=9):
    x = x.copy()
    x[rows, columns] = value
    return x


# Boxes and points


def mirrored_boxes(boxes):
    """Mirror relative boxes (x, y, width, height) about the vertical middle."""
    return np.stack([1 - boxes[:, 0] - boxes[:, 2], *boxes[:, 1:].T], axis=1)


def pasted_boxes(boxes, ratio, x, y):
    """Shrink relative boxes (x, y, width, height) into a canvas that is `ratio` times as large."""
    free = 1 - 1 / ratio
    return np.float32(boxes / np.float32(ratio) + np.float32([free * x, free * y, 0, 0]))


def turn(degrees):
    angle = np.radians(degrees)
    return np.float32([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0]])


def extreme(x: np.ndarray, of: Callable[..., np.ndarray], width: int, height: int) -> np.ndarray:
    """Return the largest or smallest pixels of rectangles; pixels outside of the image do not take part."""
    rows, columns = x.shape[:2]
    result = np.empty_like(x)
    for i in range(rows):
        for j in range(columns):
            down = slice(max(i - height // 2, 0), i - height // 2 + height)
            across = slice(max(j - width // 2, 0), j - width // 2 + width)
            result[i, j] = of(x[down, across], axis=(0, 1))
    return result


def projected(matrix: Sequence[float], height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns and rows that a projective map finds for each pixel; pixel centers are whole numbers."""
    y, x = np.mgrid[:height, :width] + 0.5
    places = np.reshape(matrix, (3, 3)) @ np.stack([x, y, np.ones_like(x)]).reshape(3, -1)
    across, down = (places[:2] / places[2] - 0.5).reshape(2, height, width)
    return across, down


def at_places(x: np.ndarray, across: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Interpolate linearly between the pixels around places; what is outside of the image is 0."""
    left, top = np.floor(across).astype(int), np.floor(down).astype(int)
    result = np.zeros((*across.shape, x.shape[2]))
    for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
        i, j = top + row, left + column
        inside = (i >= 0) & (j >= 0) & (i < x.shape[0]) & (j < x.shape[1])
        weight = (1 - abs(down - i)) * (1 - abs(across - j)) * inside
        result += weight[..., None] * x[np.clip(i, 0, x.shape[0] - 1), np.clip(j, 0, x.shape[1] - 1)]
    return result
