"""The policies published with AutoAugment, and the magnitude ranges they assume."""

from __future__ import annotations

from pixelmill.auto_aug import augmentations as a
from pixelmill.auto_aug.operation import Augmentation
from pixelmill.auto_aug.policy import Entry, Policy
from pixelmill.auto_aug.translations import Extent, translations

BINS = 11
LARGEST_TRANSLATION = (250, 1.0)  # in pixels, and as a fraction of the image size

# From the appendix of the paper (https://arxiv.org/abs/1805.09501). Each line is a sub-policy: name, probability and
# magnitude bin of each augmentation.
IMAGE_NET = """\
equalize .8, shear_y .8 4
color .4 9, equalize .6
color .4 1, rotate .6 8
solarize .8 3, equalize .4
solarize .4 2, solarize .6 2
color .2 0, equalize .8
equalize .4, solarize_add .8 3
shear_x .2 9, rotate .6 8
color .6 1, equalize 1
invert .4, rotate .6 0
equalize 1, shear_y .6 3
color .4 7, equalize .6
posterize .4 6, auto_contrast .4
solarize .6 8, color .6 9
solarize .2 4, rotate .8 9
rotate 1 7, translate_y .8 9
solarize .8 4
shear_y .8 0, color .6 4
color 1 0, rotate .6 2
equalize .8
equalize 1, auto_contrast .6
shear_y .4 7, solarize_add .6 7
posterize .8 2, solarize .6 10
solarize .6 8, equalize .6
color .8 6, rotate .4 5
"""
REDUCED_CIFAR10 = """\
invert .1, contrast .2 6
rotate .7 2, translate_x .3 9
sharpness .8 1, sharpness .9 3
shear_y .5 8, translate_y .7 9
auto_contrast .5, equalize .9
shear_y .2 7, posterize .3 7
color .4 3, brightness .6 7
sharpness .3 9, brightness .7 9
equalize .6, equalize .5
contrast .6 7, sharpness .6 5
color .7 7, translate_x .5 8
equalize .3, auto_contrast .4
translate_y .4 3, sharpness .2 6
brightness .9 6, color .2 8
solarize .5 2
equalize .2, auto_contrast .6
equalize .2, equalize .6
color .9 9, equalize .6
auto_contrast .8, solarize .2 8
brightness .1 3, color .7 0
solarize .4 5, auto_contrast .9
translate_y .9 9, translate_y .7 9
auto_contrast .9, solarize .8 3
equalize .8, invert .1
translate_y .7 9, auto_contrast .9
"""
SVHN = """\
shear_x .9 4, invert .2
shear_y .9 8, invert .7
equalize .6, solarize .6 6
invert .9, equalize .6
equalize .6, rotate .9 3
shear_x .9 4, auto_contrast .8
shear_y .9 8, invert .4
shear_y .9 5, solarize .2 6
invert .9, auto_contrast .8
equalize .6, rotate .9 3
shear_x .9 4, solarize .3 3
shear_y .8 8, invert .7
equalize .9, translate_y .6 6
invert .9, equalize .6
contrast .3 3, rotate .8 4
invert .8
shear_y .7 6, solarize .4 8
invert .6, rotate .8 4
shear_y .3 7, translate_x .9 3
shear_x .1 6, invert .6
solarize .7 2, translate_y .6 7
shear_y .8 4, invert .8
shear_x .7 9, translate_y .8 3
shear_y .8 5, auto_contrast .7
shear_x .7 2, invert .1
"""
REDUCED_IMAGE_NET = """\
posterize .4 8, rotate .6 9
solarize .6 5, auto_contrast .6
equalize .8, equalize .6
posterize .6 7, posterize .6 6
equalize .4, solarize .2 4
equalize .4, rotate .8 8
solarize .6 3, equalize .6
posterize .8 5, equalize 1
rotate .2 3, solarize .6 8
equalize .6, posterize .4 6
rotate .8 8, color .4 0
rotate .4 9, equalize .6
equalize .8
invert .6, equalize 1
color .6 4, contrast 1 8
rotate .8 8, color 1 2
color .8 8, solarize .8 7
sharpness .4 7, invert .6
shear_x .6 5, equalize 1
color .4 0, equalize .6
equalize .4, solarize .2 4
solarize .6 5, auto_contrast .6
invert .6, equalize 1
color .6 4, contrast 1 8
equalize .8, equalize .6
"""


def get_image_net_policy(
    use_shape: bool = False, max_translate_abs: Extent | None = None, max_translate_rel: Extent | None = None
) -> Policy:
    """Return the policy for ImageNet.

    Args:
        use_shape: Whether translations are relative to the image size.
        max_translate_abs: Largest translation in pixels; 250 if None.
        max_translate_rel: Largest translation as a fraction of the image size; 1 if None.
    """
    return _policy(
        "ImageNetPolicy", IMAGE_NET, translations(use_shape, LARGEST_TRANSLATION, max_translate_abs, max_translate_rel)
    )


def get_reduced_cifar10_policy(
    use_shape: bool = False, max_translate_abs: Extent | None = None, max_translate_rel: Extent | None = None
) -> Policy:
    """Return the policy for CIFAR-10.

    Args:
        use_shape: Whether translations are relative to the image size.
        max_translate_abs: Largest translation in pixels; 250 if None.
        max_translate_rel: Largest translation as a fraction of the image size; 1 if None.
    """
    shifts = translations(use_shape, LARGEST_TRANSLATION, max_translate_abs, max_translate_rel)
    return _policy("ReducedCifar10Policy", REDUCED_CIFAR10, shifts)


def get_svhn_policy(
    use_shape: bool = False, max_translate_abs: Extent | None = None, max_translate_rel: Extent | None = None
) -> Policy:
    """Return the policy for Street View House Numbers (SVHN).

    Args:
        use_shape: Whether translations are relative to the image size.
        max_translate_abs: Largest translation in pixels; 250 if None.
        max_translate_rel: Largest translation as a fraction of the image size; 1 if None.
    """
    return _policy(
        "SvhnPolicy", SVHN, translations(use_shape, LARGEST_TRANSLATION, max_translate_abs, max_translate_rel)
    )


def get_reduced_image_net_policy() -> Policy:
    """Return the policy found on a subset of ImageNet. It has no translations."""
    return _policy("ReducedImageNetPolicy", REDUCED_IMAGE_NET, [])


def _policy(name: str, table: str, shifts: list[Augmentation]) -> Policy:
    suite: list[Augmentation] = [
        *shifts,
        *(each.augmentation((0, 0.3)) for each in (a.shear_x, a.shear_y)),
        a.rotate.augmentation((0, 30)),
        *(each.augmentation((0.1, 1.9), False, None) for each in (a.brightness, a.color, a.contrast)),
        a.sharpness.augmentation((0.1, 1.9), False, a.sharpness_kernel_shifted),
        a.posterize.augmentation((0, 4)),
        a.solarize.augmentation((0, 256)),
        a.solarize_add.augmentation((0, 110)),
        *(a.invert, a.equalize, a.auto_contrast),
    ]
    known = {str(each.name): each for each in suite}
    lines = [line.split(", ") for line in table.splitlines()]
    return Policy(name, BINS, [[_entry(text, known) for text in line] for line in lines])


def _entry(text: str, known: dict[str, Augmentation]) -> Entry:
    name, probability, *magnitude = text.split()
    return known[name], float(probability), int(magnitude[0]) if magnitude else None
