"""AutoAugment: policies that were found by search (https://arxiv.org/abs/1805.09501)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pixelmill import fn, types
from pixelmill.auto_aug import augmentations as a
from pixelmill.auto_aug.core import Augmentation, Policy, refuse_unused, seed_for, signed_bin
from pixelmill.auto_aug.policy import Entry
from pixelmill.auto_aug.translations import Extent, translations
from pixelmill.branches import choose, merge
from pixelmill.errors import ArgumentError
from pixelmill.graph import DataNode

__all__ = [
    "apply_auto_augment",
    "auto_augment",
    "auto_augment_image_net",
    "get_image_net_policy",
    "get_reduced_cifar10_policy",
    "get_reduced_image_net_policy",
    "get_svhn_policy",
]

BINS = 11
LARGEST_SHIFT = (250, 1.0)  # in pixels, and as a share of the picture

# The policies of the paper's appendix. A line is a sub-policy: augmentation, probability, magnitude.
IMAGE_NET = """
equalize .8      shear_y .8 4
color .4 9       equalize .6
color .4 1       rotate .6 8
solarize .8 3    equalize .4
solarize .4 2    solarize .6 2
color .2 0       equalize .8
equalize .4      solarize_add .8 3
shear_x .2 9     rotate .6 8
color .6 1       equalize 1
invert .4        rotate .6 0
equalize 1       shear_y .6 3
color .4 7       equalize .6
posterize .4 6   auto_contrast .4
solarize .6 8    color .6 9
solarize .2 4    rotate .8 9
rotate 1 7       translate_y .8 9
solarize .8 4
shear_y .8 0     color .6 4
color 1 0        rotate .6 2
equalize .8
equalize 1       auto_contrast .6
shear_y .4 7     solarize_add .6 7
posterize .8 2   solarize .6 10
solarize .6 8    equalize .6
color .8 6       rotate .4 5
"""
REDUCED_CIFAR10 = """
invert .1         contrast .2 6
rotate .7 2       translate_x .3 9
sharpness .8 1    sharpness .9 3
shear_y .5 8      translate_y .7 9
auto_contrast .5  equalize .9
shear_y .2 7      posterize .3 7
color .4 3        brightness .6 7
sharpness .3 9    brightness .7 9
equalize .6       equalize .5
contrast .6 7     sharpness .6 5
color .7 7        translate_x .5 8
equalize .3       auto_contrast .4
translate_y .4 3  sharpness .2 6
brightness .9 6   color .2 8
solarize .5 2
equalize .2       auto_contrast .6
equalize .2       equalize .6
color .9 9        equalize .6
auto_contrast .8  solarize .2 8
brightness .1 3   color .7 0
solarize .4 5     auto_contrast .9
translate_y .9 9  translate_y .7 9
auto_contrast .9  solarize .8 3
equalize .8       invert .1
translate_y .7 9  auto_contrast .9
"""
SVHN = """
shear_x .9 4   invert .2
shear_y .9 8   invert .7
equalize .6    solarize .6 6
invert .9      equalize .6
equalize .6    rotate .9 3
shear_x .9 4   auto_contrast .8
shear_y .9 8   invert .4
shear_y .9 5   solarize .2 6
invert .9      auto_contrast .8
equalize .6    rotate .9 3
shear_x .9 4   solarize .3 3
shear_y .8 8   invert .7
equalize .9    translate_y .6 6
invert .9      equalize .6
contrast .3 3  rotate .8 4
invert .8
shear_y .7 6   solarize .4 8
invert .6      rotate .8 4
shear_y .3 7   translate_x .9 3
shear_x .1 6   invert .6
solarize .7 2  translate_y .6 7
shear_y .8 4   invert .8
shear_x .7 9   translate_y .8 3
shear_y .8 5   auto_contrast .7
shear_x .7 2   invert .1
"""
REDUCED_IMAGE_NET = """
posterize .4 8  rotate .6 9
solarize .6 5   auto_contrast .6
equalize .8     equalize .6
posterize .6 7  posterize .6 6
equalize .4     solarize .2 4
equalize .4     rotate .8 8
solarize .6 3   equalize .6
posterize .8 5  equalize 1
rotate .2 3     solarize .6 8
equalize .6     posterize .4 6
rotate .8 8     color .4 0
rotate .4 9     equalize .6
equalize .8
invert .6       equalize 1
color .6 4      contrast 1 8
rotate .8 8     color 1 2
color .8 8      solarize .8 7
sharpness .4 7  invert .6
shear_x .6 5    equalize 1
color .4 0      equalize .6
equalize .4     solarize .2 4
solarize .6 5   auto_contrast .6
invert .6       equalize 1
color .6 4      contrast 1 8
equalize .8     equalize .6
"""


def auto_augment(
    data: DataNode,
    policy_name: str = "image_net",
    shape: DataNode | tuple[int, int] | None = None,
    fill_value: int | None = 128,
    interp_type: types.DALIInterpType | None = None,
    max_translate_abs: Extent | None = None,
    max_translate_rel: Extent | None = None,
    seed: int | None = None,
) -> DataNode:
    """Augment pictures by one of the policies of AutoAugment.

    Args:
        data: Pictures or videos of bytes, HWC or FHWC.
        policy_name: image_net, reduced_image_net, reduced_cifar10 or svhn.
        shape: Height and width of the pictures; shifts are then shares of them.
        fill_value: What lies outside of moved pictures; None repeats their edges.
        interp_type: How moved pixels are found, INTERP_LINEAR or INTERP_NN.
        max_translate_abs: The largest shift in pixels where `shape` is not given; one number or (vertical, horizontal).
        max_translate_rel: The largest shift as a share of `shape`; one number or (vertical, horizontal).
        seed: A seed for the choices.
    """
    if policy_name not in POLICIES:
        raise ArgumentError(f"auto_augment: policy_name must be one of {', '.join(POLICIES)}, got {policy_name!r}")
    options: dict[str, Any] = {"fill_value": fill_value, "interp_type": interp_type}
    if policy_name == "reduced_image_net":
        for name, value in (("shape", shape), ("max_translate_abs", max_translate_abs)):
            _refuse_shift(name, value)
        _refuse_shift("max_translate_rel", max_translate_rel)
        return apply_auto_augment(get_reduced_image_net_policy(), data, seed, **options)
    if shape is not None:
        options["shape"] = shape
    policy = POLICIES[policy_name](shape is not None, max_translate_abs, max_translate_rel)
    return apply_auto_augment(policy, data, seed, **options)


def _refuse_shift(name: str, value: Any) -> None:
    if value is not None:
        raise ArgumentError(f"auto_augment: reduced_image_net shifts nothing, so {name} has no meaning")


def auto_augment_image_net(data: DataNode, *args: Any, **kwargs: Any) -> DataNode:
    """Augment pictures by the policy for ImageNet; the arguments are those of `auto_augment` behind policy_name."""
    return auto_augment(data, "image_net", *args, **kwargs)


def apply_auto_augment(policy: Policy, data: DataNode, seed: int | None = None, **kwargs: Any) -> DataNode:
    """Apply to each sample one of the sequences of a policy.

    Args:
        policy: The sequences.
        data: Pictures.
        seed: A seed for the choices.
        kwargs: More arguments for those augmentations that take them.
    """
    if not policy.sub_policies:
        raise ArgumentError(f"auto_augment: the policy {policy.name} is empty")
    refuse_unused("auto_augment", policy.augmentations.values(), kwargs)
    longest = max(len(sub_policy) for sub_policy in policy.sub_policies)
    numbers = list(range(len(policy.sub_policies)))
    chosen = fn.random.uniform(values=numbers, dtype=types.INT32, seed=seed_for(seed, 0))
    drawn = fn.random.uniform(range=[0, 1], shape=[longest], seed=seed_for(seed, 1))
    signs = fn.random.uniform(values=[0, 1], dtype=types.INT32, shape=[longest], seed=seed_for(seed, 2))

    def apply(sub_policy: tuple[Entry, ...], pictures: DataNode) -> DataNode:
        for place, (operation, probability, number) in enumerate(sub_policy):
            magnitude = None if number is None else signed_bin(number, signs[place])
            options = {"magnitude_bin": magnitude, "num_magnitude_bins": policy.num_magnitude_bins, **kwargs}
            pictures = merge(drawn[place] < probability, operation(pictures, **options), pictures)
        return pictures

    return choose(chosen, [partial(apply, sub_policy, data) for sub_policy in policy.sub_policies])


def _policy(
    name: str, table: str, use_shape: bool = False, most_pixels: Extent | None = None, most_share: Extent | None = None
) -> Policy:
    """Read a table of sub-policies, with the ranges of magnitudes that AutoAugment has."""
    suite: list[Augmentation] = [
        *translations(use_shape, LARGEST_SHIFT, most_pixels, most_share),
        *(each.augmentation((0, 0.3)) for each in (a.shear_x, a.shear_y)),
        a.rotate.augmentation((0, 30)),
        *(each.augmentation((0.1, 1.9), False, None) for each in (a.brightness, a.color, a.contrast)),
        a.sharpness.augmentation((0.1, 1.9), False, a.sharpness_kernel_shifted),
        a.posterize.augmentation((0, 4)),
        a.solarize.augmentation((0, 256)),
        a.solarize_add.augmentation((0, 110)),
        a.invert,
        a.equalize,
        a.auto_contrast,
    ]
    known = {each.name: each for each in suite}
    sub_policies: list[list[Entry]] = []
    for line in table.split("\n")[1:-1]:
        sub_policies.append([])
        for word in line.split():
            if word in known:
                sub_policies[-1].append((known[word], -1.0, None))
                continue
            operation, probability, _ = sub_policies[-1].pop()
            entry = (operation, float(word), None) if probability < 0 else (operation, probability, int(word))
            sub_policies[-1].append(entry)
    return Policy(name, BINS, sub_policies)


def get_image_net_policy(
    use_shape: bool = False, max_translate_abs: Extent | None = None, max_translate_rel: Extent | None = None
) -> Policy:
    """Give the policy for ImageNet.

    Args:
        use_shape: Let shifts be shares of the pictures' extents.
        max_translate_abs: The largest shift in pixels, 250 when left out.
        max_translate_rel: The largest shift as a share, 1 when left out.
    """
    return _policy("ImageNetPolicy", IMAGE_NET, use_shape, max_translate_abs, max_translate_rel)
