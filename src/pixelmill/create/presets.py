"""Options that belong together, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Sizes of the records of ResNet-50 in MLPerf Storage: 1251 samples of 114660 bytes in each file.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "mlperf-resnet50": {
        "content": "photo",
        "image_format": "jpg",
        "width": 470,
        "height": 400,
        "bytes": 114660,
        "classes": 1000,
        "container": "tfrecord",
        "img_per_file": 1251,
    },
    "imagenet": {
        "content": "photo",
        "image_format": "jpg",
        "width": 470,
        "height": 400,
        "size_distribution": "sides:0.2",
        "quality": (93, 97),
        "full_colour": 0.8,
        "classes": 1000,
    },
    "camera": {"content": "photo", "image_format": "jpg", "width": 4000, "height": 3000, "quality": (90, 95)},
    "shapes": {"content": "shapes", "image_format": "png", "width": 128, "height": 128, "classes": 10},
}
