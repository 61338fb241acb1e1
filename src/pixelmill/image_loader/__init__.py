"""The simple way in: training batches from whatever dataset there is, and datasets sample by sample.

from pixelmill import ImageLoader

for images, labels in ImageLoader("photos", size=224, batch_size=64, train=True):
    ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from pixelmill.image_loader.datasets import ImageDataset, open_dataset
    from pixelmill.image_loader.image_sample import ImageSample
    from pixelmill.image_loader.loader import ImageLoader
    from pixelmill.image_loader.recipe_boxes import boxes_after
    from pixelmill.image_loader.targets import detection_targets, multi_hot
    from pixelmill.image_loader.transform import ImageTransform

__all__ = [
    "ImageDataset",
    "ImageLoader",
    "ImageSample",
    "ImageTransform",
    "boxes_after",
    "detection_targets",
    "multi_hot",
    "open_dataset",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "ImageDataset": "datasets",
        "ImageLoader": "loader",
        "ImageSample": "image_sample",
        "ImageTransform": "transform",
        "boxes_after": "recipe_boxes",
        "detection_targets": "targets",
        "multi_hot": "targets",
        "open_dataset": "datasets",
    },
)
