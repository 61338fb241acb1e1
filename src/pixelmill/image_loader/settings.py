"""Everything that the batches of an `ImageLoader` depend on, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Literal, get_args

from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode
from pixelmill.pipeline.recovery import OnError
from pixelmill.recipe import Recipe

Task = Literal["classification", "multilabel", "detection", "segmentation", "unlabeled"]
Framework = Literal["torch", "tf", "jax", "numpy"]
DType = Literal["float32", "float16", "bfloat16", "uint8"]
Layout = Literal["NCHW", "NHWC"]
Sampler = Literal["balanced"]
AutoAugment = Literal["auto_augment", "rand_augment", "trivial_augment"]
Function = Callable[[DataNode], DataNode]

TASKS: tuple[Task, ...] = get_args(Task)
FRAMEWORKS: tuple[Framework, ...] = get_args(Framework)
AUTO_AUGMENT: tuple[AutoAugment, ...] = get_args(AutoAugment)

# The usual statistics of ImageNet, as fractions of white.
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True, kw_only=True)
class ImageSettings:
    """What is done to an image.

    Attributes:
        height: Of the result.
        width: Of the result.
        train: Whether images are augmented.
        task: What the images are for: decides which annotations are read and follow the image.
        augment: Replaces the random crop and flip; None for these.
        dtype: The type of the result; bfloat16 is made of float32 by the framework.
        layout: The order of its axes.
        mean: Subtracted from each channel, as a fraction of white.
        std: Divides each channel, as a fraction of white.
    """

    height: int
    width: int
    train: bool
    task: Task
    augment: Recipe | AutoAugment | Function | None
    dtype: DType
    layout: Layout
    mean: tuple[float, ...] = IMAGENET_MEAN
    std: tuple[float, ...] = IMAGENET_STD

    def __post_init__(self) -> None:
        if self.augment is not None and not self.train:
            raise ArgumentError("augment: images are augmented with train=True only; pass it, or omit augment")
        if self.task in ("detection", "segmentation") and not isinstance(self.augment, (Recipe, NoneType)):
            what = "boxes" if self.task == "detection" else "masks"
            raise ArgumentError(
                f"augment: for {self.task} it must be a recipe, by name or file, so that {what} follow the image; "
                f"got {getattr(self.augment, '__name__', self.augment)}"
            )


@dataclass(frozen=True, kw_only=True)
class ReaderSettings:
    """Which samples are read, and in which order.

    Attributes:
        paths: The dataset: a folder, a pattern, or files.
        format: The container; recognized by its content if None.
        split: The subset; all of the dataset if None.
        shuffle: Whether each epoch has another order.
        sampler: `balanced` to read all classes equally often.
        rank: This process.
        world_size: The number of processes that share an epoch.
        options: Further arguments of `readers.dataset`.
    """

    paths: tuple[str, ...]
    format: str | None
    split: str | None
    shuffle: bool
    sampler: Sampler | None
    rank: int
    world_size: int
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BatchSettings:
    """How batches are made.

    Attributes:
        batch_size: Samples of a batch.
        num_threads: Samples that are processed at the same time.
        seed: Seed of the order and of all random numbers.
        on_error: What to do with a bad sample.
        max_errors: How many bad samples an epoch may have.
        drop_last: Whether to leave out the samples that do not fill a batch.
    """

    batch_size: int
    num_threads: int
    seed: int
    on_error: OnError
    max_errors: int | float | None
    drop_last: bool


def height_and_width(size: int | Sequence[int]) -> tuple[int, int]:
    """Return the two sides of a size."""
    sides = (size, size) if isinstance(size, int) else tuple(size)
    if len(sides) != 2 or not all(isinstance(side, int) and 1 <= side <= 65535 for side in sides) or size is True:
        raise ArgumentError(f"size must be a number of pixels, or height and width, got {size!r}")
    return sides[0], sides[1]


def one_of(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise ArgumentError for a value that is not allowed."""
    if value not in choices:
        raise ArgumentError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def channel_values(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """Return one number for each of three channels, as fractions of white."""
    found = tuple(float(value) for value in values)
    if len(found) != 3 or not all(-10 < value < 10 for value in found) or (name == "std" and min(found) <= 0):
        raise ArgumentError(f"{name} must be three fractions of white such as (0.485, 0.456, 0.406), got {values!r}")
    return found
