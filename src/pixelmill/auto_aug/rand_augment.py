"""RandAugment: a given number of operations of one strength, chosen at random (https://arxiv.org/abs/1909.13719)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from pixelmill import fn, types
from pixelmill.auto_aug import augmentations as a
from pixelmill.auto_aug.core import (
    Augmentation,
    check_suite,
    move_options,
    seed_for,
    select,
    signed_bin,
    whole_number,
    without,
)
from pixelmill.auto_aug.translations import Extent, translations
from pixelmill.graph.nodes import DataNode

__all__ = ["apply_rand_augment", "get_rand_augment_non_monotonic_suite", "get_rand_augment_suite", "rand_augment"]

LARGEST_SHIFT = (100, 100 / 224)  # in pixels, and as a share of the picture


def rand_augment(
    data: DataNode,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    shape: DataNode | tuple[int, int] | None = None,
    fill_value: int | None = 128,
    interp_type: types.DALIInterpType | None = None,
    max_translate_abs: Extent | None = None,
    max_translate_rel: Extent | None = None,
    seed: int | None = None,
    monotonic_mag: bool = True,
    excluded: Sequence[str] | None = None,
) -> DataNode:
    """Augment pictures as RandAugment does.

    Args:
        data: Pictures or videos of bytes, HWC or FHWC.
        n: How many operations a sample gets.
        m: Their magnitude, from 0 to num_magnitude_bins - 1.
        num_magnitude_bins: Into how many bins the ranges of magnitudes are divided.
        shape: Height and width of the pictures; shifts are then shares of them.
        fill_value: What lies outside of moved pictures; None repeats their edges.
        interp_type: How moved pixels are found, INTERP_LINEAR or INTERP_NN.
        max_translate_abs: The largest shift in pixels where `shape` is not given; one number or (vertical, horizontal).
        max_translate_rel: The largest shift as a share of `shape`; one number or (vertical, horizontal).
        seed: A seed for the choices.
        monotonic_mag: Whether larger magnitudes always mean stronger changes.
        excluded: Names of augmentations to leave out.
    """
    make = get_rand_augment_suite if monotonic_mag else get_rand_augment_non_monotonic_suite
    suite = without("rand_augment", make(shape is not None, max_translate_abs, max_translate_rel), excluded)
    options = move_options(shape, fill_value, interp_type)
    return apply_rand_augment(suite, data, n, m, num_magnitude_bins, seed, **options)


def apply_rand_augment(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: Any,
) -> DataNode:
    """Apply `n` augmentations to each sample, chosen from a list.

    Args:
        augmentations: What is chosen from.
        data: Pictures.
        n: How many augmentations a sample gets.
        m: Their magnitude, from 0 to num_magnitude_bins - 1.
        num_magnitude_bins: Into how many bins the ranges of magnitudes are divided.
        seed: A seed for the choices.
        kwargs: More arguments for those augmentations that take them.
    """
    whole_number("rand_augment", "n", n, 0)
    whole_number("rand_augment", "num_magnitude_bins", num_magnitude_bins, 1)
    whole_number("rand_augment", "m", m, 0, num_magnitude_bins - 1)
    if n == 0:
        warnings.warn("rand_augment: n is 0, so nothing is done", stacklevel=2)
        return data
    check_suite("rand_augment", augmentations, kwargs)
    numbers = list(range(len(augmentations)))
    chosen = fn.random.uniform(values=numbers, shape=[n], dtype=types.INT32, seed=seed_for(seed, 0))
    bins: Any = [m] * n
    if any(each.randomly_negate for each in augmentations):
        bins = signed_bin(m, seed=seed_for(seed, 1), shape=[n])
    for place in range(n):
        options = {"magnitude_bin": bins[place], "num_magnitude_bins": num_magnitude_bins, **kwargs}
        data = select(augmentations, chosen[place], data, **options)
    return data


def _moves(use_shape: bool, most_pixels: Extent | None, most_share: Extent | None) -> list[Augmentation]:
    return [
        *translations(use_shape, LARGEST_SHIFT, most_pixels, most_share),
        a.shear_x.augmentation((0, 0.3)),
        a.shear_y.augmentation((0, 0.3)),
        a.rotate.augmentation((0, 30)),
    ]


def get_rand_augment_suite(
    use_shape: bool = False, max_translate_abs: Extent | None = None, max_translate_rel: Extent | None = None
) -> list[Augmentation]:
    """Give the 14 augmentations of RandAugment; larger magnitudes mean stronger changes.

    Args:
        use_shape: Let shifts be shares of the pictures' extents.
        max_translate_abs: The largest shift in pixels, 100 when left out.
        max_translate_rel: The largest shift as a share, 100 / 224 when left out.
    """
    return [
        *_moves(use_shape, max_translate_abs, max_translate_rel),
        *(each.augmentation((0, 0.9), True) for each in (a.brightness, a.contrast, a.color, a.sharpness)),
        a.posterize.augmentation((8, 4)),
        a.solarize.augmentation((256, 0)),
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]


def get_rand_augment_non_monotonic_suite(
    use_shape: bool = False, max_translate_abs: Extent | None = None, max_translate_rel: Extent | None = None
) -> list[Augmentation]:
    """Give the augmentations of RandAugment with the ranges of AutoAugment: some are weakest in the middle.

    Args:
        use_shape: Let shifts be shares of the pictures' extents.
        max_translate_abs: The largest shift in pixels, 100 when left out.
        max_translate_rel: The largest shift as a share, 100 / 224 when left out.
    """
    return [
        *_moves(use_shape, max_translate_abs, max_translate_rel),
        *(each.augmentation((0.1, 1.9), False, None) for each in (a.brightness, a.contrast, a.color)),
        a.sharpness.augmentation((0.1, 1.9), False, a.sharpness_kernel_shifted),
        a.posterize.augmentation((0, 4)),
        a.solarize.augmentation((0, 256)),
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]
