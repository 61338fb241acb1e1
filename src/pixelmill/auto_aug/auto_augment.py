"""AutoAugment: augmentation policies found by search (https://arxiv.org/abs/1805.09501)."""

from __future__ import annotations

from functools import partial

from pixelmill import fn, types
from pixelmill.auto_aug.core import Policy, check_suite, geometric_options, seed_for, signed_bin
from pixelmill.auto_aug.policies import (
    get_image_net_policy,
    get_reduced_cifar10_policy,
    get_reduced_image_net_policy,
    get_svhn_policy,
)
from pixelmill.auto_aug.policy import Entry
from pixelmill.auto_aug.translations import Extent
from pixelmill.errors import ArgumentError
from pixelmill.graph.branches import choose, merge
from pixelmill.graph.nodes import DataNode

__all__ = [
    "apply_auto_augment",
    "auto_augment",
    "auto_augment_image_net",
    "get_image_net_policy",
    "get_reduced_cifar10_policy",
    "get_reduced_image_net_policy",
    "get_svhn_policy",
]


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
    """Augment images with one of the AutoAugment policies.

    Args:
        data: Images or videos of type uint8, HWC or FHWC.
        policy_name: image_net, reduced_image_net, reduced_cifar10 or svhn.
        shape: Height and width of the images; translations are then relative to them.
        fill_value: The value used outside transformed images; None repeats the edge pixels.
        interp_type: Interpolation of geometric augmentations: INTERP_LINEAR or INTERP_NN.
        max_translate_abs: Largest translation in pixels, if `shape` is None; one number or (vertical, horizontal).
        max_translate_rel: Largest translation as a fraction of `shape`; one number or (vertical, horizontal).
        seed: Seed of the random choices.
    """
    policies = {
        "image_net": get_image_net_policy,
        "reduced_cifar10": get_reduced_cifar10_policy,
        "svhn": get_svhn_policy,
    }
    options = geometric_options(shape, fill_value, interp_type)
    if policy_name == "reduced_image_net":
        if any(value is not None for value in (shape, max_translate_abs, max_translate_rel)):
            raise ArgumentError(
                "auto_augment: reduced_image_net has no translations; it takes neither shape nor max_translate"
            )
        return apply_auto_augment(get_reduced_image_net_policy(), data, seed, **options)
    if policy_name not in policies:
        known = ", ".join([*policies, "reduced_image_net"])
        raise ArgumentError(f"auto_augment: policy_name must be one of {known}, got {policy_name!r}")
    policy = policies[policy_name](shape is not None, max_translate_abs, max_translate_rel)
    return apply_auto_augment(policy, data, seed, **options)


def auto_augment_image_net(
    data: DataNode,
    shape: DataNode | tuple[int, int] | None = None,
    fill_value: int | None = 128,
    interp_type: types.DALIInterpType | None = None,
    max_translate_abs: Extent | None = None,
    max_translate_rel: Extent | None = None,
    seed: int | None = None,
) -> DataNode:
    """Augment images with the ImageNet policy; the arguments are those of `auto_augment`."""
    return auto_augment(data, "image_net", shape, fill_value, interp_type, max_translate_abs, max_translate_rel, seed)


def apply_auto_augment(policy: Policy, data: DataNode, seed: int | None = None, **kwargs: object) -> DataNode:
    """Apply a random sub-policy to each sample.

    Args:
        policy: The policy.
        data: Images.
        seed: Seed of the random choices.
        kwargs: Further arguments for the augmentations that take them.
    """
    if not policy.sub_policies:
        raise ArgumentError(f"auto_augment: the policy {policy.name} is empty")
    check_suite("auto_augment", policy.augmentations.values(), kwargs)
    # Random numbers are drawn outside the branches, for the longest sub-policy, so that one draw serves all of them.
    longest = max(len(sub_policy) for sub_policy in policy.sub_policies)
    numbers = list(range(len(policy.sub_policies)))
    chosen = fn.random.uniform(values=numbers, dtype=types.INT32, seed=seed_for(seed, 0))
    drawn = fn.random.uniform(range=[0, 1], shape=[longest], seed=seed_for(seed, 1))
    signs = fn.random.uniform(values=[0, 1], dtype=types.INT32, shape=[longest], seed=seed_for(seed, 2))

    def apply(sub_policy: tuple[Entry, ...], images: DataNode) -> DataNode:
        for place, (operation, probability, number) in enumerate(sub_policy):
            magnitude = None if number is None else signed_bin(number, signs[place])
            augmented = operation(
                images, magnitude_bin=magnitude, num_magnitude_bins=policy.num_magnitude_bins, **kwargs
            )
            images = merge(drawn[place] < probability, augmented, images)
        return images

    result: DataNode = choose(chosen, [partial(apply, sub_policy, data) for sub_policy in policy.sub_policies])
    return result
