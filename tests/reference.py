"""What every operator means, in NumPy: the slow and plain way, one entry for each operator of the registry.

An entry is a graph, the same thing for one sample, and the kind of inputs both take. An operator whose meaning needs
more than a few lines has tests of its own instead; test_operators.py fails for one that has neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pictures import pillow

from pixelmill import fn, types

SEED = 5
MASK = 2**32 - 1


@dataclass(frozen=True)
class Entry:
    """One operator.

    Attributes:
        graph: Makes the node, or several, from the nodes of the inputs.
        reference: Does the same with the arrays of one sample; draws take the number of the sample as well.
        inputs: `pictures`, `files`, `shapes`, `paths` or `nothing`.
        draws: Whether the reference wants to know the number of the sample.
        empty: Whether pictures without pixels are allowed.
        level: What whole numbers may differ by.
        real: What floats may differ by.
    """

    graph: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: str = "pictures"
    draws: bool = False
    empty: bool = True
    level: int = 0
    real: float = 0.0


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
            size = tried
    if size is None:
        whole = one(width) / one(height)
        size = wide if whole > ratio[1] else tall if whole < ratio[0] else (height, width)
        shrink = np.sqrt(min(one(1), area[1] * pixels / (one(size[0]) * one(size[1]))))
        size = [max(1, int(one(side) * shrink)) for side in size]
    size = [min(size[0], height), min(size[1], width)]
    anchor = [draws.below(side - extent + 1) for side, extent in zip((height, width), size, strict=True)]
    return np.array(anchor, np.int32), np.array(size, np.int32)


# Pictures


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
    """Resample a window of a picture by the linear filter, rows first; result in floats."""
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
    before, behind = (height // 2, width // 2), ((height - 1) // 2, (width - 1) // 2)
    padded = np.pad(x.astype(float), [(before[0], behind[0]), (before[1], behind[1]), (0, 0)], mode)
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
    """Give every level its rank among those above the lowest, channel by channel."""
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
    rows, columns = (np.indices((height, width)) + one(0.5) - one([[[height]], [[width]]]) / 2).astype(one)
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


ENTRIES = {
    # Readers and sources
    "readers.file": Entry(
        lambda path: fn.readers.file(files=path)[0], lambda path: np.fromfile(path, np.uint8), "paths"
    ),
    "external_source": Entry(lambda x: x, lambda x: x),
    "python_function": Entry(lambda x: fn.python_function(x, function=lambda a: a // 2), lambda x: x // 2),
    # Decoders
    "decoders.image": Entry(lambda f: fn.decoders.image(f), pillow, "files"),
    "decoders.image_crop": Entry(
        lambda f: fn.decoders.image_crop(f, crop=(9, 8)), lambda f: centred(pillow(f), 9, 8), "files"
    ),
    "decoders.image_slice": Entry(
        lambda f: fn.decoders.image_slice(f, start=[3, 2], shape=[8, 9]),
        lambda f: window(pillow(f), (2, 3), (9, 8)),
        "files",
    ),
    "decoders.image_random_crop": Entry(
        lambda f: fn.decoders.image_random_crop(f, seed=SEED),
        lambda i, f: window(pillow(f), *drawn_window(i, pillow(f).shape)),
        "files",
        draws=True,
    ),
    "peek_image_shape": Entry(lambda f: fn.peek_image_shape(f), lambda f: np.array(pillow(f).shape, np.int64), "files"),
    # Windows and mirrors
    "crop": Entry(lambda x: fn.crop(x, crop=(1, 1), crop_pos_x=0.3), lambda x: centred(x, 1, 1, x_=0.3), empty=False),
    "slice": Entry(
        lambda x: fn.slice(x, rel_start=[0.0, 0.25], rel_end=[0.5, 1.0]),
        lambda x: x[round_half_up(0.25 * x.shape[0]) :, : round_half_up(0.5 * x.shape[1])],
    ),
    "flip": Entry(lambda x: fn.flip(x, horizontal=1, vertical=1), lambda x: x[::-1, ::-1]),
    "pad": Entry(
        lambda x: fn.pad(x, axes=[0, 1], shape=[33, 1], fill_value=9),
        lambda x: np.pad(x, [(0, max(0, 33 - len(x))), (0, max(0, 1 - x.shape[1])), (0, 0)], constant_values=9),
    ),
    "transpose": Entry(lambda x: fn.transpose(x, perm=[2, 0, 1]), lambda x: x.transpose(2, 0, 1)),
    # Elements
    "cast": Entry(lambda x: fn.cast(x, dtype=types.INT8), lambda x: saturated(x.astype(float), np.int8)),
    "crop_mirror_normalize": Entry(
        lambda x: fn.crop_mirror_normalize(x, mirror=1, mean=[10, 20, 30], std=[4, 5, 6]),
        lambda x: normalized(x[:, ::-1], [10, 20, 30], [4, 5, 6]),
        real=1e-4,
    ),
    # Resampling
    "resize": Entry(
        lambda x: fn.resize(x, size=(9, 11)), lambda x: saturated(resized(x, (9, 11))), empty=False, level=1
    ),
    "resize_crop_mirror": Entry(
        lambda x: fn.resize_crop_mirror(x, size=(12, 14), crop=(6, 5), crop_pos_x=0, crop_pos_y=0, mirror=1),
        lambda x: saturated(resized(x, (12, 14))[:6, :5][:, ::-1]),
        empty=False,
        level=1,
    ),
    "random_resized_crop": Entry(
        lambda x: fn.random_resized_crop(x, size=(7, 8), seed=SEED),
        lambda i, x: random_part(i, x, (7, 8)),
        draws=True,
        empty=False,
        level=1,
    ),
    # Colours
    "hue": Entry(lambda x: fn.hue(x, hue=60.0), lambda x: twisted(x, hue=60.0), level=1),
    "saturation": Entry(lambda x: fn.saturation(x, saturation=0.4), lambda x: twisted(x, saturation=0.4), level=1),
    "hsv": Entry(
        lambda x: fn.hsv(x, hue=-30.0, value=1.2), lambda x: twisted(x, -30.0, contrast=1, brightness=1.2), level=1
    ),
    "color_twist": Entry(
        lambda x: fn.color_twist(x, hue=10.0, saturation=1.5, brightness=0.8, contrast=1.3),
        lambda x: twisted(x, 10.0, 1.5, 0.8, 1.3),
        level=1,
    ),
    "color_space_conversion": Entry(
        lambda x: fn.color_space_conversion(x, image_type=types.RGB, output_type=types.YCbCr),
        lambda x: saturated(x @ YCBCR.T + [16, 128, 128]),
        level=1,
    ),
    # Filters and effects
    "gaussian_blur": Entry(
        lambda x: fn.gaussian_blur(x, sigma=1.5), lambda x: saturated(correlated(x, bell(1.5))), level=1
    ),
    "laplacian": Entry(
        lambda x: fn.laplacian(x, scale=0.25),
        lambda x: saturated(correlated(x, np.array([[2, 0, 2], [0, -8, 0], [2, 0, 2]]) / 4)),
        level=1,
    ),
    "filter": Entry(
        lambda x: fn.filter(x, types.Constant(np.float32([[0.5, -1.0, 0.25], [1.0, 0.0, 0.5]])), border="clamp"),
        lambda x: saturated(correlated(x, np.array([[0.5, -1.0, 0.25], [1.0, 0.0, 0.5]]), "edge")),
        level=1,
    ),
    "experimental.median_blur": Entry(lambda x: fn.experimental.median_blur(x, window_size=5), lambda x: median(x, 5)),
    "equalize": Entry(lambda x: fn.equalize(x), equalized, level=1),
    "sphere": Entry(lambda x: fn.sphere(x), on_a_ball),
    "water": Entry(
        lambda x: fn.water(x, ampl_x=3.0, ampl_y=3.0, freq_x=0.3, freq_y=0.3), lambda x: under_water(x, 3.0, 0.3)
    ),
    "noise.gaussian": Entry(
        lambda x: fn.noise.gaussian(x, stddev=12.0, seed=SEED), lambda i, x: noisy(i, x, 12.0), draws=True, level=1
    ),
    "noise.salt_and_pepper": Entry(
        lambda x: fn.noise.salt_and_pepper(x, prob=0.4, seed=SEED), lambda i, x: salted(i, x, 0.4), draws=True
    ),
    # Geometry
    "rotate": Entry(lambda x: fn.rotate(x, angle=90.0), np.rot90),
    "warp_affine": Entry(
        lambda x: fn.warp_affine(x, matrix=[1, 0, 1, 0, 1, 0], fill_value=7),
        lambda x: np.pad(x[:, 1:], [(0, 0), (0, min(1, x.shape[1])), (0, 0)], constant_values=7),
    ),
    "tensor_resize": Entry(
        lambda x: fn.tensor_resize(x, scales=[2.0], axes=[1], interp_type=types.INTERP_NN),
        lambda x: np.repeat(x, 2, axis=1),
        empty=False,
    ),
    "coord_transform": Entry(
        lambda x: fn.coord_transform(x, M=2.0, T=[1, 2, 3]), lambda x: x * np.float32(2) + np.float32([1, 2, 3])
    ),
    "erase": Entry(
        lambda x: fn.erase(x, anchor=[1, 2], shape=[3, 2], fill_value=9), lambda x: blotted(x, slice(1, 4), slice(2, 4))
    ),
    "grid_mask": Entry(
        lambda x: fn.grid_mask(x, tile=4, ratio=0.5),
        lambda x: np.where(np.any(np.indices(x.shape[:2]) % 4 >= 2, axis=0)[..., None], x, 0).astype(np.uint8),
    ),
    "paste": Entry(
        lambda x: fn.paste(x, ratio=2.0, fill_value=9, paste_x=0.0, paste_y=1.0),
        lambda x: np.pad(x, [(len(x), 0), (0, x.shape[1]), (0, 0)], constant_values=9),
    ),
    "multi_paste": Entry(lambda x: fn.multi_paste(x, fn.flip(x)), lambda x: x[:, ::-1]),
    # Draws
    "random_crop_generator": Entry(
        lambda s: fn.random_crop_generator(s, seed=SEED), lambda i, s: drawn_window(i, s), "shapes", draws=True
    ),
    "random.uniform": Entry(
        lambda s: fn.random.uniform(seed=SEED), lambda i, s: drawn_uniform(i), "shapes", draws=True
    ),
    "random.normal": Entry(
        lambda s: fn.random.normal(shape=[5], seed=SEED),
        lambda i, s: drawn_normals(i, 5),
        "shapes",
        draws=True,
        real=1e-5,
    ),
    "random.coin_flip": Entry(
        lambda s: fn.random.coin_flip(shape=[9], probability=0.3, seed=SEED),
        lambda i, s: drawn_coins(i, 9, 0.3),
        "shapes",
        draws=True,
    ),
    "random.choice": Entry(
        lambda s: fn.random.choice([3, 1, 4], shape=[9], seed=SEED),
        lambda i, s: drawn_choices(i, [3, 1, 4], 9),
        "shapes",
        draws=True,
    ),
    # Shapes
    "shapes": Entry(lambda x: fn.shapes(x), lambda x: np.array(x.shape, np.int64)),
    "reshape": Entry(lambda x: fn.reshape(x, shape=[-1]), lambda x: x.reshape(-1)),
    "reinterpret": Entry(lambda x: fn.reinterpret(x, dtype=types.INT8), lambda x: x.view(np.int8)),
    "expand_dims": Entry(lambda x: fn.expand_dims(x, axes=[0]), lambda x: x[None]),
    "squeeze": Entry(lambda x: fn.squeeze(fn.expand_dims(x, axes=[1]), axes=[1]), lambda x: x),
    "stack": Entry(lambda x: fn.stack(x, fn.flip(x), axis=1), lambda x: np.stack([x, x[:, ::-1]], axis=1)),
    "cat": Entry(lambda x: fn.cat(x, fn.flip(x), axis=0), lambda x: np.concatenate([x, x[:, ::-1]]), empty=False),
    "copy": Entry(lambda x: fn.copy(x), lambda x: x),
    "element_extract": Entry(
        lambda x: fn.element_extract(fn.stack(x, fn.flip(x)), element_map=[1]), lambda x: x[:, ::-1]
    ),
    # Constants
    "constant": Entry(lambda x: fn.constant(idata=[3, 4], shape=[2, 1]), lambda x: np.array([[3], [4]], np.int32)),
    "full": Entry(lambda x: fn.full(2.5, shape=[2, 3]), lambda x: np.full((2, 3), 2.5, np.float32)),
    "full_like": Entry(lambda x: fn.full_like(x, 7), lambda x: np.full_like(x, 7)),
    "zeros": Entry(lambda x: fn.zeros(shape=[2, 3]), lambda x: np.zeros((2, 3), np.int32)),
    "zeros_like": Entry(lambda x: fn.zeros_like(x), lambda x: np.zeros_like(x)),
    "ones": Entry(lambda x: fn.ones(shape=[4], dtype=types.FLOAT), lambda x: np.ones(4, np.float32)),
    "ones_like": Entry(lambda x: fn.ones_like(x, dtype=types.INT16), lambda x: np.ones_like(x, np.int16)),
    # Elements
    "cast_like": Entry(lambda x: fn.cast_like(x, np.float32(0)), lambda x: x.astype(np.float32)),
    "one_hot": Entry(
        lambda x: fn.one_hot(x, num_classes=9), lambda x: (x[..., None] == np.arange(9)).astype(np.float32)
    ),
    "lookup_table": Entry(
        lambda x: fn.lookup_table(x, keys=[1, 200], values=[0.5, 3.0], default_value=-1.0),
        lambda x: np.select([x == 1, x == 200], [np.float32(0.5), np.float32(3)], np.float32(-1)),
    ),
    "brightness": Entry(
        lambda x: fn.brightness(x, brightness=1.5, brightness_shift=-0.1),
        lambda x: saturated(1.5 * x - 0.1 * 255),
        level=1,
    ),
    "contrast": Entry(
        lambda x: fn.contrast(x, contrast=0.7, contrast_center=100.0),
        lambda x: saturated(100 + 0.7 * (x - 100.0)),
        level=1,
    ),
    "brightness_contrast": Entry(
        lambda x: fn.brightness_contrast(x, brightness=1.2, contrast=0.7, contrast_center=100.0),
        lambda x: saturated(1.2 * (100 + 0.7 * (x - 100.0))),
        level=1,
    ),
    "normalize": Entry(
        lambda x: fn.normalize(x, mean=100.0, stddev=50.0), lambda x: ((x - 100.0) / 50).astype(np.float32), real=1e-5
    ),
    # Reductions
    "reductions.max": Entry(lambda x: fn.reductions.max(x, axes=[0, 1]), lambda x: x.max(axis=(0, 1)), empty=False),
    "reductions.min": Entry(lambda x: fn.reductions.min(x, axes=[2]), lambda x: x.min(axis=2)),
    "reductions.sum": Entry(
        lambda x: fn.reductions.sum(x, axes=[0], dtype=types.INT64), lambda x: x.sum(axis=0, dtype=np.int64)
    ),
    "reductions.mean": Entry(
        lambda x: fn.reductions.mean(x, axes=[0, 1]), lambda x: np.float32(x.mean(axis=(0, 1))), empty=False, real=1e-3
    ),
    "reductions.mean_square": Entry(
        lambda x: fn.reductions.mean_square(x, axes=[0, 1]),
        lambda x: np.float32((x.astype(float) ** 2).mean(axis=(0, 1))),
        empty=False,
        real=0.1,
    ),
    "reductions.rms": Entry(
        lambda x: fn.reductions.rms(x, axes=[0, 1]),
        lambda x: np.float32(np.sqrt((x.astype(float) ** 2).mean(axis=(0, 1)))),
        empty=False,
        real=1e-2,
    ),
    "reductions.variance": Entry(
        lambda x: fn.reductions.variance(x, 100.0, axes=[0, 1]),
        lambda x: np.float32(((x - 100.0) ** 2).mean(axis=(0, 1))),
        empty=False,
        real=0.1,
    ),
    "reductions.std_dev": Entry(
        lambda x: fn.reductions.std_dev(x, 100.0, axes=[0, 1]),
        lambda x: np.float32(np.sqrt(((x - 100.0) ** 2).mean(axis=(0, 1)))),
        empty=False,
        real=1e-2,
    ),
}
