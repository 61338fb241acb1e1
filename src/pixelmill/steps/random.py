"""Draws: everything random follows from the key of an operator and the sample."""

from __future__ import annotations

from typing import ClassVar, Literal

from pixelmill.steps.step import Input, RandomKey, Step, declared, family


@family
class RandomStep(Step):
    """A step that draws random numbers."""

    key: RandomKey


@declared
class Uniform(RandomStep):
    """Draw from a range, or from a list of values."""

    range: Input
    choices: Input | None = None
    shape: Input | None = None
    wide: bool


@declared
class Normal(RandomStep):
    """Draw from a normal distribution."""

    mean: Input
    stddev: Input
    shape: Input | None = None


@declared
class CoinFlip(RandomStep):
    """Draw 0 or 1."""

    probability: Input
    shape: Input | None = None


@declared
class Choice(RandomStep):
    """Draw from a list along its first axis, or a number below a count."""

    choices: Input
    weights: Input | None = None
    shape: Input | None = None


@declared
class Beta(RandomStep):
    """Draw from a beta distribution."""

    alpha: Input
    beta: Input
    shape: Input | None = None
    wide: bool


@declared
class RandomWindow(RandomStep):
    """Draw the window of a random resized crop: its start, and its extent."""

    output_counts: ClassVar[range] = range(2, 3)

    shape: Input
    area: tuple[float, ...]
    ratio: tuple[float, ...]
    attempts: int
    layout: str


@declared
class RandomBoxCrop(RandomStep):
    """Draw a window that keeps enough of the boxes.

    Outputs: start, extent, boxes; labels if they are given, and the indices of the remaining boxes if requested.
    """

    output_counts: ClassVar[range] = range(3, 6)

    boxes: Input
    labels: Input | None = None
    crop_shape: Input | None = None
    input_shape: Input | None = None
    layout: str
    shape_layout: str
    thresholds: tuple[float, ...]
    aspect_ratio: tuple[float, ...]
    scaling: tuple[float, ...]
    prune_threshold: float | None
    attempts: int
    total_attempts: int
    overlap: bool
    every_box: bool
    allow_no_crop: bool
    output_indices: bool

    @property
    def outputs(self) -> int:
        """Three, and one each for labels and indices."""
        return 3 + (self.labels is not None) + self.output_indices


@declared
class RegionCrop(RandomStep):
    """Draw a window that covers as much of a region as it can."""

    crop_shape: Input
    roi_start: Input
    roi_end: Input | None = None
    roi_shape: Input | None = None
    in_shape: Input | None = None


@declared
class RandomObject(RandomStep):
    """Draw an object of a mask, and return its box."""

    output_counts: ClassVar[range] = range(1, 4)

    mask: Input
    foreground_prob: Input
    background: Input | None = None
    classes: Input | None = None
    class_weights: Input | None = None
    threshold: Input | None = None
    format: Literal["anchor_shape", "start_end", "box"]
    k_largest: int
    ignore_class: bool
    output_class: bool

    @property
    def outputs(self) -> int:
        """One for a box, two for its corners or its anchor and shape; one more for the class if requested."""
        return (1 if self.format == "box" else 2) + self.output_class


@declared
class RandomPixel(RandomStep):
    """Draw a pixel of a mask."""

    mask: Input
    foreground: Input
    wanted: Input | None = None
    threshold: Input | None = None


@declared
class GaussianNoise(RandomStep):
    """Add normally distributed noise."""

    data: Input
    mean: Input
    stddev: Input


@declared
class SaltAndPepper(RandomStep):
    """Set pixels to white or black; `channel` is the channel axis: -1 for none, -2 for the last."""

    data: Input
    prob: Input
    salt_vs_pepper: Input
    salt_val: Input | None = None
    pepper_val: Input | None = None
    channel: int


@declared
class ShotNoise(RandomStep):
    """Add shot noise: levels are proportional to a random number of photons."""

    data: Input
    factor: Input
