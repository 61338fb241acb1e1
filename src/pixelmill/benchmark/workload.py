"""The work that every contestant does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

SIZE = 224  # height and width of the resulting images
SHORTER = 256  # shorter side before the center crop of validation

# Mean and standard deviation of the colors of ImageNet's photographs, on the scale from 0 to 255.
MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]

# Random windows as all libraries draw them: fraction of the area (uniform), aspect ratio (uniform in the logarithm).
AREA = (0.08, 1.0)
RATIO = (3 / 4, 4 / 3)
ATTEMPTS = 10

# Operations that RandAugment chooses for an image, and their magnitude (of 30).
RAND_AUGMENT = {"n": 2, "m": 9}

# A batch of any library: tensors, or lists of samples that differ in shape.
Batch = Any
Kind = Literal["train", "val", "resize", "read", "rand_augment", "segmentation"]
RANDOM: tuple[Kind, ...] = ("train", "rand_augment", "segmentation")
Container = Literal["files", "tfrecord", "recordio", "webdataset", "npy", "pack"]
# JPEG files; images of other or mixed kinds; npy files of pixels; the elements of arrays alone.
Content = Literal["jpeg", "image", "array", "tensor"]

PACKAGE = "pixelmill.benchmark.peers"


@dataclass(frozen=True)
class Source:
    """Where images come from.

    Attributes:
        files: The files, or the record files.
        container: Their container.
        content: What they are.
        indexes: DALI's index of each record file.
        feature: The feature of a record that holds the image.
        extensions: The extensions of images in archives, separated by semicolons.
        shape: Of the first array: height and width, and channels where it has that axis. All tensors have it.
        dtype: Of arrays.
        repeats: How often the files are repeated to make an epoch.
    """

    files: list[str]
    container: Container = "files"
    content: Content = "jpeg"
    indexes: list[str] = field(default_factory=list)
    feature: str = "image/encoded"
    extensions: str = "jpg;jpeg"
    shape: list[int] = field(default_factory=list)
    dtype: str = "uint8"
    repeats: int = 1

    @property
    def epoch(self) -> list[str]:
        """The files, repeated so that an epoch is long."""
        return self.files * self.repeats

    @property
    def is_array(self) -> bool:
        """Whether pixels come as they are."""
        return self.content in ("array", "tensor")

    @property
    def channels(self) -> int:
        """Number of channels of the images."""
        if not self.is_array:
            return 3
        return self.shape[2] if len(self.shape) == 3 else 1


@dataclass(frozen=True)
class PeerTask:
    """The work of one process, which gets it as JSON.

    Attributes:
        peer: A module of `package`.
        variant: One of its ways to do the work.
        kind: Which program is run.
        source: The input.
        batch: Images in a batch.
        threads: Threads or processes that it has, and processors.
        seed: Seed of order and draws.
        size: Height and width of the result.
        package: The package of the peer's module.
        device: Where pixels are processed.
        engine: The engine of pixelmill.
        watch: Whether to record the time of each step.
    """

    peer: str
    variant: str
    kind: Kind
    source: Source
    batch: int
    threads: int
    seed: int
    size: int = SIZE
    package: str = PACKAGE
    device: Literal["cpu", "gpu"] = "cpu"
    engine: Literal["native", "dali"] = "native"
    watch: bool = False

    @property
    def random(self) -> bool:
        """Whether the order of files and what is done to them are random."""
        return self.kind in RANDOM

    @property
    def shorter(self) -> int:
        """The shorter side before the center crop of validation."""
        return round(self.size * SHORTER / SIZE)

    @property
    def mean(self) -> list[float]:
        """What is subtracted from each channel."""
        return MEAN if self.source.channels == 3 else [sum(MEAN) / 3]

    @property
    def std(self) -> list[float]:
        """What each channel is divided by."""
        return STD if self.source.channels == 3 else [sum(STD) / 3]
