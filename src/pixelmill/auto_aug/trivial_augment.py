"""TrivialAugment: one operation of a random strength (https://arxiv.org/abs/2103.10158)."""

from __future__ import annotations

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

__all__ = ["apply_trivial_augment", "get_trivial_augment_wide_suite", "trivial_augment_wide"]

LARGEST_SHIFT = (32, 1.0)  # in pixels, and as a share of the picture


def trivial_augment_wide(
    data: DataNode,
    num_magnitude_bins: int = 31,
    shape: DataNode | tuple[int, int] | None = None,
    fill_value: int | None = 128,
    interp_type: types.DALIInterpType | None = None,
    max_translate_abs: Extent | None = None,
    max_translate_rel: Extent | None = None,
    seed: int | None = None,
    excluded: Sequence[str] | None = None,
) -> DataNode:
    """Augment pictures as TrivialAugment (wide) does.

    Args:
        data: Pictures or videos of bytes, HWC or FHWC.
        num_magnitude_bins: Into how many bins the ranges of magnitudes are divided.
        shape: Height and width of the pictures; shifts are then shares of them.
        fill_value: What lies outside of moved pictures; None repeats their edges.
        interp_type: How moved pixels are found, INTERP_LINEAR or INTERP_NN.
        max_translate_abs: The largest shift in pixels where `shape` is not given; one number or (vertical, horizontal).
        max_translate_rel: The largest shift as a share of `shape`; one number or (vertical, horizontal).
        seed: A seed for the choices.
        excluded: Names of augmentations to leave out.
    """
    suite = get_trivial_augment_wide_suite(shape is not None, max_translate_abs, max_translate_rel)
    kept = without("trivial_augment_wide", suite, excluded)
    options = move_options(shape, fill_value, interp_type)
    return apply_trivial_augment(kept, data, num_magnitude_bins, seed, **options)


def apply_trivial_augment(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: Any,
) -> DataNode:
    """Apply one augmentation of a list to each sample, with a random magnitude.

    Args:
        augmentations: What is chosen from.
        data: Pictures.
        num_magnitude_bins: Into how many bins the ranges of magnitudes are divided.
        seed: A seed for the choices.
        kwargs: More arguments for those augmentations that take them.
    """
    whole_number("trivial_augment", "num_magnitude_bins", num_magnitude_bins, 1)
    check_suite("trivial_augment", augmentations, kwargs)
    numbers, bins = list(range(len(augmentations))), list(range(num_magnitude_bins))
    chosen = fn.random.uniform(values=numbers, dtype=types.INT32, seed=seed_for(seed, 0))
    number: Any = fn.random.uniform(values=bins, dtype=types.INT32, seed=seed_for(seed, 1))
    if any(each.randomly_negate for each in augmentations):
        number = signed_bin(number, seed=seed_for(seed, 2))
    options = {"magnitude_bin": number, "num_magnitude_bins": num_magnitude_bins, **kwargs}
    result: DataNode = select(augmentations, chosen, data, **options)
    return result


def get_trivial_augment_wide_suite(
    use_shape: bool = False, max_translate_abs: Extent | None = None, max_translate_rel: Extent | None = None
) -> list[Augmentation]:
    """Give the 14 augmentations of TrivialAugment's wide space.

    Args:
        use_shape: Let shifts be shares of the pictures' extents.
        max_translate_abs: The largest shift in pixels, 32 when left out.
        max_translate_rel: The largest shift as a share, 1 when left out.
    """
    return [
        *translations(use_shape, LARGEST_SHIFT, max_translate_abs, max_translate_rel),
        a.shear_x.augmentation((0, 0.99)),
        a.shear_y.augmentation((0, 0.99)),
        a.rotate.augmentation((0, 135)),
        *(each.augmentation((0.01, 0.99), True) for each in (a.brightness, a.contrast, a.color, a.sharpness)),
        a.posterize.augmentation((8, 2)),
        a.solarize.augmentation((256, 0)),
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]
