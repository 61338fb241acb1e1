"""The workloads, and the targets of pixelmill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pixelmill.benchmark.workload import RANDOM, Container, Kind

ARRAY_SIZE = 384  # height and width of images and masks for segmentation

# Segmentation: each augmentation is applied with this probability, with a strength drawn from these ranges.
CHANGED = 0.15
NOISE, SIGMA, BRIGHTNESS, CONTRAST = (0.0, 0.33), (0.5, 1.5), (0.7, 1.3), (0.65, 1.5)

FileKind = Literal["small", "camera", "arrays"]


@dataclass(frozen=True)
class Workload:
    """One comparison.

    Attributes:
        name: Its name on the command line.
        title: What is done to an image.
        kind: The program that every contestant runs.
        file_kind: The kind of files it runs on.
        batch: Images in a batch.
        seconds: Time of a contestant in a round.
        container: The container that images are read from.
    """

    name: str
    title: str
    kind: Kind
    file_kind: FileKind
    batch: int
    seconds: float
    container: Container = "files"

    @property
    def random(self) -> bool:
        """Whether the order of files and the augmentations are random."""
        return self.kind in RANDOM


_TRAIN = "random window resized to 224x224, random mirror, normalized float32 CHW"
_VAL = "shorter side to 256, center crop 224x224, normalized float32 CHW"
_RESIZE = "whole image resized to 224x224, uint8 HWC"
_RAND_AUGMENT = "random window resized to 224x224, RandAugment (n=2, m=9), random mirror, normalized float32 CHW"
_SEGMENTATION = (
    "image (linear) and mask (nearest) resized to 384x384, both flipped at random; noise, blur, brightness and "
    "contrast with a probability of 0.15 each, float32 CHW"
)

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("train", _TRAIN, "train", "small", batch=64, seconds=4),
        Workload("tfrecord_train", f"{_TRAIN}, from TFRecords", "train", "small", 64, 4, "tfrecord"),
        Workload("val", _VAL, "val", "small", batch=64, seconds=4),
        Workload("rand_augment", _RAND_AUGMENT, "rand_augment", "small", batch=64, seconds=4),
        Workload("segmentation", _SEGMENTATION, "segmentation", "arrays", batch=8, seconds=4),
        Workload("camera_train", _TRAIN, "train", "camera", batch=16, seconds=8),
        Workload("camera_resize", _RESIZE, "resize", "camera", batch=16, seconds=8),
    )
}

# Targets: at least (speed) or at most (memory, time); speed counts by the median of the rounds' ratios.
# The first batch has a target where a batch is small against the start of a process: not with camera files, of
# which two threads need longer than that to decode sixteen.
TARGETS: dict[str, dict[str, float]] = {
    "train": {"speed_vs_dali": 2.0, "memory_vs_dali": 0.5, "first_batch_seconds": 0.5},
    "tfrecord_train": {"speed_vs_dali": 2.0},
    "val": {"speed_vs_dali": 2.0, "memory_vs_dali": 0.5, "first_batch_seconds": 0.5},
    "rand_augment": {"speed_vs_dali": 2.0},
    "segmentation": {"speed_vs_dali": 3.0, "speed_vs_opencv": 1.6},
    "camera_train": {"speed_vs_dali": 1.9, "speed_vs_tfdata": 1.2, "memory_vs_dali": 0.5},
    "camera_resize": {"speed_vs_dali": 2.4, "memory_vs_dali": 0.5},
}
# Instructions after decoding, as a fraction of those of decoding (benchmarks/stages.py).
AFTER_DECODING = 0.2
