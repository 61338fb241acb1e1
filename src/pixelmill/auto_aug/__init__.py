"""Automatic augmentation, drawn for each sample: AutoAugment, RandAugment and TrivialAugment.

    from pixelmill.auto_aug import rand_augment

    images = rand_augment.rand_augment(images, n=2, m=9)

Only the augmentations drawn for a sample run on it, with or without `enable_conditionals`.
"""

from pixelmill.auto_aug import augmentations, auto_augment, core, rand_augment, trivial_augment

__all__ = ["augmentations", "auto_augment", "core", "rand_augment", "trivial_augment"]
