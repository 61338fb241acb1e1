"""Augment whole datasets offline: variants by a recipe, with labels, boxes and masks."""

from pixelmill.augmentation.job import AugmentJob
from pixelmill.augmentation.run import augment

__all__ = ["AugmentJob", "augment"]
