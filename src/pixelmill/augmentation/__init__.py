"""Augment whole datasets offline: variants by a recipe, with labels, boxes and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from pixelmill.augmentation.job import AugmentJob
    from pixelmill.augmentation.run import augment

__all__ = ["AugmentJob", "augment"]
__getattr__ = lazy_exports(__name__, {"AugmentJob": "job", "augment": "run"})
