"""From the arguments of an `ImageLoader` to its pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pixelmill import storage
from pixelmill.errors import ArgumentError
from pixelmill.formats import registry
from pixelmill.formats.dataset import Dataset
from pixelmill.image_loader.annotations import Found, check_task, class_counts, look_at
from pixelmill.image_loader.datasets import expanded
from pixelmill.image_loader.options import Arguments
from pixelmill.image_loader.presets import Presets, check_labels, loaded_augmentation
from pixelmill.image_loader.program import Program
from pixelmill.image_loader.ranks import Ranks, processes_per_machine, usable_processors
from pixelmill.image_loader.settings import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    BatchSettings,
    ImageSettings,
    ReaderSettings,
    channel_values,
    height_and_width,
)
from pixelmill.image_loader.source import LoaderSource
from pixelmill.image_loader.targets import Targets
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.loader import Batch, Loader
from pixelmill.plugin.framework_arrays import Convert, converter, to_bfloat16


@dataclass(frozen=True)
class LoaderPlan:
    """Everything about a loader but its position.

    Attributes:
        given: The arguments.
        paths: The dataset: a folder, a pattern, or files.
        container: The dataset as it was opened.
        found: What its annotations say.
        image: What is done to images.
        presets: The statements of the pipeline.
        convert: Makes an array of the framework.
        num_classes: The number of classes, as given or listed; 0 if it is not known.
        ranks: The processes that share an epoch.
    """

    given: Arguments
    paths: tuple[str, ...]
    container: Dataset
    found: Found
    image: ImageSettings
    presets: Presets
    convert: Convert
    num_classes: int
    ranks: Ranks = field(default_factory=Ranks)

    def for_ranks(self, ranks: Ranks) -> LoaderPlan:
        """Return the plan of one of several processes."""
        return replace(self, ranks=ranks)

    @cached_property
    def batches(self) -> BatchSettings:
        """How batches are made."""
        own = self.given
        shared = max(usable_processors() // processes_per_machine(self.ranks), 1)
        return BatchSettings(
            batch_size=own.batch_size,
            num_threads=own.num_threads or shared,
            seed=own.seed,
            on_error=own.on_error,
            max_errors=own.max_errors,
            drop_last=own.drop_last,
        )

    @cached_property
    def program(self) -> Program:
        """The function that defines the pipeline."""
        own = self.given
        options = {"storage_options": own.storage_options, "cache_size": own.cache_size}
        if own.shuffle_mode != "global":
            options["shuffle_mode"] = own.shuffle_mode  # type: ignore[assignment]
        return self.presets.program(
            ReaderSettings(
                paths=self.paths,
                format=own.format,
                split=own.split,
                shuffle=own.train if own.shuffle is None else own.shuffle or own.sampler is not None,
                sampler=own.sampler,
                rank=self.ranks.rank,
                world_size=self.ranks.world_size,
                options={name: value for name, value in options.items() if value is not None},
            )
        )

    @cached_property
    def targets(self) -> Targets:
        """What makes the second half of batches."""
        return Targets(self.image.task, self.num_classes)

    def loader(self) -> Loader:
        """Return a new pipeline, and what iterates over it."""
        own = self.batches
        pipe = Pipeline(
            own.batch_size, own.num_threads, None, own.seed, on_error=own.on_error, max_errors=own.max_errors
        )
        with pipe:
            pipe.set_outputs(*self.program.run())
        return Loader(pipe, self.program.outputs, drop_last=own.drop_last)

    @cached_property
    def _rounded(self) -> Any:
        return to_bfloat16(self.given.framework) if self.image.dtype == "bfloat16" else None

    def converted(self, batch: Batch) -> tuple[Any, Any]:
        """Return a batch of the pipeline as a pair of what the framework takes."""
        images = self.convert(batch["images"])
        if self._rounded is not None:
            images = self._rounded(images)
        made = self.targets.arrays(batch)
        if self.image.task == "detection":
            return images, [{name: self.convert(array) for name, array in target.items()} for target in made]
        return images, made if self.image.task == "unlabeled" else self.convert(made)

    def shapes(self) -> list[tuple[tuple[int | None, ...], str]]:
        """Return shape and type of the two halves of a batch. Raises ArgumentError if the second one is no array."""
        height, width = self.image.height, self.image.width
        sides = (3, height, width) if self.image.layout == "NCHW" else (height, width, 3)
        targets: dict[str, tuple[tuple[int | None, ...], str]] = {
            "classification": ((None,), "int64"),
            "multilabel": ((None, self.num_classes), "float32"),
            "segmentation": ((None, height, width), "int64"),
        }
        if self.image.task not in targets:
            raise ArgumentError(f"tf_dataset: batches for {self.image.task} are not pairs of tensors; use a for loop")
        return [((None, *sides), self.image.dtype), targets[self.image.task]]

    def source(self) -> str:
        """Return the text of a program that makes the same batches."""
        is_rounded = self.image.dtype == "bfloat16"
        return LoaderSource(self.program, self.batches, self.targets, self.given.framework, is_rounded).text()

    def described(self) -> str:
        """Return the facts that a user wants to see first."""
        own, image = self.given, self.image
        where = "" if own.task is not None else f", found by its {self.found}"
        classes = f" in {len(self.container.classes):,} classes" if self.container.classes else ""
        sides = (3, image.height, image.width) if image.layout == "NCHW" else (image.height, image.width, 3)
        shape = " x ".join(map(str, (own.batch_size, *sides)))
        return (
            f"{self.container.source!r}: {len(self.container):,} samples{classes}, "
            f"{image.task}{where}, for {'training' if image.train else 'validation'}; "
            f"batches of {shape}, {image.dtype}, {own.framework}"
            + (f"; {self.ranks}" if self.ranks.world_size > 1 else "")
        )


def make_plan(given: Arguments) -> LoaderPlan:
    """Open the dataset, and check the arguments against it."""
    convert = converter(given.framework)
    if given.dtype == "bfloat16":
        to_bfloat16(given.framework)
    augment, origin = loaded_augmentation(given.augment)
    with storage.using(given.storage_options):
        source = expanded(given.source)
        container = registry.open_dataset(source, given.format, split=given.split)
        found = look_at(container)
        if given.split is None and len(found.splits) > 1:
            names = " or ".join(f"split={name!r}" for name in found.splits)
            raise ArgumentError(f"{container.source} holds the splits {', '.join(found.splits)}; pass {names}")
    task = given.task or found.task
    check_task(task, found, container.source)
    if given.sampler == "balanced" and task != "classification":
        raise ArgumentError(f"sampler: 'balanced' needs one class for each sample, which {task} does not have")
    check_labels(augment, task)
    height, width = height_and_width(given.size)
    image = ImageSettings(
        height=height,
        width=width,
        train=given.train,
        task=task,
        augment=augment,
        dtype=given.dtype,
        layout=given.layout or ("NCHW" if given.framework == "torch" else "NHWC"),
        mean=channel_values("mean", given.mean or IMAGENET_MEAN),
        std=channel_values("std", given.std or IMAGENET_STD),
    )
    classes = given.num_classes or len(container.classes)
    if task == "multilabel" and not classes:
        classes = len(class_counts(container, task))
    presets = Presets(
        image, given.seed, origin, found.box_labels, found.array_images, found.array_masks, found.oriented
    )
    paths = (source,) if isinstance(source, str) else tuple(source)
    return LoaderPlan(given, paths, container, found, image, presets, convert, classes)
