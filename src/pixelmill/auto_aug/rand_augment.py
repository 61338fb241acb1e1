"""RandAugment: random augmentations of a common magnitude (https://arxiv.org/abs/1909.13719)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pixelmill import fn, types
from pixelmill.auto_aug import augmentations as a
from pixelmill.auto_aug.core import (
    Augmentation,
    check_integer,
    check_suite,
    geometric_options,
    seed_for,
    select,
    signed_bin,
    without_excluded,
)
from pixelmill.auto_aug.operation import SignedBin
from pixelmill.auto_aug.translations import Extent, translations
from pixelmill.graph.nodes import DataNode

__all__ = ["apply_rand_augment", "get_rand_augment_non_monotonic_suite", "get_rand_augment_suite", "rand_augment"]

LARGEST_TRANSLATION = (100, 100 / 224)  # in pixels, and as a fraction of the image size


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
    """Augment images with RandAugment.

    Args:
        data: Images or videos of type uint8, HWC or FHWC.
        n: The number of augmentations per sample.
        m: Their magnitude bin, from 0 to num_magnitude_bins - 1.
        num_magnitude_bins: The number of bins that magnitude ranges are divided into.
        shape: Height and width of the images; translations are then relative to them.
        fill_value: The value used outside transformed images; None repeats the edge pixels.
        interp_type: Interpolation of geometric augmentations: INTERP_LINEAR or INTERP_NN.
        max_translate_abs: Largest translation in pixels, if `shape` is None; one number or (vertical, horizontal).
        max_translate_rel: Largest translation as a fraction of `shape`; one number or (vertical, horizontal).
        seed: Seed of the random choices.
        monotonic_mag: Whether to use the augmentations for which a larger magnitude always means a stronger effect.
        excluded: Names of augmentations to leave out.
    """
    make = get_rand_augment_suite if monotonic_mag else get_rand_augment_non_monotonic_suite
    suite = without_excluded("rand_augment", make(shape is not None, max_translate_abs, max_translate_rel), excluded)
    options = geometric_options(shape, fill_value, interp_type)
    return apply_rand_augment(suite, data, n, m, num_magnitude_bins, seed, **options)


def apply_rand_augment(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: object,
) -> DataNode:
    """Apply `n` random augmentations of a list to each sample.

    Args:
        augmentations: The augmentations to draw from.
        data: Images.
        n: The number of augmentations per sample.
        m: Their magnitude bin, from 0 to num_magnitude_bins - 1.
        num_magnitude_bins: The number of bins that magnitude ranges are divided into.
        seed: Seed of the random choices.
        kwargs: Further arguments for the augmentations that take them.
    """
    check_integer("rand_augment", "n", n, 0)
    check_integer("rand_augment", "num_magnitude_bins", num_magnitude_bins, 1)
    check_integer("rand_augment", "m", m, 0, num_magnitude_bins - 1)
    if n == 0:
        warnings.warn("rand_augment: n is 0, so no augmentation is applied", stacklevel=2)
        return data
    check_suite("rand_augment", augmentations, kwargs)
    numbers = list(range(len(augmentations)))
    chosen = fn.random.uniform(values=numbers, shape=[n], dtype=types.INT32, seed=seed_for(seed, 0))
    bins: list[int] | SignedBin = [m] * n
    if any(each.randomly_negate for each in augmentations):
        bins = signed_bin(m, seed=seed_for(seed, 1), shape=[n])
    for place in range(n):
        options = {"magnitude_bin": bins[place], "num_magnitude_bins": num_magnitude_bins, **kwargs}
        data = select(augmentations, chosen[place], data, **options)
    return data


def _moves(use_shape: bool, most_pixels: Extent | None, most_relative: Extent | None) -> list[Augmentation]:
    return [
        *translations(use_shape, LARGEST_TRANSLATION, most_pixels, most_relative),
        a.shear_x.augmentation((0, 0.3)),
        a.shear_y.augmentation((0, 0.3)),
        a.rotate.augmentation((0, 30)),
    ]


def get_rand_augment_suite(
    use_shape: bool = False, max_translate_abs: Extent | None = None, max_translate_rel: Extent | None = None
) -> list[Augmentation]:
    """Return the 14 augmentations of RandAugment; a larger magnitude always means a stronger effect.

    Args:
        use_shape: Whether translations are relative to the image size.
        max_translate_abs: Largest translation in pixels; 100 if None.
        max_translate_rel: Largest translation as a fraction of the image size; 100 / 224 if None.
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
    """Return the augmentations of RandAugment with AutoAugment's ranges, some of which are weakest in the middle.

    Args:
        use_shape: Whether translations are relative to the image size.
        max_translate_abs: Largest translation in pixels; 100 if None.
        max_translate_rel: Largest translation as a fraction of the image size; 100 / 224 if None.
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
