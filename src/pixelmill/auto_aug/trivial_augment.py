"""TrivialAugment: one random augmentation of a random magnitude (https://arxiv.org/abs/2103.10158)."""

from __future__ import annotations

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
from pixelmill.auto_aug.translations import Extent, translations
from pixelmill.graph.nodes import DataNode

__all__ = ["apply_trivial_augment", "get_trivial_augment_wide_suite", "trivial_augment_wide"]

LARGEST_TRANSLATION = (32, 1.0)  # in pixels, and as a fraction of the image size


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
    """Augment images with TrivialAugment (wide).

    Args:
        data: Images or videos of type uint8, HWC or FHWC.
        num_magnitude_bins: The number of bins that magnitude ranges are divided into.
        shape: Height and width of the images; translations are then relative to them.
        fill_value: The value used outside transformed images; None repeats the edge pixels.
        interp_type: Interpolation of geometric augmentations: INTERP_LINEAR or INTERP_NN.
        max_translate_abs: Largest translation in pixels, if `shape` is None; one number or (vertical, horizontal).
        max_translate_rel: Largest translation as a fraction of `shape`; one number or (vertical, horizontal).
        seed: Seed of the random choices.
        excluded: Names of augmentations to leave out.
    """
    suite = get_trivial_augment_wide_suite(shape is not None, max_translate_abs, max_translate_rel)
    kept = without_excluded("trivial_augment_wide", suite, excluded)
    options = geometric_options(shape, fill_value, interp_type)
    return apply_trivial_augment(kept, data, num_magnitude_bins, seed, **options)


def apply_trivial_augment(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: object,
) -> DataNode:
    """Apply one random augmentation of a list to each sample, with a random magnitude.

    Args:
        augmentations: The augmentations to draw from.
        data: Images.
        num_magnitude_bins: The number of bins that magnitude ranges are divided into.
        seed: Seed of the random choices.
        kwargs: Further arguments for the augmentations that take them.
    """
    check_integer("trivial_augment", "num_magnitude_bins", num_magnitude_bins, 1)
    check_suite("trivial_augment", augmentations, kwargs)
    numbers, bins = list(range(len(augmentations))), list(range(num_magnitude_bins))
    chosen = fn.random.uniform(values=numbers, dtype=types.INT32, seed=seed_for(seed, 0))
    drawn = fn.random.uniform(values=bins, dtype=types.INT32, seed=seed_for(seed, 1))
    signed = any(each.randomly_negate for each in augmentations)
    magnitude = signed_bin(drawn, seed=seed_for(seed, 2)) if signed else drawn
    options = {"magnitude_bin": magnitude, "num_magnitude_bins": num_magnitude_bins, **kwargs}
    return select(augmentations, chosen, data, **options)


def get_trivial_augment_wide_suite(
    use_shape: bool = False, max_translate_abs: Extent | None = None, max_translate_rel: Extent | None = None
) -> list[Augmentation]:
    """Return the 14 augmentations of TrivialAugment's wide space.

    Args:
        use_shape: Whether translations are relative to the image size.
        max_translate_abs: Largest translation in pixels; 32 if None.
        max_translate_rel: Largest translation as a fraction of the image size; 1 if None.
    """
    return [
        *translations(use_shape, LARGEST_TRANSLATION, max_translate_abs, max_translate_rel),
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
