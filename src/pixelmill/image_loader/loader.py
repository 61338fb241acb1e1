"""Batches for training from any dataset, in one call."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar, Unpack, overload

import numpy as np

from pixelmill.errors import ArgumentError, EngineError
from pixelmill.image_loader.annotations import class_counts
from pixelmill.image_loader.datasets import ImageDataset, Source
from pixelmill.image_loader.image_sample import ImageSample
from pixelmill.image_loader.options import Arguments, LoaderOptions, refuse_unknown, signature
from pixelmill.image_loader.plan import LoaderPlan, make_plan
from pixelmill.image_loader.ranks import find_ranks
from pixelmill.image_loader.settings import Framework, Task
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.loader import Loader
from pixelmill.pipeline.recovery import Errors
from pixelmill.pipeline.sampling import State
from pixelmill.plugin.framework_arrays import tf_dataset
from pixelmill.types import Array

if TYPE_CHECKING:
    from pixelmill.plugin.framework_arrays import JaxArray, NumpyArray, TensorFlowArray, TorchArray

Images = TypeVar("Images")
Target = TypeVar("Target")
Plain = Literal["classification", "multilabel", "segmentation"] | None


class ImageLoader(Generic[Images, Target]):
    """Batches of a dataset for training or validation, one `for` loop per epoch.

    Each batch is a pair: images, and what the task needs. The images are decoded, augmented for training or cropped at
    the center for validation, and normalized:

    | task | second half of a batch |
    |---|---|
    | `classification` | labels, int64, (samples,) |
    | `multilabel` | 1 for each label, float32, (samples, classes) |
    | `detection` | a list with `boxes` (left, top, right, bottom in pixels, float32) and `labels` (int64) per sample |
    | `segmentation` | masks of class numbers, int64, (samples, height, width) |
    | `unlabeled` | the names of the samples |

    If the boxes of a dataset are oriented, samples also have `corners` (float32, (n, 4, 2), in pixels) and `rotated`:
    center x and y, width, height and angle in degrees, counterclockwise (float32, (n, 5)).

    An epoch has each sample once, in a new order if it is shuffled. If there are several processes, each gets its part
    of the epoch, and all take the same number of steps. The order and all random numbers depend on the seed, the epoch
    and the sample alone.

    Args:
        source: A folder, a file, a pattern such as `train-*.tfrecord`, an address such as `s3://bucket/photos`, or a
            list of files; any container that pixelmill reads.
        split: A part of the dataset, such as `"train"`: the samples that belong to it, the folder of this name, or the
            files that begin with it.
        size: Height and width of the images: one number, or two.
        batch_size: Samples of a batch; the last one of an epoch may be smaller.
        train: Whether to shuffle and to augment.
        task: What the batches are for; found by the annotations if omitted.
        augment: Replaces the random crop and flip of training: the name or the YAML file of a recipe, a `Recipe`,
            `"rand_augment"`, `"auto_augment"` or `"trivial_augment"`, or a function from images to images over `fn`.
            The result is resized to `size`.
        framework: The type of the arrays: `"torch"`, `"tf"`, `"jax"` or `"numpy"`.
        dtype: The type of images: `"float32"`, `"float16"`, `"bfloat16"`, or `"uint8"`, which is not normalized.
        layout: The order of the axes of images; `"NCHW"` for torch and `"NHWC"` for the others by default.
        mean: The mean of each channel as a fraction of white; that of ImageNet by default.
        std: The standard deviation of each channel, likewise.
        shuffle: Whether each epoch has a new order; as `train` by default.
        sampler: `"balanced"` to read as many samples of each class.
        drop_last: Whether to leave out the samples that do not fill a batch.
        num_classes: The number of classes for `multilabel`, if the dataset does not list them.
        seed: Seed of the order and of all random numbers.
        rank: The number of this process; found by torch.distributed, torchrun, Lightning or Slurm by default.
        world_size: The number of processes.
        num_threads: Samples that are processed at the same time; by default the processors that this process may use,
            divided among the processes of this machine.
        on_error: What to do with a bad sample: `"raise"`, `"skip"`, `"fill"`, or a callable that returns one of these.
        max_errors: How many bad samples an epoch may have: a number, or a fraction below 1.
        format: The container; recognized by its content by default.
        storage_options: For addresses: options of the store, by the names of fsspec.
        cache_size: For addresses: the most bytes of the cache on this machine.
        shuffle_mode: `"blocks"` to shuffle runs of neighboring records, so that remote files are read in few requests.

    Example:
        >>> loader = ImageLoader("photos", size=224, batch_size=64, train=True)  # doctest: +SKIP
        >>> for images, labels in loader:  # doctest: +SKIP
        ...     loss = cross_entropy(model(images), labels)
    """

    @overload
    def __init__(
        self: ImageLoader[TorchArray, TorchArray],
        source: Source,
        *,
        task: Plain = None,
        framework: Literal["torch"] = "torch",
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[TensorFlowArray, TensorFlowArray],
        source: Source,
        *,
        task: Plain = None,
        framework: Literal["tf"],
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[JaxArray, JaxArray],
        source: Source,
        *,
        task: Plain = None,
        framework: Literal["jax"],
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[NumpyArray, NumpyArray],
        source: Source,
        *,
        task: Plain = None,
        framework: Literal["numpy"],
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[TorchArray, list[dict[str, TorchArray]]],
        source: Source,
        *,
        task: Literal["detection"],
        framework: Literal["torch"] = "torch",
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[TensorFlowArray, list[dict[str, TensorFlowArray]]],
        source: Source,
        *,
        task: Literal["detection"],
        framework: Literal["tf"],
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[JaxArray, list[dict[str, JaxArray]]],
        source: Source,
        *,
        task: Literal["detection"],
        framework: Literal["jax"],
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[NumpyArray, list[dict[str, NumpyArray]]],
        source: Source,
        *,
        task: Literal["detection"],
        framework: Literal["numpy"],
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[TorchArray, list[str]],
        source: Source,
        *,
        task: Literal["unlabeled"],
        framework: Literal["torch"] = "torch",
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[TensorFlowArray, list[str]],
        source: Source,
        *,
        task: Literal["unlabeled"],
        framework: Literal["tf"],
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[JaxArray, list[str]],
        source: Source,
        *,
        task: Literal["unlabeled"],
        framework: Literal["jax"],
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: ImageLoader[NumpyArray, list[str]],
        source: Source,
        *,
        task: Literal["unlabeled"],
        framework: Literal["numpy"],
        **options: Unpack[LoaderOptions],
    ) -> None: ...
    def __init__(
        self, source: Source, *, task: Task | None = None, framework: Framework = "torch", **options: Any
    ) -> None:
        refuse_unknown(options)
        given = Arguments(source=source, task=task, framework=framework, **options)
        self._plan: LoaderPlan = make_plan(given)
        self._loader: Loader | None = None

    def __iter__(self) -> Iterator[tuple[Images, Target]]:
        """Start an epoch, or continue it after `load_state_dict`."""
        # Not a generator, which would end with the first error: the next batch after a bad sample can be taken.
        return map(self._plan.converted, iter(self._ready()))

    def __len__(self) -> int:
        """Return the number of batches of the current loop, or of the next one if none is running."""
        return len(self._ready())

    def _ready(self) -> Loader:
        """Return the loader of the pipeline; make it on first use, when the launcher has told the ranks."""
        ranks = find_ranks(self._plan.given.rank, self._plan.given.world_size)
        if self._loader is None:
            self._plan = self._plan.for_ranks(ranks)
            self._loader = self._plan.loader()
            if self._loader.steps_per_epoch == 0:
                raise ArgumentError(
                    f"drop_last: {len(self._plan.container)} samples on {ranks.world_size} processes do not fill a "
                    f"batch of {self._plan.batches.batch_size}; pass a smaller batch_size"
                )
        elif (ranks.rank, ranks.world_size) != (self._plan.ranks.rank, self._plan.ranks.world_size):
            raise EngineError(
                f"ImageLoader: it was first used as {self._plan.ranks}, and this is now {ranks}; "
                "create it after torch.distributed is initialized, or pass rank= and world_size="
            )
        return self._loader

    # About the dataset

    @property
    def dataset(self) -> ImageDataset[ImageSample]:
        """The dataset, sample by sample."""
        container = self._plan.container
        return ImageDataset(container, numbers=range(len(container)), function=None)

    @property
    def task(self) -> Task:
        """What the batches are for."""
        return self._plan.image.task

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes by label; empty if the dataset does not list them."""
        return self._plan.container.classes

    @property
    def num_classes(self) -> int:
        """The number of classes: as given, as listed by the dataset, or the largest label and one."""
        return self._plan.num_classes or len(self.class_counts)

    @cached_property
    def class_counts(self) -> Array:
        """How many samples, or boxes for detection, each class has, int64. The first use may read all labels."""
        return class_counts(self._plan.container, self.task)

    @property
    def class_weights(self) -> Any:
        """Weights for a loss, inverse to `class_counts` and with a mean of 1 over samples; 0 for absent classes."""
        counts = self.class_counts
        present = counts > 0
        weights = np.zeros(len(counts), np.float32)
        weights[present] = counts.sum() / (present.sum() * counts[present])
        return self._plan.convert(weights)

    def tf_dataset(self) -> Any:
        """Return the batches as a `tf.data.Dataset` with one epoch per pass, for `model.fit` of Keras.

        Keep the loader as long as the dataset. Raises ArgumentError for other frameworks, and for tasks whose batches
        are not pairs of tensors.
        """
        if self._plan.given.framework != "tf":
            raise ArgumentError(f"tf_dataset: pass framework='tf' to the loader, got {self._plan.given.framework!r}")
        return tf_dataset(self, *self._plan.shapes())

    # About the position

    @property
    def steps_per_epoch(self) -> int:
        """The number of batches of a whole epoch."""
        steps = self._ready().steps_per_epoch
        assert steps is not None  # its pipeline has a reader
        return steps

    def set_epoch(self, epoch: int) -> None:
        """Make the next loop yield the epoch of this number, counted from 0."""
        if type(epoch) is not int or epoch < 0:
            raise ArgumentError(f"set_epoch: expected the number of an epoch from 0 on, got {epoch!r}")
        self._ready().set_epoch(epoch)

    def state_dict(self) -> State:
        """Return the state after the last batch, as JSON data of about 1 KB."""
        return self._ready().state_dict()

    def load_state_dict(self, state: State) -> None:
        """Continue after the batch that `state_dict` was called after; the next loop yields the rest of its epoch.

        Batch size, number of threads and number of processes may differ; every process loads the same state.
        """
        self._ready().load_state_dict(state)

    # About the pipeline

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline that makes the batches."""
        return self._ready().pipeline

    def pipeline_source(self) -> str:
        """Return a program with a pipeline of its own that makes the same batches, to grow from."""
        self._ready()
        return self._plan.source()

    @property
    def errors(self) -> Errors:
        """What happened to samples so far."""
        return self._ready().errors

    @property
    def valid(self) -> Array:
        """Which samples of the last batch are real; the others were filled in by `on_error="fill"`."""
        return self._ready().pipeline.valid

    def close(self) -> None:
        """Stop the threads and wait for them. The end of a `with` block does the same."""
        if self._loader is not None:
            self._loader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ImageLoader({self._plan.described()})"


ImageLoader.__signature__ = signature()  # type: ignore[attr-defined]
